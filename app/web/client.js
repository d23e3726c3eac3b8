// The worker's client: starts Python, ends it, starts it again, and keeps the sessions over all of that.
// It knows nothing of the page's elements, so that it can outlive the lesson that is being shown.

import { fromWorker } from "./protocol.js";

/**
 * @typedef {import("./protocol.js").State} State
 * @typedef {import("./protocol.js").Property} Property
 * @typedef {import("./protocol.js").ToPage} ToPage
 * @typedef {import("./protocol.js").ToWorker} ToWorker
 *
 * @typedef {object} SessionHandlers
 * @property {(message: import("./protocol.js").Opened) => void} opened
 * @property {(patch: object) => void} patch
 * @property {(parts: Record<string, string>) => void} parts
 * @property {(message: import("./protocol.js").SessionState, newest: boolean) => void} state
 *   newest: it answers the last values and presses that the page has
 * @property {(files: import("./protocol.js").NumbersFile[]) => void} exported
 * @property {(message: string) => void} error  a sentence for the reader
 *
 * @typedef {object} RuntimeHandlers
 * @property {(message: import("./protocol.js").Progress) => void} progress
 * @property {(message: import("./protocol.js").Live) => void} live
 * @property {(file: string) => void} failed  it did not start; the missing or damaged file, "" if none is at fault
 * @property {() => void} crashed  it had been live
 * @property {() => void} restarted
 *
 * What a session is about; the worker is told it whenever the session is opened (again).
 * @typedef {{experiment: string, language: string, state: State, digest: string, touched: Property[]}} Subject
 *
 * @typedef {Pick<Worker, "postMessage" | "terminate" | "onmessage" | "onerror">} WorkerLike
 */

const UNDOING = ["stop", "reset"]; // with nothing begun there is nothing for them to do
const STOP_PATIENCE = 1000; // milliseconds for Stop to be answered before the worker is ended
const HOLD = 1000; // milliseconds that Python waits at most for what the page does

