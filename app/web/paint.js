/**
 * First paint, and what is painted when.
 *
 * Put together with what it imports, this is a classic deferred script that comes after BokehJS: it must work
 * from `file://`, where modules and `fetch` do not, and under a policy without inline scripts and `eval`. It
 * knows nothing of Python: the page's module (`page.js`) asks for a section by name and is handed a
 * `PaintedSection`, by which it sets the controls, applies patches, and hears what the reader does.
 *
 * Figures come first; what only controls need (BokehJS' widgets, controls.js) is run after the first of them
 * has been seen.
 */

import { isAlone } from "./alone.js";
import { ahead, documentOf, stock, unstock } from "./documents.js";
import { followScheme, followZoom } from "./figures.js";
import { loadWidgets } from "./load.js";
import { arrived, drawn, first, nextTask, pauses, restOfTask } from "./pace.js";
import { PaintedSection } from "./painted.js";
import { followPrinting } from "./paper.js";
import { freePlaces, holdPlaces } from "./places.js";

/** Sections are painted this long before they scroll into view. */
const NEAR = "800px 0px";

/** @type {Map<Element, Promise<PaintedSection>>} */
const paintings = new Map();
/** Sections are painted one by one, in tasks of their own: between them the page scrolls. @type {Promise<void>} */
let turn = Promise.resolve();

const near = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) paintSection(/** @type {HTMLElement} */ (entry.target)).catch(() => {});
    }
  },
  { rootMargin: NEAR },
);

window.normlab = { paint, scan, ahead, stock: stockAll, drawn, first };
scan();
if (asksForNothing()) paintFirst();
else arrived();
addEventListener("load", () => setTimeout(() => loadWidgets().catch(() => {}))); // if nothing is near yet
addEventListener("load", () => isAlone() && stockAll());
followScheme();
followPrinting(paintAll);
followZoom();

/**
 * The section's document, painted now if it was not yet.
 * @param {string} name
 * @returns {Promise<PaintedSection>}
 */
async function paint(name) {
  const section = document.querySelector(`section[data-experiment="${CSS.escape(name)}"]`);
  if (!(section instanceof HTMLElement)) throw new Error(`The page has no experiment "${name}".`);
  return paintSection(section);
}

/** Have the documents of all other sections come, once those that are near have been painted. */
async function stockAll() {
  /** @type {NodeListOf<HTMLElement>} */
  const sections = document.querySelectorAll("section[data-experiment]");
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))); // `near` has been heard
  for (const section of sections) {
    await turn;
    if (section.isConnected && !paintings.has(section)) await stock(section);
  }
}

/** Look for sections anew, after the page has exchanged its main part; let go of gone ones. */
function scan() {
  near.disconnect();
  unstock();
  for (const section of paintings.keys()) {
    if (!section.isConnected) {
      paintings.get(section)?.then((painted) => painted.dispose(), () => {});
      paintings.delete(section);
    }
  }
  for (const section of document.querySelectorAll("section[data-experiment]")) {
    if (paintings.has(section)) continue;
    near.observe(section);
    holdPlaces(section);
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

/** Paint them one by one, until all are painted that the page was to paint. @param {HTMLElement[]} sections */
function paintAll(sections) {
  for (const section of sections) paintSection(section).catch(() => {});
  return turn;
}

/**
 * @param {HTMLElement} section
 * @returns {Promise<PaintedSection>}
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
      freePlaces(section);
      console.error(`"${section.dataset.experiment}" could not be painted:`, error);
    });
  }
  return painting;
}

/**
 * @param {HTMLElement} section @param {import("./documents.js").Json} document
 * @returns {Promise<PaintedSection>}
 */
async function embedFirst(section, document) {
  if (window.Bokeh === undefined) throw new Error("BokehJS has not been loaded.");
  const script = section.querySelector("script[data-stored]");
  const stored = /** @type {import("./painted.js").Stored} */ ({ ...JSON.parse(script?.textContent ?? ""), document });
  const painted = new PaintedSection(section);
  try {
    await painted.embed(stored, pauses(), restOfTask);
  } catch (error) {
    painted.dispose();
    throw error;
  }
  if (section.isConnected) section.dataset.painted = "done";
  return painted;
}
