// One experiment's document as BokehJS paints it on the page. Several documents may hold equal ids; nothing here
// looks a model up except in its own document, and roots go to slots of their own section.

import { dressFigure, managers, viewOf } from "./figures.js";
import { loadWidgets } from "./load.js";
import { freePlace } from "./places.js";
import { Section } from "./section.js";

/**
 * @typedef {object} Stored  what the builder (or Python) hands over for one experiment
 * @property {any} document  Bokeh's JSON
 * @property {Record<string, string>} roots  slot → model id
 * @property {string} [digest]
 * @property {import("./protocol.js").State} [state]
 */

const nothing = async () => {};

export class PaintedSection extends Section {
  /** The Bokeh document that is embedded now. @type {any} */
  document = null;
  /** @type {any} */
  manager = null;
  /** Slot → model id. @type {Record<string, string>} */
  roots = {};
  /** The slot that had the keyboard, and nobody has it now. @type {string | undefined} */
  lost = undefined;

  /**
   * @param {Stored} stored
   * @param {(shows: boolean) => Promise<void>} [pause]  waited for before each of its parts; whether it shows any yet
   * @param {() => Promise<void>} [within]  and before a figure that has been built is drawn
   */
  async embed(stored, pause = nothing, within = nothing) {
    const { Document } = window.Bokeh.require("document");
    const { ViewManager } = window.Bokeh.require("core/view_manager");
    this.stored = stored.state ?? {};
    this.roots = stored.roots;
    this.picked = { ...this.stored, ...this.picked };
    const document = (this.document = Document.from_json({ ...stored.document, roots: [] }));
    const manager = (this.manager = document.views_manager = new ViewManager([], window.Bokeh.index));
    managers.add(manager);
    const slots = new Map(Object.entries(stored.roots).map(([slot, id]) => [id, slot]));
    const isFigure = (/** @type {{id: string}} */ { id }) => slots.get(id)?.startsWith("figure:");
    const figures = stored.document.roots.filter(isFigure);
    const controls = stored.document.roots.filter((/** @type {any} */ root) => !figures.includes(root));
    let shows = false;
    for (const root of figures) {
      await pause(shows);
      const slot = this.slot(slots.get(root.id) ?? "");
      const view = await this.add(root, slot, within);
      if (view === null) return;
      dressFigure(slot, view);
      shows = true;
    }
    await pause(shows);
    await loadWidgets().catch((fault) => {
      this.section.ownerDocument.dispatchEvent(new CustomEvent("normlab:missing", { detail: fault.cause }));
      throw fault;
    });
    for (const root of controls) {
      await pause(shows);
      inFull(root.attributes.stylesheets);
      const slot = this.slot(slots.get(root.id) ?? "");
      const view = await this.add(root, slot);
      if (view === null) return;
      const control = window.normlabControl(view);
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

  /** BokehJS' view of a figure. @param {string} slot */
  figure(slot) {
    return viewOf(this.manager, this.roots[`figure:${slot}`]);
  }

  /** Apply a Bokeh JSON patch; no handler hears of it. @param {string | object} patch */
  patch(patch) {
    const focused = this.focused() ?? (document.activeElement === document.body ? this.lost : undefined);
    this.quietly(() => {
      this.document.apply_json_patch(typeof patch === "string" ? JSON.parse(patch) : patch);
    });
    this.keepFocus(focused);
  }

  /** Embed another document in its place. @param {Stored} stored */
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

  dispose() {
    this.unwire();
    if (this.manager === null) return;
    managers.delete(this.manager);
    this.manager.clear();
    this.document.clear();
    const { documents } = window.Bokeh; // BokehJS keeps every document it ever made
    documents.splice(documents.indexOf(this.document), 1);
    this.manager = null;
  }

  /**
   * A part of the document, as it is stored, painted in its slot; null when its page has been left meanwhile.
   * @param {{id: string}} root @param {HTMLElement} slot @param {() => Promise<void>} [within]
   */
  async add(root, slot, within = nothing) {
    if (!this.section.isConnected) return null;
    this.document.apply_json_patch({ events: [{ kind: "RootAdded", model: root }] });
    const view = await this.manager.build_view(this.document.get_model_by_id(root.id));
    await within();
    if (!this.section.isConnected) return null;
    slot.replaceChildren();
    view.build(slot);
    return view;
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
}

/** The builder only names the sheets that are the same in every document. @param {string[]} [sheets] */
function inFull(sheets = []) {
  for (const [i, name] of sheets.entries()) sheets[i] = window.normlabSheets?.[name] ?? name;
}
