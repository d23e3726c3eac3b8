// One experiment on the page: its painted document, what the reader wants of it, and its session.

import { same } from "./state.js";
import { say } from "./words.js";

/**
 * @typedef {import("./painted.js").PaintedSection} Painted
 * @typedef {import("./protocol.js").State} State
 * @typedef {import("./state.js").Option} Option
 * @typedef {import("./words.js").Strings} Strings
 *
 * @typedef {{digest: string, touched: import("./protocol.js").Property[], state: State, options: Option[]}} Stored
 *
 * @typedef {object} Surroundings
 * @property {Strings} strings
 * @property {string} language
 * @property {() => Promise<Painted>} paint
 * @property {import("./client.js").Client} client
 * @property {() => void} moved  the reader has changed a value
 */

const PATIENCE = 400; // milliseconds of computing after which the page says that something is not there yet

export class Experiment {
  /** @type {Painted | null} */
  #painted = null;
  /** @type {import("./client.js").Session | null} */
  #session = null;
  /** @type {Promise<unknown>} */
  #last = Promise.resolve(); // messages are taken one after the other, though replacing takes a while
  /** @type {"loading" | "live" | "failed"} */
  #runtime = "loading";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #clock;
  /** @type {Map<string, ReturnType<typeof setTimeout>>} */
  #late = new Map();
  #closed = false;
  #unpaintable = false;
  /** @type {string | null} what was pressed before there was a session */
  #press = null;
  #exporting = false;

  /** @param {HTMLElement} section @param {Surroundings} surroundings */
  constructor(section, surroundings) {
    this.section = section;
    this.name = section.dataset.experiment ?? "";
    /** @type {Stored} */
    this.stored = JSON.parse(section.querySelector("script[data-stored]")?.textContent ?? "{}");
    this.surroundings = surroundings;
    /** @type {State} what the reader wants to see */
    this.state = { ...this.stored.state };
    /** @type {State} what figures and words show */
    this.shown = { ...this.stored.state };
    /** @type {string[]} what was wrong with the link: said until the reader changes a value */
    this.faults = [];
    /** @type {string[]} what waits for Python, or went wrong in it */
    this.waits = [];
    /** @type {import("./toolbar.js").Toolbar | null} */
    this.tools = null;
  }

  /** Take a link's values: before anything is painted, so that nobody sees others as his. @param {State} state */
  ask(state) {
    this.state = { ...state };
    this.#mark();
    if (!same(this.state, this.shown)) {
      this.paint().then(
        (painted) => painted.apply(this.state),
        (fault) => console.error(fault), // the mark stays
      );
    }
  }

