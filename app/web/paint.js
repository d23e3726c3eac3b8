/**
 * First paint and, after it, everything that touches a Bokeh document on the page.
 *
 * A classic deferred script, after BokehJS: it must work from `file://`, where modules and `fetch`
 * do not, and under a policy without inline scripts and `eval`. It knows nothing of Python: the
 * page's module (`page.js`) asks for a section by name and is handed a `Painted`, by which it sets
 * the controls, applies patches, and hears what the reader does.
 *
 * Every section embeds a document of its own. Several documents may hold equal ids; nothing here
 * looks a model up except in its own document, and roots go to slots of their own section.
 */

/**
 * @typedef {Record<string, string>} State an option's name → its canonical text
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
 *
 * @typedef {object} Tag what `app/ui/controls.py` says about a control, in the model's tags
 * @property {string} [option]
 * @property {string} [action]
 * @property {string} label
 * @property {string} property the model's property that holds the value
 * @property {string[] | null} values canonical texts of all choices, or null: any whole number
 * @property {boolean} indexed the property holds a place in `values`
 * @property {string[] | null} shown what a reader sees for each choice
 * @property {string} low
 * @property {string} high
 * @property {string | null} clamped a sentence for `{given}` out of bounds and `{used}` instead
 * @property {string | {one: string, other: string}} words the value in words, with `{value}`
 *
 * @typedef {object} Control
 * @property {Tag} tag
 * @property {any} model
 * @property {any} view
 */

