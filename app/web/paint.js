/**
 * First paint and, after it, everything that touches a Bokeh document on the page.
 *
 * A classic deferred script, after BokehJS and calm.js: it must work from `file://`, where modules and
 * `fetch` do not, and under a policy without inline scripts and `eval`. It knows nothing of Python: the
 * page's module (`page.js`) asks for a section by name and is handed a `Painted`, by which it sets the
 * controls, applies patches, and hears what the reader does.
 *
 * Figures come first; what only controls need (BokehJS' widgets, controls.js) is run after the first of them
 * has been seen.
 *
 * Every section embeds a document of its own. Several documents may hold equal ids; nothing here
 * looks a model up except in its own document, and roots go to slots of their own section.
 */

/**
 * @typedef {Record<string, string>} State an option's name → its canonical text
 *
 * @typedef {Record<string, any>} Json
 *
 * @typedef {object} Stored what the builder (or Python) hands over for one experiment
 * @property {any} document Bokeh's JSON
 * @property {Record<string, string>} roots slot → model id
 * @property {string} [digest]
 * @property {State} [state]
 *
 * @typedef {object} Painted
 * @property {HTMLElement} section
 * @property {any} document the Bokeh document that is embedded now
 * @property {() => State} state what the controls show
 * @property {(state: State) => void} apply shows a state; no handler hears of it
 * @property {(handler: (name: string, value: string) => void) => void} onOption a reader's change
 * @property {(handler: (action: string) => void) => void} onPress a reader's press of a button
 * @property {(patch: string | object) => void} patch applies a Bokeh JSON patch; no handler hears
 * @property {(stored: Stored) => Promise<void>} replace embeds another document in its place
 * @property {(name: string, value: string) => string} said an option's value in words
 * @property {(state: State, strings: Record<string, string>) => string} settings a state in words
 * @property {(slot: string) => any} figure BokehJS' view of a figure
 */

