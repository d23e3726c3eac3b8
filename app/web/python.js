// Lets Python start as soon as the line is free for it: as an async module this runs before Bokeh's scripts do.

import { Client } from "./client.js";

/**
 * What the builder wrote into the page.
 * @typedef {object} Config
 * @property {string} version  of the numbers
 * @property {string} language
 * @property {string} runtime  address of the runtime's folder, relative to the page
 * @property {import("./protocol.js").RuntimeFile[]} files
 * @property {string} worker  address of the worker's script, relative to the page
 * @property {string} offline  the service worker's
 * @property {import("./words.js").Strings} strings
 * @property {import("./words.js").Strings} notices  what is said of a value that cannot be taken as it is
 * @property {import("./words.js").Strings} toolbar  its words
 */

const BIG = 50_000; // bytes of a file whose time tells of the line
const SLOW = 2_500; // bytes a millisecond
const UNSEEN = 2000; // milliseconds after which all goes on without it

const { worker: script, runtime, files } = /** @type {Config} */ (readConfig());
const [workerHref, runtimeHref] = [script, runtime].map((it) => new URL(it, document.baseURI).href); // other pages lie elsewhere

/** What begin.js has made, until it is taken over. */
let begun = window.normlabBegun;

export const client = new Client(
  (name) => {
    const worker = begun?.worker ?? new Worker(workerHref, { type: "module", name });
    begun = undefined;
    return worker;
  },
  { runtime: runtimeHref, files },
);

/** Whether this browser can run Python at all; where not, shell.js has said so. */
export const able = document.documentElement.dataset.tooOld === undefined;

if (able) {
  const { worker, fault } = begun ?? {};
  client.prepare();
  if (fault) worker?.dispatchEvent(new ErrorEvent("error", { message: fault.message })); // nobody listened
  else {
    const here = figuresAreHere();
    void here.then(() => isWhole() && isSlow() && client.fetch());
    void here.then(() => figureIs("drawn")).then(() => isWhole() && client.start(!isSlow())); // else it could only run in vain
  }
}

/** Of the page that is shown now; those around the lessons have none. @returns {Config | null} */
export function readConfig() {
  const text = document.getElementById("normlab-page")?.textContent;
  return text ? JSON.parse(text) : null;
}

/**
 * Once the first figure has been seen: until then, whatever else begins would only take the processor from it.
 * It may be long in coming, or nobody look at the page.
 * @returns {Promise<void>}
 */
export function oneIsSeen() {
  return figureIs("first");
}

/** @param {"drawn" | "first"} what  see pace.js */
async function figureIs(what) {
  const limit = new Promise((resolve) => setTimeout(resolve, UNSEEN));
  if (document.readyState === "loading") await new Promise((resolve) => addEventListener("DOMContentLoaded", resolve));
  await Promise.race([window.normlab?.[what], limit]);
}

/** Whether no script of the page has failed to come; shell.js tells. */
export function isWhole() {
  return document.documentElement.dataset.missing === undefined;
}

/**
 * Whether so much time goes by on the line that Python's files had better not wait for the first figure.
 * On a fast one they would only take the processor from it. The quickest of the page's files tells: what the
 * browser has kept says nothing, and a busy machine holds some of them up.
 */
function isSlow() {
  const entries = /** @type {PerformanceResourceTiming[]} */ (performance.getEntriesByType("resource"));
  const speeds = entries
    .filter(({ encodedBodySize, transferSize }) => encodedBodySize > BIG && transferSize > 0)
    .map(({ encodedBodySize, responseStart, responseEnd }) => encodedBodySize / (responseEnd - responseStart));
  return Math.max(...speeds) < SLOW;
}

/**
 * Once the scripts that paint the figures have come, or failed to: on a slow line Python's many bytes
 * must not hold them up. They need not have run yet.
 * @returns {Promise<void>}
 */
function figuresAreHere() {
  /** @type {NodeListOf<HTMLScriptElement>} */
  const scripts = document.querySelectorAll("script[defer]");
  /** @type {NodeListOf<HTMLLinkElement>} */
  const late = document.querySelectorAll("link[data-late]");
  const awaited = new Set([...[...scripts].map(({ src }) => src), ...[...late].map(({ href }) => href)]);
  return new Promise((resolve) => {
    if (document.readyState === "complete") resolve();
    addEventListener("DOMContentLoaded", () => resolve());
    addEventListener("load", () => resolve());
    new PerformanceObserver((list) => {
      for (const { name } of list.getEntries()) awaited.delete(name);
      if (awaited.size === 0) resolve();
    }).observe({ type: "resource", buffered: true });
  });
}
