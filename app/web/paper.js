// Printing. Paper is white and narrow, and holds all figures.

import { isStocked } from "./documents.js";
import { fit } from "./figures.js";
import { hurry } from "./pace.js";
import { pageText } from "./words.js";

const { dataset } = document.documentElement;

/**
 * The browser waits for no task, no frame and no line; but what hangs on promises alone is done before it goes on.
 * @param {(sections: HTMLElement[]) => Promise<void>} paintAll  those that are not painted yet
 */
export function followPrinting(paintAll) {
  addEventListener("beforeprint", () => {
    dataset.printing = dataset.paper = "";
    for (const slot of slots()) if (slot.childElementCount === 0) slot.textContent = pageText("unprinted");
    fit();
    hurry(true);
    // What is here first: one that is still to come holds up those behind it.
    const inOrder = sections().sort((one, other) => Number(isStocked(other)) - Number(isStocked(one)));
    void paintAll(inOrder).then(fit);
  });
  addEventListener("afterprint", screen);
  matchMedia("print").addEventListener("change", ({ matches }) => matches || screen()); // should the former not come
}

function screen() {
  if (dataset.paper === undefined) return;
  delete dataset.printing;
  delete dataset.paper;
  for (const slot of slots()) if (slot.childElementCount === 0) slot.textContent = "";
  hurry(false);
  fit();
}

function slots() {
  return sections().flatMap((it) => [.../** @type {NodeListOf<HTMLElement>} */ (it.querySelectorAll('[data-slot^="figure:"]'))]);
}

/** @returns {HTMLElement[]} */
function sections() {
  return [...document.querySelectorAll("section[data-experiment]:not([data-painted=failed])")].map((it) => /** @type {HTMLElement} */ (it));
}