export class Client {
  /** @type {WorkerLike | null} */
  #worker = null;
  #live = false;
  #fresh = false;
  #count = 0;
  /** What Python waits for. @type {Promise<unknown> | null} */
  #work = null;
  /** @type {Map<string, Session>} */
  #sessions = new Map();
  /** @type {RuntimeHandlers | null} */
  #handlers = null;
  /** @type {(live: import("./protocol.js").Live) => void} */
  #isLive = () => {};
  /** Python is up for the first time. @type {Promise<import("./protocol.js").Live>} */
  live = new Promise((resolve) => (this.#isLive = resolve));
  /** The newest of what happened to the runtime. @type {(handlers: RuntimeHandlers) => void} */
  #news = () => {};

  /**
   * @param {(name: string) => WorkerLike} makeWorker  its name says what it is to start
   * @param {{runtime: string, files: import("./protocol.js").RuntimeFile[]}} runtime
   */
  constructor(makeWorker, runtime) {
    this.makeWorker = makeWorker;
    this.runtime = runtime;
  }

  /**
   * Python may be started before there is a page to listen; where it stands is told at once.
   * @param {RuntimeHandlers | null} handlers  null: the page that listened is left
   */
  listen(handlers) {
    this.#handlers = handlers;
    if (handlers) this.#news(handlers);
  }

  /** @param {(handlers: RuntimeHandlers) => void} news */
  #tell(news) {
    this.#news = news;
    if (this.#handlers) news(this.#handlers);
  }

  /** Let the worker's own script come; it asks for nothing that the browser has not kept before it is started. */
  prepare() {
    this.#worker ??= this.#made();
  }

  /** Let Python's files come: the line is free for them. They wait until it is started. */
  fetch() {
    this.prepare();
    this.#worker?.postMessage({ type: "fetch" });
  }

  /** Start Python; sessions may be opened before it is up. @param {boolean} [fast]  the line is known to be */
  start(fast = false) {
    this.prepare();
    this.#worker?.postMessage({ type: "go", fast });
  }

  #made() {
    const worker = this.makeWorker(JSON.stringify({ type: "boot", ...this.runtime, fresh: this.#fresh }));
    worker.onmessage = ({ data }) => {
      if (worker !== this.#worker) return; // an ended worker's last words
      const message = fromWorker(data);
      if (message === null) return;
      try {
        this.#take(message);
      } catch (fault) {
        console.error(`"${message.type}" could not be taken:`, fault);
      }
    };
    worker.onerror = (event) => {
      // Its own script is missing or broken, or it died: it will never say so itself.
      console.error("worker:", event.message ?? "could not be loaded");
      this.#fail("worker.js");
    };
    return worker;
  }

  /** Start again after a failure, past whatever the browser has stored. */
  retry() {
    this.#fresh = true;
    this.#news = () => {}; // what failed is over
    this.#end();
    this.start();
  }

  /**
   * @param {Subject} what
   * @param {SessionHandlers} handlers
   */
  open(what, handlers) {
    const name = `${what.experiment}#${++this.#count}`;
    const session = new Session(name, what, handlers, {
      send: (message) => this.#worker?.postMessage(message),
      hung: () => this.#restart(),
      closed: () => this.#sessions.delete(name),
    });
    this.#sessions.set(name, session);
    if (this.#live) session.begin();
    return session;
  }

  /** Sessions like these may soon be opened. @param {string[]} experiments @param {string} language */
  ahead(experiments, language) {
    if (!this.#live) return;
    for (const experiment of experiments) this.#worker?.postMessage({ type: "ahead", experiment, language });
  }

  /**
   * Have Python compute nothing while the page does something long: there may be no processor for both.
   * @param {Promise<unknown>} work
   */
  hold(work) {
    if (!this.#live) return;
    this.#worker?.postMessage({ type: "hold", milliseconds: HOLD });
    this.#work = work;
    void work.finally(() => {
      if (this.#live && this.#work === work) this.#worker?.postMessage({ type: "hold", milliseconds: 0 });
    });
  }

  #restart() {
    console.warn("the worker did not answer; it is started again");
    this.#end();
    this.#tell((handlers) => handlers.restarted());
    this.start();
  }

  #end() {
    this.#worker?.terminate();
    this.#worker = null;
    this.#live = false;
    for (const session of this.#sessions.values()) session.lose();
  }

  /** @param {string} file */
  #fail(file) {
    const wasLive = this.#live;
    this.#end();
    this.#tell((handlers) => (wasLive ? handlers.crashed() : handlers.failed(file)));
  }

  /** @param {ToPage} message */
  #take(message) {
    if (message.type === "progress") {
      this.#tell((handlers) => handlers.progress(message));
    } else if (message.type === "live") {
      this.#live = true;
      this.#isLive(message);
      this.#tell((handlers) => handlers.live(message));
      for (const session of this.#sessions.values()) session.begin();
    } else if (message.type === "error" && message.session === null) {
      console.error(message.detail);
      this.#fail(message.message);
    } else {
      this.#sessions.get(String(message.session))?.take(message);
    }
  }
}

/**
 * One experiment's talk with the worker. The newest values win: they wait until it has turned to those before,
 * not until these are computed; so only the newest ever waits, however slow the worker and fast the hand.
 */
export class Session {
  #seq = 0;
  #begun = false;
  #open = false;
  /** @type {number | null} */
  #unanswered = null;
  #changed = false;
  /** @type {string[]} */
  #presses = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #patience;
  #heard = false; // whether Python has turned to the values that are unanswered
  #stopping = 0;
  /** Files that have not come yet. @type {"wanted" | "asked" | null} */
  #exporting = null;

  /**
   * @param {string} name
   * @param {Subject} what
   * @param {SessionHandlers} handlers
   * @param {{send: (message: ToWorker) => void, hung: () => void, closed: () => void}} client
   */
  constructor(name, what, handlers, client) {
    this.name = name;
    this.what = { ...what, touched: [...what.touched] };
    this.handlers = handlers;
    this.client = client;
  }

  /** Whether the worker knows everything that the page wants. */
  get settled() {
    return this.#open && this.#unanswered === null && !this.#changed && this.#presses.length === 0;
  }

  /** Python is up: open, with the state that the page has by now. */
  begin() {
    this.#begun = true;
    this.#changed = false;
    this.client.send({ type: "open", session: this.name, ...this.what });
  }

  /** The worker is gone; what the page wants stays. */
  lose() {
    this.#begun = false;
    this.#open = false;
    this.#unanswered = null;
    if (this.#exporting) this.#exporting = "wanted";
    this.#seq = 0; // the next worker's session counts anew
    clearTimeout(this.#patience);
  }

  /** @param {State} state  all options */
  set(state) {
    this.what.state = { ...state };
    this.#changed = true;
    if (!this.#open) return;
    if (this.#unanswered === null || this.#heard) this.#sendState();
  }

  /** Before Python is up the last press is kept; Stop and Reset take it back. @param {string} action */
  press(action) {
    if (UNDOING.includes(action)) this.#presses = [];
    if (this.#open) {
      if (this.#changed && action !== "stop") this.#sendState(); // a press means the values that are shown
      this.#sendPress(action);
    } else if (!UNDOING.includes(action)) {
      this.#presses = [action];
    }
  }

  /** The newest numbers as files; the next worker is asked again, should this one end. */
  export() {
    this.#exporting = "wanted";
    this.#sendExport();
  }

  close() {
    if (this.#begun) this.client.send({ type: "close", session: this.name });
    this.lose();
    this.client.closed();
  }

  /** @param {Exclude<ToPage, {type: "progress" | "live"}>} message */
  take(message) {
    if (message.type === "opened") {
      this.#open = true;
      if (message.stored !== null) {
        const { digest, touched } = JSON.parse(message.stored);
        Object.assign(this.what, { digest, touched });
      }
      this.handlers.opened(message);
      if (this.#changed) this.#sendState();
      for (const action of this.#presses.splice(0)) this.#sendPress(action);
      this.#sendExport();
    } else if (message.type === "patch") {
      const patch = JSON.parse(message.patch);
      this.#remember(patch.events);
      this.handlers.patch(patch);
    } else if (message.type === "parts") {
      this.handlers.parts(message.parts);
    } else if (message.type === "state") {
      this.handlers.state(message, message.seq === this.#seq && !this.#changed);
      this.#heard = this.#unanswered !== null && message.seq >= this.#unanswered;
      if (this.#heard && this.#changed) this.#sendState();
    } else if (message.type === "answer") {
      if (message.seq >= this.#stopping) clearTimeout(this.#patience);
      if (message.seq !== this.#unanswered) return;
      this.#unanswered = null;
      if (this.#changed) this.#sendState();
      this.#sendExport();
    } else if (message.type === "exported") {
      this.#exporting = null;
      this.handlers.exported(message.files);
    } else {
      console.error(message.detail);
      this.handlers.error(message.message);
    }
  }

  /** The next worker, should this one end, must know what in the painted document is not as built. @param {any[]} events */
  #remember(events) {
    const { touched } = this.what;
    for (const { model, attr } of events) {
      if (model && !touched.some(([id, name]) => id === model.id && name === attr)) touched.push([model.id, attr]);
    }
  }

  #sendState() {
    this.#changed = false;
    this.#heard = false;
    this.#unanswered = ++this.#seq;
    this.client.send({ type: "set", session: this.name, seq: this.#seq, state: this.what.state });
  }

  /** Once the worker knows the values that it is about. */
  #sendExport() {
    if (!this.#open || this.#unanswered !== null || this.#exporting !== "wanted") return;
    this.#exporting = "asked";
    this.client.send({ type: "export", session: this.name });
  }

  /** @param {string} action */
  #sendPress(action) {
    this.client.send({ type: "press", session: this.name, seq: ++this.#seq, action });
    if (action !== "stop") return;
    this.#stopping = this.#seq;
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => this.client.hung(), STOP_PATIENCE);
  }
}
