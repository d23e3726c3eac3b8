// One experiment's section: what the reader sets on it, by its controls and its board's buttons, and who hears of it.

import { isAlone } from "./alone.js";
import { pageText } from "./words.js";

/**
 * @typedef {import("./controls.js").Control} Control
 * @typedef {import("./protocol.js").State} State
 */

export class Section {
  /** @type {Map<string, Control>} */
  controls = new Map();
  /** @type {Map<string, Control>} */
  buttons = new Map();
  /** @type {((name: string, value: string) => void)[]} */
  optionHandlers = [];
  /** @type {((action: string) => void)[]} */
  pressHandlers = [];
  /** @type {MutationObserver[]} */
  observers = [];
  quiet = 0;
  /** The option whose field was last typed in. @type {string | null} */
  clamped = null;
  // What the reader did before anybody listened: the scripts that do come after this one.
  /** @type {State} */
  unheard = {};
  /** @type {Set<string>} */
  unheardPresses = new Set();
  /** The state that figures and sentence show. @type {State} */
  stored = {};
  /** Options that have no widget: the board's buttons set them (`data-sets`). @type {State} */
  picked = {};

  /** @param {HTMLElement} section */
  constructor(section) {
    this.section = section;
    section.addEventListener("click", (event) => this.clicked(event));
  }

  /** What the controls show. @returns {State} */
  state() {
    const state = { ...this.picked };
    for (const [name, control] of this.controls) state[name] = control.text;
    return state;
  }

  /** Show a state; no handler hears of it. @param {State} state */
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

  /** Hear of what the reader changes. @param {(name: string, value: string) => void} handler */
  onOption(handler) {
    this.optionHandlers.push(handler);
    const missed = this.unheard;
    this.unheard = {};
    this.apply(missed); // whoever comes to listen has shown his own state first
    for (const [name, value] of Object.entries(missed)) handler(name, value);
  }

  /** Hear of the buttons that he presses. @param {(action: string) => void} handler */
  onPress(handler) {
    this.pressHandlers.push(handler);
    for (const action of this.unheardPresses) handler(action);
    this.unheardPresses.clear();
  }

  /** An option's value in words. @param {string} name @param {string} value */
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

  /** @param {Control} control */
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

  /** The controls have gone. */
  unwire() {
    for (const observer of this.observers.splice(0)) observer.disconnect();
    this.controls.clear();
    this.buttons.clear();
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
    const { missing } = document.documentElement.dataset; // then it is not Python's fault
    const text = pageText(missing === undefined ? "stale_failed" : "stale_unpainted");
    this.part("stale", names.length > 0 ? text.replace("{shown}", shown) : "");
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