  async paint() {
    if (this.#painted) return this.#painted;
    const painted = await this.surroundings.paint();
    if (this.#painted || this.#closed) return this.#painted ?? painted;
    this.#painted = painted;
    painted.apply(this.state);
    painted.onOption((name, value) => this.#moved(name, value));
    painted.onPress((action) => this.#pressed(action));
    this.#mark(); // it knows the words for values
    return painted;
  }

  /** Paint, and open a session as soon as Python is up: what it sends waits for the painting. */
  async open() {
    if (this.#session || this.#closed) return;
    const painting = this.paint();
    this.#last = painting.catch(() => {});
    const { client, language } = this.surroundings;
    const { digest, touched } = this.stored;
    const what = { experiment: this.name, language, state: this.state, digest, touched };
    this.#session = client.open(what, {
      opened: (message) => this.#queue(() => this.#opened(message)),
      patch: (patch) => this.#queue(() => this.#painted?.patch(patch)),
      parts: (parts) => this.#queue(() => this.#write(parts)),
      state: (message, newest) => this.#queue(() => this.#say(message, newest)),
      exported: (files) => this.#queue(() => this.#exported(files)),
      error: (sentence) => this.#queue(() => this.#failed(sentence)),
    });
    if (this.#exporting) this.#session.export();
    if (this.#press !== null) this.#session.press(this.#press);
    this.#press = null;
    try {
      await painting;
    } catch (fault) {
      this.#unpaintable = true; // what Python has sent already is for nobody
      this.#session?.close();
      throw fault;
    }
  }

  /** The page is left: what still comes is not for it. */
  close() {
    this.#closed = true;
    this.#session?.close();
    this.#session = null;
    this.#painted = null;
    this.tools?.close();
    clearTimeout(this.#clock);
    this.#neverMind();
  }

  /** @param {"loading" | "live" | "failed"} runtime */
  runtime(runtime) {
    this.#runtime = runtime;
    if (runtime === "failed" && this.#exporting) this.tools?.failed();
    if (runtime !== "live") this.#neverMind();
    if (runtime !== "live" && this.section.dataset.state === "computing") this.#enter("stopped");
    this.#mark();
  }

  /** The figures cannot be drawn (a script of theirs did not come), so nothing will be computed either. */
  unpainted() {
    this.#enter("error");
    this.#wait([say(this.surroundings.strings, "unpainted")]);
    this.#mark();
  }

  /** Say what a link got wrong. @param {string[]} sentences */
  note(sentences) {
    this.faults = sentences;
    this.#note();
  }

  /** @param {string[]} sentences */
  #wait(sentences) {
    if (this.waits.join() === sentences.join()) return;
    this.waits = sentences;
    this.#note();
  }

  /** Sentences of the page itself, beside Python's own. */
  #note() {
    const sentences = [...this.faults, ...this.waits];
    let note = this.section.querySelector("[data-note]");
    if (!note && sentences.length === 0) return;
    if (!note) {
      note = document.createElement("div");
      note.setAttribute("data-note", "");
      this.section.querySelector('[data-part="notice"]')?.before(note);
    }
    note.replaceChildren(
      ...sentences.map((sentence) => {
        const line = document.createElement("p");
        line.textContent = sentence;
        return line;
      }),
    );
  }

  /** @param {string} name @param {string} value */
  #moved(name, value) {
    if (this.state[name] === value) return;
    this.state = { ...this.state, [name]: value };
    this.#asked();
  }

  /** Show another state, as if the reader had set each value of it. @param {State} state */
  take(state) {
    if (same(state, this.state)) return;
    this.state = { ...state };
    this.#painted?.apply(this.state);
    this.#asked();
  }

  /** Where the page began: also what a button made is gone. */
  reset() {
    this.#press = null;
    this.take(this.stored.state);
    this.#wait([]);
    this.note([]);
    this.#session?.press("reset");
  }

  /**
   * Ask for the numbers as files; the toolbar is given them.
   * @returns {boolean} whether they can come
   */
  export() {
    if (this.#runtime === "failed" || this.#unpaintable) return false;
    this.#exporting = true;
    this.#session?.export();
    return true;
  }

  /** @param {import("./protocol.js").NumbersFile[]} files */
  #exported(files) {
    this.#exporting = false;
    this.tools?.exported(files);
  }

  /** Something else is wanted than before. */
  #asked() {
    this.waits = [];
    this.note([]);
    if (this.#session?.settled) this.#enter("computing");
    this.#session?.set(this.state);
    this.#mark();
    this.surroundings.moved();
  }

  /** @param {string} action */
  #pressed(action) {
    if (this.#runtime !== "live") {
      const key = this.#runtime === "failed" ? "status_failed" : "waiting";
      this.#wait(action === "stop" ? [] : [say(this.surroundings.strings, key)]);
    }
    // Painted for its link's sake, an experiment can be pressed before it is near enough to open.
    if (this.#session) this.#session.press(action);
    else {
      this.#press = action === "stop" ? null : action;
      this.open().catch((fault) => console.error(fault));
    }
  }

  /** @param {import("./protocol.js").Opened} message */
  async #opened({ state, stored }) {
    const painted = this.#painted;
    if (!painted) return;
    if (stored !== null) {
      console.warn(`${this.name}: the painted document is another one than Python's; it is embedded afresh`);
      await painted.replace(JSON.parse(stored));
      painted.apply(this.state);
    }
    this.section.dataset.hydration = stored === null ? (this.section.dataset.hydration ?? "linked") : "replaced";
    if (this.#session?.settled && !same(state, this.state)) {
      // Python knows better what a control can show (its answer says so in a notice).
      this.state = { ...state };
      painted.apply(state);
      this.surroundings.moved();
    }
  }

  /** @param {Record<string, string>} parts */
  #write(parts) {
    for (const [name, html] of Object.entries(parts)) {
      const part = this.section.querySelector(`[data-part="${CSS.escape(name)}"]`);
      clearTimeout(this.#late.get(name));
      if (part instanceof HTMLElement) {
        if (html.includes("data-on-its-way")) this.#promise(name, part, html);
        else fillIn(part, html, "");
      } else console.warn(`${this.name} has no place for its "${name}"`);
    }
  }

  /**
   * What is only on its way has mostly come before anybody could read so: words that come and go would flicker
   * under a hand that drags. But where a link's state is waited for, another one's would stand there meanwhile.
   * @param {string} name @param {HTMLElement} part @param {string} html
   */
  #promise(name, part, html) {
    // The page must not jump for what is there again in a moment.
    const write = () => fillIn(part, html, `${part.offsetHeight}px`);
    if (this.section.hasAttribute("data-stale")) write();
    else if (!part.querySelector("[data-on-its-way]")) this.#late.set(name, setTimeout(write, PATIENCE));
  }

  /** What was on its way will not come. */
  #neverMind() {
    for (const clock of this.#late.values()) clearTimeout(clock);
    /** @type {NodeListOf<HTMLElement>} */
    const promised = this.section.querySelectorAll("[data-part]:has([data-on-its-way])");
    for (const part of promised) fillIn(part, "", "");
  }

  /** @param {import("./protocol.js").SessionState} message @param {boolean} newest */
  #say({ seq, status, done, total, shown }, newest) {
    if (Object.keys(shown).length > 0) this.shown = shown;
    this.#enter(newest ? status : "computing");
    this.section.toggleAttribute("data-progress", total > 0 && status === "computing");
    this.section.style.setProperty("--progress", total > 0 ? String(done / total) : "0");
    if (this.#runtime === "live") this.#wait([]);
    this.#mark();
    const detail = { experiment: this.name, seq, status, done, total, shown, newest };
    this.section.dispatchEvent(new CustomEvent("normlab:state", { bubbles: true, detail }));
  }

  /** @param {string} sentence */
  #failed(sentence) {
    this.#enter("error");
    if (sentence) this.#wait([sentence]); // else the experiment's own notice says it
  }

  /** @param {string} state */
  #enter(state) {
    this.section.dataset.state = state;
    // A screen reader shall hear the last of many sentences only.
    this.section.querySelector('[data-part="sentence"]')?.setAttribute("aria-busy", String(state === "computing"));
  }

