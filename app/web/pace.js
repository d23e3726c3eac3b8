// The pace of the painting: where it pauses so that what is painted is seen, and the page can do something else.

/** Milliseconds of painting after which the page may do something else. */
const SLICE = 50;

/** Whether any figure has been seen on this page or on one before it. */
let begun = false;
/** The first figure has been seen, or there is none to see. */
export let arrived = () => {};
/** @type {Promise<void>} until then nothing else shall take the page's time */
export const first = new Promise((resolve) => (arrived = resolve));
/** The first figure has been drawn: that it is seen is left to the browser. */
let hasDrawn = () => {};
/** @type {Promise<void>} until then Python shall not take the processor */
export const drawn = new Promise((resolve) => (hasDrawn = resolve));
void first.then(hasDrawn);
/** Nothing waits for a better moment any longer. */
export let hurry = () => {};
/** @type {Promise<void>} until the page is printed */
let hurried = new Promise((resolve) => (hurry = resolve));

/** The page has been printed. */
export function takeTime() {
  hurried = new Promise((resolve) => (hurry = resolve));
}

/**
 * What a section's painting awaits before each of its parts: it pauses when the page has been busy for long, or
 * nobody has seen a figure on it yet, though there is one to see.
 * @returns {(shows: boolean) => Promise<void>}
 */
export function pauses() {
  let since = performance.now();
  return async (shows) => {
    if (begun ? performance.now() - since < SLICE : !shows) return;
    await (begun ? nextTask() : seen());
    begun = true;
    since = performance.now();
  };
}

/** @returns {Promise<void>} */
export function nextTask() {
  return Promise.race([hurried, new Promise((/** @type {(_: void) => void} */ resolve) => setTimeout(resolve))]);
}

/**
 * What is left to do, in a task of its own, ahead of all others: a figure in one task keeps the page from
 * answering for twice as long. Where a browser knows no such thing it goes on at once.
 * @returns {Promise<void>}
 */
export function restOfTask() {
  return Promise.race([hurried, /** @type {any} */ (window).scheduler?.yield?.()]);
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
