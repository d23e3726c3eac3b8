// The page's side of the controls that `app/ui/controls.py` makes: what one holds, how it is said,
// and what Bokeh's elements lack for ear, keyboard and finger.
//
// A script of its own that runs after BokehJS' widgets: what is painted first can do without it.

/**
 * @typedef {object} Tag what Python says about a control, in its model's tags
 * @property {string} [option] the option's name; a button has an action instead
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
 */

/** A painted control. */
export class Control {
  /** @param {Tag} tag @param {any} view */
  constructor(tag, view) {
    this.tag = tag;
    this.view = view;
    this.model = view.model;
    /** @type {ShadowRoot} */
    this.shadow = view.shadow_el; // stays when Bokeh renders the widget anew
    this.shadow.addEventListener("touchstart", letScroll, { capture: true, passive: true });
  }

  /** The canonical text of what it shows. @returns {string} */
  get text() {
    const { indexed, property, values } = this.tag;
    const held = this.model[property];
    return indexed && values !== null ? values[held] : String(held);
  }

  /** Show the value, or the nearest that it has. @param {string} text */
  show(text) {
    const { indexed, property, values } = this.tag;
    if (values === null) {
      const value = text === "" ? NaN : Number(text);
      if (Number.isFinite(value)) this.model[property] = this.within(value);
      return;
    }
    const index = nearest(values, text);
    if (index >= 0) this.model[property] = indexed ? index : values[index];
  }

  /** A value in words. @param {string} text */
  said(text) {
    const { shown, values, words } = this.tag;
    const value = shown?.[values?.indexOf(text) ?? -1] ?? text;
    const sentence = typeof words === "string" ? words : text === "1" ? words.one : words.other;
    return sentence.replace("{value}", value);
  }

  /** Whether the reader has hold of it: drags the handle, types in the field. */
  get inHand() {
    if (this.shadow.querySelector(".noUi-active") !== null) return true;
    const field = this.shadow.activeElement;
    return isText(field) && field.value !== this.view.format_value;
  }

  /**
   * What was typed; a sentence if it had to be another value. Bokeh's spinner would drop a number out of
   * bounds without a word.
   * @param {HTMLInputElement} field
   */
  clamp(field) {
    const given = field.value;
    const number = given.trim() === "" ? NaN : Number(given);
    const used = Number.isNaN(number) ? this.model[this.tag.property] : this.within(number);
    field.value = String(used);
    if (Number.isNaN(number) || number === used) return "";
    return (this.tag.clamped ?? "").replace("{given}", given).replace("{used}", String(used));
  }

  /** @param {number} value */
  within(value) {
    return Math.min(Math.max(value, Number(this.tag.low)), Number(this.tag.high));
  }

  focus() {
    const able = "[role=slider], select, input[type=text], input:checked, button";
    const element = this.shadow.querySelector(able);
    if (element instanceof HTMLElement) element.focus({ preventScroll: true });
  }

  /** Name it and say its value, also in its box. @param {Element | null} box the light DOM around it */
  dress(box) {
    const { label, option } = this.tag;
    const said = option === undefined ? "" : this.said(this.text);
    const output = box?.querySelector("output[data-value]") ?? null;
    if (output !== null && output.textContent !== said) {
      output.setAttribute("aria-live", "off"); // the control itself says its value
      output.textContent = said;
    }
    const handle = this.shadow.querySelector("[role=slider]");
    if (handle !== null) {
      set(handle, "aria-label", label);
      set(handle, "aria-valuetext", said);
      set(handle, "aria-disabled", String(this.model.disabled));
    }
    const group = this.shadow.querySelector(".bk-input-group:has(input[type=radio])");
    if (group !== null) {
      set(group, "role", "radiogroup");
      set(group, "aria-label", label);
    }
    const field = this.shadow.querySelector("select, input[type=text]");
    if (field !== null) set(field, "aria-label", label);
    if (isText(field)) this.dressNumber(field);
  }

  /**
   * Bokeh's spinner works as a spin button and has only to say so.
   * @param {HTMLInputElement} field
   */
  dressNumber(field) {
    set(field, "role", "spinbutton");
    set(field, "inputmode", "numeric");
    set(field, "autocomplete", "off");
    set(field, "aria-valuemin", this.tag.low);
    set(field, "aria-valuemax", this.tag.high);
    set(field, "aria-valuenow", String(this.model.value));
    // The steppers are for a mouse, as those of a browser's own number field: keys do the same.
    for (const stepper of this.shadow.querySelectorAll(".bk-spin-btn")) {
      set(stepper, "tabindex", "-1");
      set(stepper, "aria-hidden", "true");
      set(stepper, "type", "button");
    }
  }
}

window.normlabControl = controlOf;

/**
 * The control that a view draws, if it is one.
 * @param {any} view
 * @returns {Control | null}
 */
export function controlOf(view) {
  for (const tag of view.model.tags) {
    const said = unmapped(tag)?.normlab;
    if (said !== undefined) return new Control(said, view);
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
 * @param {string[]} values
 * @param {string} text
 * @returns {number} the place of the text, else of the nearest number; −1 when there is none
 */
function nearest(values, text) {
  const exact = values.indexOf(text);
  if (exact >= 0 || text === "" || !Number.isFinite(Number(text))) return exact;
  const distances = values.map((value) => Math.abs(Number(value) - Number(text)));
  return distances.indexOf(Math.min(...distances));
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
 * @param {unknown} element
 * @returns {element is HTMLInputElement}
 */
function isText(element) {
  return element instanceof HTMLInputElement && element.type === "text";
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
