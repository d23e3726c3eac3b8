// The figures on the page, as BokehJS draws them: each with a name, and all of them in the page's scheme and size.

import { calm } from "./calm.js";

/** @type {Set<any>} view managers of what is painted now */
export const managers = new Set();

/**
 * A figure is one picture with a name; what it shows stands beside it as a sentence and a table.
 * @param {HTMLElement} slot
 * @param {any} view
 */
export function dressFigure(slot, view) {
  if (!slot.hasAttribute("aria-label") && !slot.hasAttribute("aria-labelledby")) {
    const title = slot.closest("figure")?.querySelector("figcaption")
      ?? slot.closest("section")?.querySelector("h1, h2, h3, h4");
    slot.setAttribute("aria-label", title?.textContent?.trim() ?? slot.dataset.slot ?? "");
  }
  slot.setAttribute("role", "img");
  for (const canvas of view.views.query((/** @type {any} */ it) => it.model.type === "Canvas")) {
    canvas.events_el.removeAttribute("tabindex"); // no tool here listens to keys
  }
  calm(view);
}

/**
 * @param {any} manager
 * @param {string} id
 */
export function viewOf(manager, id) {
  return manager.roots.find((/** @type {any} */ view) => view.model.id === id);
}

/** Canvases hold the ink they were painted with: paint them again when the scheme changes. */
export function followScheme() {
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => repaint());
  new MutationObserver(() => repaint()).observe(document.documentElement, {
    attributeFilter: ["data-theme"],
  });
}

/** Figures take their places anew, now. */
export function fit() {
  for (const manager of managers) for (const view of manager.roots) view.after_resize?.();
  repaint(true);
}

/**
 * Each of BokehJS' figures listens for pinches, and never stops: every figure that ever was would be kept.
 * So none of them does, and one listener tells those that there are.
 */
export function followZoom() {
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