(function () {
  "use strict";

  /** Sections are painted this long before they scroll into view. */
  const NEAR = "800px 0px";

  /** Opened as a file, the page gets no modules and so no Python, ever. */
  const alone = location.protocol === "file:";

  /** @type {any} */
  const page = window;

  /** @type {Map<Element, Promise<Painted>>} */
  const paintings = new Map();
  /** @type {Set<any>} view managers of what is painted now */
  const managers = new Set();

  const near = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) paintSection(/** @type {HTMLElement} */ (entry.target)).catch(() => {});
      }
    },
    { rootMargin: NEAR },
  );

  page.normlab = { paint, scan };
  scan();
  followScheme();

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

  /** Look for sections anew, after the page has exchanged its main part; let go of gone ones. */
  function scan() {
    for (const section of paintings.keys()) {
      if (!section.isConnected) {
        near.unobserve(section);
        paintings.get(section)?.then((painted) => /** @type {any} */ (painted).dispose(), () => {});
        paintings.delete(section);
      }
    }
    for (const section of document.querySelectorAll("section[data-experiment]")) near.observe(section);
  }

  /**
   * @param {HTMLElement} section
   * @returns {Promise<Painted>}
   */
  function paintSection(section) {
    near.unobserve(section);
    let painting = paintings.get(section);
    if (painting === undefined) {
      painting = embedFirst(section);
      paintings.set(section, painting);
      painting.catch((error) => {
        section.dataset.painted = "failed";
        console.error(`"${section.dataset.experiment}" could not be painted:`, error);
      });
    }
    return painting;
  }

  /**
   * @param {HTMLElement} section
   * @returns {Promise<Painted>}
   */
  async function embedFirst(section) {
    const script = section.querySelector("script[data-document]");
    if (script === null) throw new Error("The section holds no document.");
    if (page.Bokeh === undefined) throw new Error("BokehJS has not been loaded.");
    const stored = /** @type {Stored} */ (JSON.parse(script.textContent ?? ""));
    const painted = new PaintedSection(section);
    await painted.embed(stored);
    section.dataset.painted = "done";
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
      /** @type {Map<string, Control>} */
      this.controls = new Map();
      /** @type {Map<string, Control>} */
      this.buttons = new Map();
      /** @type {((name: string, value: string) => void)[]} */
      this.optionHandlers = [];
      /** @type {((action: string) => void)[]} */
      this.pressHandlers = [];
      /** @type {MutationObserver[]} */
      this.observers = [];
      this.quiet = 0;
      /** @type {string | undefined} the slot that had the keyboard, and nobody has it now */
      this.lost = undefined;
      // What the reader did before anybody listened: the scripts that do come after this one.
      /** @type {State} */
      this.unheard = {};
      /** @type {Set<string>} */
      this.unheardPresses = new Set();
      /** @type {State} the state that figures and sentence show */
      this.stored = {};
      section.addEventListener("click", (event) => this.clicked(event));
    }

    /** @param {Stored} stored */
    async embed(stored) {
      const slots = new Map(Object.entries(stored.roots).map(([slot, id]) => [id, this.slot(slot)]));
      /** @type {string[]} */
      const ids = stored.document.roots.map((/** @type {{id: string}} */ root) => root.id);
      for (const slot of slots.values()) slot.replaceChildren();
      // BokehJS asks for elements in the order of the roots, and an element may be given as such.
      const roots = Object.fromEntries(ids.map((id) => [id, slots.get(id)]));
      const [manager] = await page.Bokeh.embed.embed_items(
        { it: stored.document },
        [{ docid: "it", root_ids: ids, roots }],
      );
      this.stored = stored.state ?? {};
      this.manager = manager;
      managers.add(manager);
      this.document = manager.roots[0].model.document;
      for (const view of manager.roots) {
        const tag = tagOf(view.model);
        if (tag !== null) this.wire({ tag, model: view.model, view });
      }
      for (const [slot, id] of Object.entries(stored.roots)) {
        if (slot.startsWith("figure:")) dressFigure(this.slot(slot), viewOf(manager, id));
      }
    }

    state() {
      /** @type {State} */
      const state = {};
      for (const [name, control] of this.controls) state[name] = textOf(control);
      return state;
    }

    /** @param {State} state */
    apply(state) {
      this.quietly(() => {
        for (const [name, text] of Object.entries(state)) {
          const control = this.controls.get(name);
          if (control !== undefined && !inHand(control)) show(control, text);
        }
      });
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
      const control = this.controls.get(name);
      return control === undefined ? value : wordsOf(control.tag, value);
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
      if (able) focusable(able)?.focus({ preventScroll: true });
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

    /** @param {Control} control */
    wire(control) {
      const { tag, model, view } = control;
      const refresh = () => dress(control, this.box(tag));
      // BokehJS renders a widget anew when some of its properties change, and noUiSlider writes
      // its own number over the value in words: what was added is looked after.
      const observer = new MutationObserver(refresh);
      observer.observe(view.shadow_el, {
        childList: true,
        subtree: true,
        attributeFilter: ["aria-valuetext", "disabled"],
      });
      this.observers.push(observer);
      const typed = (/** @type {Event} */ event) => this.typed(control, event.target);
      view.shadow_el.addEventListener("change", typed, true); // before Bokeh
      view.shadow_el.addEventListener("touchstart", letScroll, { capture: true, passive: true });
      if (tag.action !== undefined) this.buttons.set(tag.action, control);
      if (tag.option !== undefined) {
        const name = tag.option;
        this.controls.set(name, control);
        model.properties[tag.property].change.connect(() => {
          refresh();
          if (this.quiet === 0) this.changed(name, textOf(control));
        });
      }
      refresh();
    }

    /**
     * Bokeh's spinner would drop a number out of bounds without a word: clamp it, and say so.
     * @param {Control} control
     * @param {EventTarget | null} field
     */
    typed({ tag, model }, field) {
      if (!tag.clamped || !(field instanceof HTMLInputElement)) return;
      const given = field.value;
      const low = Number(tag.low);
      const number = given.trim() === "" ? NaN : Number(given);
      const used = Number.isNaN(number) ? model[tag.property] : Math.min(Math.max(number, low), Number(tag.high));
      const sentence = tag.clamped.replace("{given}", given).replace("{used}", String(used));
      field.value = String(used);
      this.part("notice", Number.isNaN(number) || number === used ? "" : sentence);
    }

    /** @param {string} name @param {string} text */
    changed(name, text) {
      if (this.optionHandlers.length === 0) this.unheard[name] = text;
      for (const handler of this.optionHandlers) handler(name, text);
      if (alone) this.markStale();
    }

    /** @param {string} action */
    pressed(action) {
      if (this.pressHandlers.length === 0) this.unheardPresses.add(action);
      for (const handler of this.pressHandlers) handler(action);
      if (alone) this.part("notice", document.getElementById("status")?.dataset.fromFile ?? "");
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
      }
      const label = path.find((node) => node instanceof HTMLLabelElement);
      if (label instanceof HTMLLabelElement && label.getRootNode() === document) {
        const name = /** @type {HTMLElement | null} */ (label.closest("[data-control]"))?.dataset.control;
        const control = this.controls.get(name ?? "");
        if (control !== undefined) focusable(control)?.focus();
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

    /**
     * The light-DOM part around a control.
     * @param {Tag} tag
     * @returns {Element | null}
     */
    box(tag) {
      const name = tag.option ?? "";
      return this.section.querySelector(`[data-control="${CSS.escape(name)}"]`);
    }
  }

  // -------------------------------------------------------------------------- values and words

  /**
   * @param {any} model
   * @returns {Tag | null}
   */
  function tagOf(model) {
    for (const tag of model.tags) {
      const plain = unmapped(tag);
      if (plain?.normlab !== undefined) return plain.normlab;
    }
    return null;
  }

  /**
   * BokehJS reads a Python dict as a Map.
   * @param {any} value
   * @returns {any}
   */
  function unmapped(value) {
    if (!(value instanceof Map)) return value;
    return Object.fromEntries([...value].map(([key, item]) => [key, unmapped(item)]));
  }

  /**
   * The canonical text of what the control shows.
   * @param {Control} control
   */
  function textOf({ tag, model }) {
    const held = model[tag.property];
    return tag.indexed && tag.values !== null ? tag.values[held] : String(held);
  }

  /**
   * Show the value with this canonical text, or the nearest that the control has.
   * @param {Control} control
   * @param {string} text
   */
  function show({ tag, model }, text) {
    const { values, property } = tag;
    if (values === null) {
      const value = Number(text);
      if (text === "" || !Number.isFinite(value)) return;
      model[property] = Math.min(Math.max(value, Number(tag.low)), Number(tag.high));
      return;
    }
    const index = nearest(values, text);
    if (index >= 0) model[property] = tag.indexed ? index : values[index];
  }

  /**
   * @param {string[]} values
   * @param {string} text
   * @returns {number} −1 when there is none
   */
  function nearest(values, text) {
    const exact = values.indexOf(text);
    if (exact >= 0 || text === "" || !Number.isFinite(Number(text))) return exact;
    const distances = values.map((value) => Math.abs(Number(value) - Number(text)));
    return distances.indexOf(Math.min(...distances));
  }

  /**
   * @param {Tag} tag
   * @param {string} text
   */
  function wordsOf(tag, text) {
    const shown = tag.shown?.[tag.values?.indexOf(text) ?? -1] ?? text;
    const words =
      typeof tag.words === "string" ? tag.words : text === "1" ? tag.words.one : tag.words.other;
    return words.replace("{value}", shown);
  }

  /**
   * Whether the reader has hold of it just now: dragging the handle, or typing in the field.
   * @param {Control} control
   */
  function inHand({ view }) {
    /** @type {ShadowRoot} */
    const shadow = view.shadow_el;
    if (shadow.querySelector(".noUi-active") !== null) return true;
    const field = shadow.activeElement;
    return field instanceof HTMLInputElement && field.type === "text" && field.value !== view.format_value;
  }

  // -------------------------------------------------------------------------- names and reach

  /**
   * Give the control its name, its value in words and its state; to be repeated at will.
   * @param {Control} control
   * @param {Element | null} box
   */
  function dress(control, box) {
    const { tag, model, view } = control;
    /** @type {ShadowRoot} */
    const shadow = view.shadow_el;
    const said = tag.option === undefined ? "" : wordsOf(tag, textOf(control));
    const output = box?.querySelector("output[data-value]");
    if (output instanceof HTMLElement && output.textContent !== said) {
      output.setAttribute("aria-live", "off"); // the control itself says its value
      output.textContent = said;
    }

    const handle = shadow.querySelector("[role=slider]");
    if (handle !== null) {
      set(handle, "aria-label", tag.label);
      set(handle, "aria-valuetext", said);
      set(handle, "aria-disabled", String(model.disabled));
    }
    const group = shadow.querySelector(".bk-input-group:has(input[type=radio])");
    if (group !== null) {
      set(group, "role", "radiogroup");
      set(group, "aria-label", tag.label);
    }
    const field = shadow.querySelector("select, input[type=text]");
    if (field !== null) {
      set(field, "aria-label", tag.label);
      if (field instanceof HTMLInputElement) dressNumber(field, control);
    }
  }

  /**
   * Bokeh's spinner works as a spin button and has only to say so.
   * @param {HTMLInputElement} field
   * @param {Control} control
   */
  function dressNumber(field, { tag, model, view }) {
    set(field, "role", "spinbutton");
    set(field, "inputmode", "numeric");
    set(field, "autocomplete", "off");
    set(field, "aria-valuemin", tag.low);
    set(field, "aria-valuemax", tag.high);
    set(field, "aria-valuenow", String(model.value));
    // The steppers are for a mouse, as those of a browser's own number field: keys do the same.
    for (const stepper of view.shadow_el.querySelectorAll(".bk-spin-btn")) {
      set(stepper, "tabindex", "-1");
      set(stepper, "aria-hidden", "true");
      set(stepper, "type", "button");
    }
  }

  /**
   * A figure is one picture with a name; what it shows stands beside it as a sentence and a table.
   * @param {HTMLElement} slot
   * @param {any} view
   */
  function dressFigure(slot, view) {
    if (!slot.hasAttribute("aria-label") && !slot.hasAttribute("aria-labelledby")) {
      const title = slot.closest("figure")?.querySelector("figcaption")
        ?? slot.closest("section")?.querySelector("h1, h2, h3, h4");
      set(slot, "aria-label", title?.textContent?.trim() ?? slot.dataset.slot ?? "");
    }
    set(slot, "role", "img");
    for (const canvas of view.views.query((/** @type {any} */ it) => it.model.type === "Canvas")) {
      canvas.events_el.removeAttribute("tabindex"); // no tool here listens to keys
    }
  }

  /**
   * @param {Control} control
   * @returns {HTMLElement | null}
   */
  function focusable({ view }) {
    return view.shadow_el.querySelector("[role=slider], select, input[type=text], input:checked, button");
  }

  /**
   * noUiSlider jumps as soon as a finger is laid on its track, though it may be there to scroll the
   * page. Without the touch it gets the mouse's events, which browsers send for a tap alone.
   * @param {Event} event
   */
  function letScroll(event) {
    const { target } = event;
    if (target instanceof Element && target.closest(".noUi-base") && !target.closest(".noUi-handle")) {
      event.stopPropagation();
    }
  }

  /**
   * Writes only what differs, so that an observer of attributes comes to rest.
   * @param {Element} element
   * @param {string} name
   * @param {string} value
   */
  function set(element, name, value) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }

  /**
   * @param {any} manager
   * @param {string} id
   */
  function viewOf(manager, id) {
    return manager.roots.find((/** @type {any} */ view) => view.model.id === id);
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
    // Paper is white: a print of the dark page needs the light figures, and at once.
    addEventListener("beforeprint", () => {
      document.documentElement.dataset.printing = "";
      repaint(true);
    });
    addEventListener("afterprint", () => {
      delete document.documentElement.dataset.printing;
      repaint();
    });
  }

  /** @param {boolean} [atOnce] */
  function repaint(atOnce = false) {
    for (const manager of managers) {
      for (const view of manager.all_views()) {
        if (view.canvas_view !== undefined && view.request_repaint !== undefined) {
          view.request_repaint();
          if (atOnce) view.repaint();
        }
      }
    }
  }
})();
