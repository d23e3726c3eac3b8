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
/** The page is being printed. */
let hurried = false;
/** Ends each of the pauses that there are. @type {Set<() => void>} */
const pausing = new Set();

/** While `on`, nothing waits for a better moment. @param {boolean} on */
export function hurry(on) {
  hurried = on;
  if (on) for (const end of pausing) end();
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

export function nextTask() {
  return unlessHurried((end) => setTimeout(end));
}

/**
 * What is left to do, in a task of its own, ahead of all others: a figure in one task keeps the page from
 * answering for twice as long. Where a browser knows no such thing it goes on at once.
 */
export function restOfTask() {
  return unlessHurried((end) => void Promise.resolve(/** @type {any} */ (window).scheduler?.yield?.()).then(end));
}

/** Until what was painted has been seen, if anybody looks. */
async function seen() {
  hasDrawn();
  await unlessHurried((end) => {
    requestAnimationFrame(() => setTimeout(end));
    setTimeout(end, 100); // no frame comes in a hidden tab
  });
  arrived();
}

/**
 * Until what `begin` begins ends it, or the page is printed.
 * @param {(end: () => void) => void} begin
 * @returns {Promise<void>}
 */
function unlessHurried(begin) {
  return new Promise((resolve) => {
    if (hurried) return resolve();
    const end = () => {
      pausing.delete(end);
      resolve();
    };
    pausing.add(end);
    begin(end);
  });
}