  /** Says so when figures and words show another state than the one asked for. */
  #mark() {
    clearTimeout(this.#clock);
    if (same(this.state, this.shown)) this.#stale(false);
    else if (this.#runtime !== "live" || this.section.hasAttribute("data-stale")) this.#stale(true);
    else this.#clock = setTimeout(() => this.#stale(!same(this.state, this.shown)), PATIENCE);
  }

  /** @param {boolean} stale */
  #stale(stale) {
    const part = this.section.querySelector('[data-part="stale"]');
    this.section.toggleAttribute("data-stale", stale);
    if (!part) return;
    const key = { failed: "stale_failed", live: "stale", loading: "stale_waiting" }[this.#runtime];
    const text = stale ? say(this.surroundings.strings, this.#unpaintable ? "stale_unpainted" : key, { shown: this.#difference() }) : "";
    if (part.textContent !== text) part.textContent = text;
  }

  /** What is shown, as far as it differs from what was asked for: "N = 12 layers, seed 0". */
  #difference() {
    const names = Object.keys(this.shown).filter((name) => this.shown[name] !== this.state[name]);
    return names.map((name) => this.#said(name, this.shown[name])).join(", ");
  }

  /** @param {string} name @param {string} value */
  #said(name, value) {
    return this.#painted?.said(name, value) ?? `${name} = ${value}`;
  }

  /** @param {() => unknown} work */
  #queue(work) {
    this.#last = this.#last.then(() => this.#closed || this.#unpaintable || work()).catch((fault) => console.error(fault));
  }
}

/** @param {HTMLElement} part @param {string} html @param {string} room  a height that it keeps */
function fillIn(part, html, room) {
  if (part.contains(document.activeElement)) keepStop(part, html);
  else part.innerHTML = html;
  part.style.minHeight = room;
}

/** The same where the keyboard is in it: it stays where it was. @param {HTMLElement} part @param {string} html */
function keepStop(part, html) {
  const next = document.createElement("template");
  next.innerHTML = html;
  if (next.innerHTML === part.innerHTML) return;
  const stops = () => [.../** @type {NodeListOf<HTMLElement>} */ (part.querySelectorAll("a, button, summary, [tabindex]"))];
  const held = stops().indexOf(/** @type {HTMLElement} */ (document.activeElement));
  part.replaceChildren(next.content);
  stops()[held]?.focus({ preventScroll: true });
}