(function () {
  "use strict";

  /** Sections are painted this long before they scroll into view. */
  const NEAR = "800px 0px";
  const PLACES = '[data-slot^="control:"], [data-slot^="button:"]';
  /** Milliseconds of painting after which the page may do something else. */
  const SLICE = 50;

  /** @type {any} */
  const page = window;

  /** @type {Map<Element, Promise<Painted>>} */
  const paintings = new Map();
  /** Sections are painted one by one, in tasks of their own: between them the page scrolls. @type {Promise<void>} */
  let turn = Promise.resolve();
  /** @type {Set<any>} view managers of what is painted now */
  const managers = new Set();
  /** Whether any figure has been seen on this page or on one before it. */
  let begun = false;
  /** The scripts for controls, once they are asked for. @type {Promise<unknown> | null} */
  let widgets = null;
  /** The first figure has been seen, or there is none to see. */
  let arrived = () => {};
  /** @type {Promise<void>} until then nothing else shall take the page's time */
  const first = new Promise((resolve) => (arrived = resolve));
  /** The first figure has been drawn: that it is seen is left to the browser. */
  let hasDrawn = () => {};
  /** @type {Promise<void>} until then Python shall not take the processor */
  const drawn = new Promise((resolve) => (hasDrawn = resolve));
  void first.then(hasDrawn);
  /** Documents of a page that may come next, by address. @type {Map<string, Promise<Json>>} */
  const coming = new Map();
  /** Those of this page's sections that are far away, so that all can be painted when it is printed. @type {Map<string, Promise<Json>>} */
  const stocked = new Map();
  /** Nothing waits for a better moment any longer. */
  let hurry = () => {};
  /** @type {Promise<void>} until the page is printed */
  let hurried = new Promise((resolve) => (hurry = resolve));
  /** What the page only fetches ahead; the page's address may change. @type {string[]} */
  const late = [...document.querySelectorAll("link[data-late]")].map((link) => /** @type {HTMLLinkElement} */ (link).href);

  const near = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) paintSection(/** @type {HTMLElement} */ (entry.target)).catch(() => {});
      }
    },
    { rootMargin: NEAR },
  );

  // A file gets no modules, and so no Python, ever: nothing that needs one is offered.
  if (location.protocol === "file:") document.documentElement.dataset.alone = "";
  page.normlab = { paint, scan, ahead, stock, drawn, first };
  scan();
  if (asksForNothing()) paintFirst();
  else arrived();
  addEventListener("load", () => setTimeout(() => loadWidgets().catch(() => {}))); // if nothing is near yet
  addEventListener("load", () => isAlone() && stock());
  followScheme();
  followPrinting();
  followZoom();

  /**
   * The section's document, painted now if it was not yet.
   * @param {string} name
   * @returns {Promise<Painted>}
   */
  async function paint(name) {
    const section = document.querySelector(`section[data-experiment="${CSS.escape(name)}"]`);
    if (!(section instanceof HTMLElement)) throw new Error(`The page has no experiment "${name}".`);
    return paintSection(section);
  }

  /** Have the documents of all other sections come, once those that are near have been painted. */
  async function stock() {
    /** @type {NodeListOf<HTMLElement>} */
    const sections = document.querySelectorAll("section[data-experiment]");
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))); // `near` has been heard
    for (const section of sections) {
      await turn;
      const address = addressOf(section);
      if (!section.isConnected || paintings.has(section) || coming.has(address) || stocked.has(address)) continue;
      const document = fetched(address, true);
      stocked.set(address, document);
      await document.catch(() => stocked.delete(address)); // who asks for it has it tried again
    }
  }

  /** Look for sections anew, after the page has exchanged its main part; let go of gone ones. */
  function scan() {
    near.disconnect();
    stocked.clear();
    for (const section of paintings.keys()) {
      if (!section.isConnected) {
        paintings.get(section)?.then((painted) => /** @type {any} */ (painted).dispose(), () => {});
        paintings.delete(section);
      }
    }
    for (const section of document.querySelectorAll("section[data-experiment]")) {
      if (paintings.has(section)) continue;
      near.observe(section);
      holdPlaces(section);
    }
  }

  /** The keyboard may be quicker than the painting: it finds the places of the controls then. @param {Element} section */
  function holdPlaces(section) {
    for (const slot of section.querySelectorAll(PLACES)) {
      const label = slot.closest("[data-control]")?.querySelector("label") ?? slot;
      slot.setAttribute("tabindex", "0");
      slot.setAttribute("role", "group");
      slot.setAttribute("aria-label", label.textContent?.trim() ?? "");
    }
  }

  /** @param {Element} slot */
  function freePlace(slot) {
    for (const name of ["tabindex", "role", "aria-label"]) slot.removeAttribute(name);
  }

  /** Have documents come that will be asked for soon, and no others any more. @param {string[]} addresses */
  function ahead(addresses) {
    for (const address of coming.keys()) if (!addresses.includes(address)) coming.delete(address);
    for (const address of addresses) {
      if (coming.has(address)) continue;
      const document = fetched(address, true);
      coming.set(address, document);
      document.catch(() => coming.delete(address)); // who asks for it has it tried again
    }
  }

  /** The observer would wait for a frame without the figure. */
  function paintFirst() {
    const near = innerHeight + parseInt(NEAR);
    for (const section of document.querySelectorAll("section[data-experiment]")) {
      const { top, bottom } = section.getBoundingClientRect();
      if (bottom < 0 || top > near) continue;
      paintSection(/** @type {HTMLElement} */ (section)).then(arrived, arrived);
      return;
    }
    arrived();
  }

  /** A link with a state has to be read first (`page.js`): figures of another one are marked as such. */
  function asksForNothing() {
    return [...new URLSearchParams(location.search).keys()].every((name) => name === "show");
  }

  /**
   * @param {HTMLElement} section
   * @returns {Promise<Painted>}
   */
  function paintSection(section) {
    near.unobserve(section);
    let painting = paintings.get(section);
    if (painting === undefined) {
      const fetched = documentOf(section);
      fetched.catch(() => {}); // whoever waits for the painting sees it
      painting = turn.then(() => fetched).then((document) => embedFirst(section, document));
      turn = painting.then(nextTask, nextTask);
      paintings.set(section, painting);
      painting.catch((error) => {
        paintings.delete(section); // who asks again has it tried again
        section.dataset.painted = "failed";
        section.querySelectorAll(PLACES).forEach(freePlace);
        console.error(`"${section.dataset.experiment}" could not be painted:`, error);
      });
    }
    return painting;
  }

  /** @returns {Promise<void>} */
  function nextTask() {
    return Promise.race([hurried, new Promise((/** @type {(_: void) => void} */ resolve) => setTimeout(resolve))]);
  }

  /**
   * What is left to do, in a task of its own, ahead of all others: a figure in one task keeps the page from
   * answering for twice as long. Where a browser knows no such thing it goes on at once.
   * @returns {Promise<void>}
   */
  function restOfTask() {
    return Promise.race([hurried, page.scheduler?.yield?.()]);
  }

  /** Until what was painted has been seen, if anybody looks. @returns {Promise<void>} */
  async function seen() {
    hasDrawn();
    const looked = new Promise((resolve) => {
      requestAnimationFrame(() => setTimeout(resolve));
      setTimeout(resolve, 100); // no frame comes in a hidden tab
    });
    await Promise.race([hurried, looked]);
    arrived();
  }

  function loadWidgets() {
    widgets ??= Promise.all(late.map((address) => load(address)));
    widgets.catch(() => (widgets = null));
    return widgets;
  }

  /**
   * A section's document is a file of its own, fetched when it is near: a script, for `file://` knows no other way.
   * @param {HTMLElement} section @returns {Promise<Json>}
   */
  function documentOf(section) {
    const address = addressOf(section);
    const here = coming.get(address) ?? stocked.get(address) ?? fetched(address);
    for (const kept of [coming, stocked]) kept.delete(address); // a document is changed as it is painted
    return here;
  }

  /** @param {HTMLElement} section */
  function addressOf(section) {
    return new URL(section.dataset.document ?? "", document.baseURI).href;
  }

  /** @param {string} address @param {boolean} [ahead]  it holds up nothing else @returns {Promise<Json>} */
  async function fetched(address, ahead) {
    const script = await load(address, ahead);
    script.remove();
    const document = /** @type {any} */ (script).holds;
    number(document, { id: 0 });
    return document;
  }

  /** The builder writes of a model's number how far it is from the one before. @param {any} node @param {{id: number}} last */
  function number(node, last) {
    if (typeof node?.id === "number") node.id = `p${(last.id += node.id)}`;
    if (typeof node === "object" && node !== null) for (const each of Object.values(node)) number(each, last);
  }

  /** A line may fail once. @param {string} address */
  function load(address, async = false) {
    return run(address, async).catch(() => run(address, async));
  }

  /**
   * Scripts run in the order in which they are asked for, or as they come.
   * @param {string} address @param {boolean} async @returns {Promise<HTMLScriptElement>}
   */
  function run(address, async) {
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = address;
      script.async = async;
      script.onload = () => resolve(script);
      script.onerror = () => reject(new Error(`${address} could not be loaded.`, { cause: address }));
      document.head.append(script);
    });
  }

  /** The builder only names the sheets that are the same in every document. @param {string[]} [sheets] */
  function inFull(sheets = []) {
    for (const [i, name] of sheets.entries()) sheets[i] = page.normlabSheets?.[name] ?? name;
  }

  /**
   * @param {HTMLElement} section @param {Json} document
   * @returns {Promise<Painted>}
   */
  async function embedFirst(section, document) {
    if (page.Bokeh === undefined) throw new Error("BokehJS has not been loaded.");
    const script = section.querySelector("script[data-stored]");
    const stored = /** @type {Stored} */ ({ ...JSON.parse(script?.textContent ?? ""), document });
    const painted = new PaintedSection(section);
    try {
      await painted.embed(stored, () => (begun ? nextTask() : seen()), restOfTask);
    } catch (error) {
      painted.dispose();
      throw error;
    }
    if (section.isConnected) section.dataset.painted = "done";
    return painted;
  }

  // -------------------------------------------------------------------------- one section

  /** @implements {Painted} */
  class PaintedSection {
    /** @param {HTMLElement} section */
    constructor(section) {
      this.section = section;
      /** @type {any} */
      this.document = null;
      /** @type {any} */
      this.manager = null;
      /** @type {Map<string, PageControl>} */
      this.controls = new Map();
      /** @type {Map<string, PageControl>} */
      this.buttons = new Map();
      /** @type {((name: string, value: string) => void)[]} */
      this.optionHandlers = [];
      /** @type {((action: string) => void)[]} */
      this.pressHandlers = [];
      /** @type {MutationObserver[]} */
      this.observers = [];
      this.quiet = 0;
      /** @type {string | null} the option whose field was last typed in */
      this.clamped = null;
      /** @type {string | undefined} the slot that had the keyboard, and nobody has it now */
      this.lost = undefined;
      // What the reader did before anybody listened: the scripts that do come after this one.
      /** @type {State} */
      this.unheard = {};
      /** @type {Set<string>} */
      this.unheardPresses = new Set();
      /** @type {State} the state that figures and sentence show */
      this.stored = {};
      /** @type {Record<string, string>} slot → model id */
      this.roots = {};
      /** @type {State} options that have no widget: the board's buttons set them (`data-sets`) */
      this.picked = {};
      section.addEventListener("click", (event) => this.clicked(event));
    }

    /**
     * @param {Stored} stored
     * @param {() => Promise<void>} [between] what is waited for between its parts
     * @param {() => Promise<void>} [within] and before a figure is drawn
     */
    async embed(stored, between = async () => {}, within = async () => {}) {
      const { Document } = page.Bokeh.require("document");
      const { ViewManager } = page.Bokeh.require("core/view_manager");
      this.stored = stored.state ?? {};
      this.roots = stored.roots;
      this.picked = { ...this.stored, ...this.picked };
      const document = (this.document = Document.from_json({ ...stored.document, roots: [] }));
      const manager = (this.manager = document.views_manager = new ViewManager([], page.Bokeh.index));
      managers.add(manager);
      const slots = new Map(Object.entries(stored.roots).map(([slot, id]) => [id, slot]));
      const isFigure = (/** @type {{id: string}} */ { id }) => slots.get(id)?.startsWith("figure:");
      const figures = stored.document.roots.filter(isFigure);
      const controls = stored.document.roots.filter((/** @type {any} */ root) => !figures.includes(root));
      let since = performance.now();
      let shows = false;
      /** Before the next part, when the page has been busy for long, or nobody has seen a figure on it yet. */
      const pause = async () => {
        if (begun ? performance.now() - since < SLICE : !shows) return;
        await between();
        begun = true;
        since = performance.now();
      };
      for (const root of figures) {
        await pause();
        const slot = this.slot(slots.get(root.id) ?? "");
        const view = await this.add(root, slot, within);
        if (view === null) return;
        dressFigure(slot, view);
        shows = true;
      }
      await pause();
      await loadWidgets().catch((fault) => {
        this.section.ownerDocument.dispatchEvent(new CustomEvent("normlab:missing", { detail: fault.cause }));
        throw fault;
      });
      for (const root of controls) {
        await pause();
        inFull(root.attributes.stylesheets);
        const slot = this.slot(slots.get(root.id) ?? "");
        const view = await this.add(root, slot);
        if (view === null) return;
        const control = /** @type {PageControl | null} */ (page.normlabControl(view));
        if (control !== null) this.wire(control);
        const hadKeyboard = slot.matches(":focus");
        freePlace(slot);
        if (hadKeyboard) {
          slot.blur();
          this.keepFocus(slots.get(root.id));
        }
        shows = true;
      }
      for (const name of this.controls.keys()) delete this.picked[name];
      this.apply(this.unheard); // a button of the board was quicker than its control
    }

    /**
     * A part of the document, as it is stored, painted in its slot; null when its page has been left meanwhile.
     * @param {{id: string}} root @param {HTMLElement} slot @param {() => Promise<void>} [within]
     */
    async add(root, slot, within = async () => {}) {
      if (!this.section.isConnected) return null;
      this.document.apply_json_patch({ events: [{ kind: "RootAdded", model: root }] });
      const view = await this.manager.build_view(this.document.get_model_by_id(root.id));
      await within();
      if (!this.section.isConnected) return null;
      slot.replaceChildren();
      view.build(slot);
      return view;
    }

    state() {
      const state = { ...this.picked };
      for (const [name, control] of this.controls) state[name] = control.text;
      return state;
    }

    /** @param {State} state */
    apply(state) {
      this.quietly(() => {
        for (const [name, text] of Object.entries(state)) {
          const control = this.controls.get(name);
          if (control !== undefined && !control.inHand) control.show(text);
          if (name in this.picked) this.picked[name] = text;
        }
      });
      this.board();
    }

    /** A button of the board: sets a control, or an option that has none. @param {string} sets */
    choose(sets) {
      const [name, text] = sets.split("=");
      const control = this.controls.get(name);
      if (control !== undefined) control.show(text);
      else if (this.picked[name] !== text) {
        this.picked[name] = text;
        this.changed(name, text);
      }
      this.board();
    }

    /** The board's buttons say which of them are on; what is meant for another state is hidden. */
    board() {
      const state = this.state();
      /** @param {string} condition `name=one|other` */
      const holds = (condition) => {
        const [name, texts] = condition.split("=");
        return texts.split("|").includes(state[name]);
      };
      for (const button of this.section.querySelectorAll("[data-sets]")) {
        button.setAttribute("aria-pressed", String(holds(/** @type {HTMLElement} */ (button).dataset.sets ?? "=")));
      }
      for (const piece of this.section.querySelectorAll("[data-when]")) {
        piece.toggleAttribute("hidden", !holds(/** @type {HTMLElement} */ (piece).dataset.when ?? "="));
      }
    }

    /** @param {(name: string, value: string) => void} handler */
    onOption(handler) {
      this.optionHandlers.push(handler);
      const missed = this.unheard;
      this.unheard = {};
      this.apply(missed); // whoever comes to listen has shown his own state first
      for (const [name, value] of Object.entries(missed)) handler(name, value);
    }

    /** @param {(action: string) => void} handler */
    onPress(handler) {
      this.pressHandlers.push(handler);
      for (const action of this.unheardPresses) handler(action);
      this.unheardPresses.clear();
    }

    /** @param {string} name @param {string} value */
    said(name, value) {
      const button = this.section.querySelector(`[data-sets="${CSS.escape(name)}=${CSS.escape(value)}"]`);
      // A name to be heard stands before what is seen: a typeset formula holds its text three times.
      const heard = button?.querySelector(".unseen") ?? button;
      const picked = button?.getAttribute("aria-label") ?? heard?.textContent?.trim();
      return this.controls.get(name)?.said(value) ?? picked ?? value;
    }

    /** A state in words, an option after the other. @param {State} state @param {Record<string, string>} strings */
    settings(state, strings) {
      const words = Object.entries(state).map(([name, value]) => {
        const said = this.said(name, value);
        const tag = this.controls.get(name)?.tag;
        return tag?.words === "{value}" // says nothing of what it is a value of
          ? strings.setting.replace("{label}", tag.label).replace("{value}", said)
          : said;
      });
      return words.map((each) => each.replaceAll(" ", "\u00a0")).join(strings.between);
    }

    /** BokehJS' view of a figure. @param {string} slot */
    figure(slot) {
      return viewOf(this.manager, this.roots[`figure:${slot}`]);
    }

    /** @param {string | object} patch */
    patch(patch) {
      const focused = this.focused() ?? (document.activeElement === document.body ? this.lost : undefined);
      this.quietly(() => {
        this.document.apply_json_patch(typeof patch === "string" ? JSON.parse(patch) : patch);
      });
      this.keepFocus(focused);
    }

    /** @param {Stored} stored */
    async replace(stored) {
      const state = this.state();
      const focused = this.focused();
      const places = Object.keys(stored.roots).map((slot) => this.slot(slot));
      // An empty slot would have no height for a moment, and the page would jump.
      for (const place of places) place.style.minHeight = `${place.offsetHeight}px`;
      this.dispose();
      try {
        await this.embed(stored);
      } finally {
        for (const place of places) place.style.minHeight = "";
      }
      this.apply(state);
      this.keepFocus(focused);
    }

    /** The slot of the control that has the keyboard, if it is one of these. */
    focused() {
      for (const slot of this.section.querySelectorAll("[data-slot]")) {
        if (slot.contains(document.activeElement)) return /** @type {HTMLElement} */ (slot).dataset.slot;
      }
      return undefined;
    }

    /**
     * BokehJS renders a button anew when it is switched off, and the keyboard would be nowhere: it
     * goes to the new button, or to the one that took over (Stop after Perturb, and back).
     * @param {string | undefined} slot
     */
    keepFocus(slot) {
      if (slot === undefined || this.focused() === slot) return;
      const [kind, name] = slot.split(":");
      const first = (kind === "button" ? this.buttons : this.controls).get(name);
      const rest = kind === "button" ? this.buttons.values() : [];
      const able = [first, ...rest].find((control) => control && !control.model.disabled);
      this.lost = able === undefined ? slot : undefined; // its heir may come with the next patch
      able?.focus();
    }

    dispose() {
      for (const observer of this.observers.splice(0)) observer.disconnect();
      this.controls.clear();
      this.buttons.clear();
      if (this.manager === null) return;
      managers.delete(this.manager);
      this.manager.clear();
      this.document.clear();
      const { documents } = page.Bokeh; // BokehJS keeps every document it ever made
      documents.splice(documents.indexOf(this.document), 1);
      this.manager = null;
    }

    /** @param {PageControl} control */
    wire(control) {
      const { tag, model, view } = control;
      const name = tag.option ?? "";
      const box = this.section.querySelector(`[data-control="${CSS.escape(name)}"]`);
      const refresh = () => control.dress(box);
      // BokehJS renders a widget anew when some of its properties change, and noUiSlider writes
      // its own number over the value in words: what was added is looked after.
      const observer = new MutationObserver(refresh);
      observer.observe(view.shadow_el, {
        childList: true,
        subtree: true,
        attributeFilter: ["aria-valuetext", "disabled"],
      });
      this.observers.push(observer);
      if (tag.action !== undefined) this.buttons.set(tag.action, control);
      if (tag.option !== undefined) {
        this.controls.set(name, control);
        model.properties[tag.property].change.connect(() => {
          refresh();
          if (this.quiet > 0) return;
          this.board();
          this.changed(name, control.text);
        });
      }
      if (tag.clamped) {
        const typed = (/** @type {Event} */ event) => {
          this.part("notice", control.clamp(/** @type {HTMLInputElement} */ (event.target)));
          this.clamped = name;
        };
        view.shadow_el.addEventListener("change", typed, true); // before Bokeh
      }
      refresh();
    }

    /** @param {string} name @param {string} text */
    changed(name, text) {
      if (this.clamped !== null && this.clamped !== name) {
        this.part("notice", ""); // it was about what was typed before
        this.clamped = null;
      }
      if (this.optionHandlers.length === 0) this.unheard[name] = text;
      for (const handler of this.optionHandlers) handler(name, text);
      if (isAlone()) this.markStale();
    }

    /** @param {string} action */
    pressed(action) {
      if (this.pressHandlers.length === 0) this.unheardPresses.add(action);
      for (const handler of this.pressHandlers) handler(action);
      if (isAlone()) this.part("notice", document.getElementById("status")?.firstChild?.textContent ?? "");
    }

    /** Nothing will compute the reader's settings: say whose numbers these are. */
    markStale() {
      const state = this.state();
      const names = Object.keys(this.stored).filter((name) => state[name] !== this.stored[name]);
      const shown = names.map((name) => this.said(name, this.stored[name])).join(", ");
      this.section.toggleAttribute("data-stale", names.length > 0);
      this.part("stale", names.length > 0 ? pageText("stale_failed").replace("{shown}", shown) : "");
    }

    /** @param {string} name @param {string} text */
    part(name, text) {
      const part = this.section.querySelector(`[data-part="${CSS.escape(name)}"]`);
      if (part !== null && part.textContent !== text) part.textContent = text;
    }

    /** @param {Event} event */
    clicked(event) {
      const path = event.composedPath();
      const pressed = path.find((node) => node instanceof HTMLButtonElement);
      if (pressed instanceof HTMLButtonElement && !pressed.disabled) {
        const slot = path.find((node) => node instanceof HTMLElement && node.dataset.slot);
        const name = slot instanceof HTMLElement ? (slot.dataset.slot ?? "") : "";
        if (name.startsWith("button:")) this.pressed(name.slice("button:".length));
        if (pressed.dataset.sets) this.choose(pressed.dataset.sets);
      }
      const label = path.find((node) => node instanceof HTMLLabelElement);
      if (label instanceof HTMLLabelElement && label.getRootNode() === document) {
        const name = /** @type {HTMLElement | null} */ (label.closest("[data-control]"))?.dataset.control;
        this.controls.get(name ?? "")?.focus();
      }
    }

    /** @param {() => void} change */
    quietly(change) {
      this.quiet += 1;
      try {
        change();
      } finally {
        this.quiet -= 1;
      }
    }

    /**
     * @param {string} name
     * @returns {HTMLElement}
     */
    slot(name) {
      const slot = this.section.querySelector(`[data-slot="${CSS.escape(name)}"]`);
      if (!(slot instanceof HTMLElement)) throw new Error(`The section has no place for "${name}".`);
      return slot;
    }
  }

  // -------------------------------------------------------------------------- figures and words

  /**
   * A figure is one picture with a name; what it shows stands beside it as a sentence and a table.
   * @param {HTMLElement} slot
   * @param {any} view
   */
  function dressFigure(slot, view) {
    if (!slot.hasAttribute("aria-label") && !slot.hasAttribute("aria-labelledby")) {
      const title = slot.closest("figure")?.querySelector("figcaption")
        ?? slot.closest("section")?.querySelector("h1, h2, h3, h4");
      slot.setAttribute("aria-label", title?.textContent?.trim() ?? slot.dataset.slot ?? "");
    }
    slot.setAttribute("role", "img");
    for (const canvas of view.views.query((/** @type {any} */ it) => it.model.type === "Canvas")) {
      canvas.events_el.removeAttribute("tabindex"); // no tool here listens to keys
    }
    page.normlabCalm(view);
  }

  /**
   * @param {any} manager
   * @param {string} id
   */
  function viewOf(manager, id) {
    return manager.roots.find((/** @type {any} */ view) => view.model.id === id);
  }

  /** No module will come, and so no Python; of one that is missing shell.js has heard. */
  function isAlone() {
    return document.documentElement.dataset.alone !== undefined;
  }

  /** @param {string} key */
  function pageText(key) {
    const config = JSON.parse(document.getElementById("normlab-page")?.textContent ?? "{}");
    return /** @type {string} */ (config.strings?.[key] ?? key);
  }

  // -------------------------------------------------------------------------- colour schemes

  /** Canvases hold the ink they were painted with: paint them again when the scheme changes. */
  function followScheme() {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => repaint());
    new MutationObserver(() => repaint()).observe(document.documentElement, {
      attributeFilter: ["data-theme"],
    });
  }

  /**
   * Paper is white and narrow, and holds all figures. The browser waits for no task, no frame and no line; but
   * what hangs on promises alone is done before it goes on.
   */
  function followPrinting() {
    const { dataset } = document.documentElement;
    /** @returns {NodeListOf<HTMLElement>} */
    const sections = () => document.querySelectorAll("section[data-experiment]:not([data-painted=failed])");
    const slots = () =>
      [...sections()].flatMap((it) => [.../** @type {NodeListOf<HTMLElement>} */ (it.querySelectorAll('[data-slot^="figure:"]'))]);
    const screen = () => {
      if (dataset.paper === undefined) return;
      delete dataset.printing;
      delete dataset.paper;
      for (const slot of slots()) if (slot.childElementCount === 0) slot.textContent = "";
      hurried = new Promise((resolve) => (hurry = resolve));
      fit();
    };
    addEventListener("beforeprint", () => {
      dataset.printing = dataset.paper = "";
      for (const slot of slots()) if (slot.childElementCount === 0) slot.textContent = pageText("unprinted");
      fit();
      hurry();
      // What is here first: one that is still to come holds up those behind it.
      const here = [...stocked.keys()];
      const isHere = (/** @type {Element} */ section) => here.includes(addressOf(/** @type {HTMLElement} */ (section)));
      for (const section of [...sections()].sort((one, other) => Number(isHere(other)) - Number(isHere(one)))) {
        paintSection(section).catch(() => {});
      }
      void turn.then(fit);
    });
    addEventListener("afterprint", screen);
    matchMedia("print").addEventListener("change", ({ matches }) => matches || screen()); // should the former not come
  }

  /** Figures take their places anew, now. */
  function fit() {
    for (const manager of managers) for (const view of manager.roots) view.after_resize?.();
    repaint(true);
  }

  /**
   * Each of BokehJS' figures listens for pinches, and never stops: every figure that ever was would be kept.
   * So none of them does, and one listener tells those that there are.
   */
  function followZoom() {
    const { visualViewport } = window;
    if (!visualViewport) return;
    visualViewport.addEventListener("resize", () => {
      for (const view of views()) if (view.canvas_view?.resize?.()) view.request_repaint();
    });
    visualViewport.addEventListener = () => {};
  }

  /** All of BokehJS' views. */
  function* views() {
    for (const manager of managers) yield* manager.all_views();
  }

  /** @param {boolean} [atOnce] */
  function repaint(atOnce = false) {
    for (const view of views()) {
      if (view.canvas_view !== undefined && view.request_repaint !== undefined) {
        view.request_repaint();
        if (atOnce) view.repaint();
      }
    }
  }
})();
