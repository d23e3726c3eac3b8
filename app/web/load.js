// Scripts that the page runs only once it needs them.

/** What the page only fetches ahead; the page's address may change. @type {string[]} */
const late = [...document.querySelectorAll("link[data-late]")].map((link) => /** @type {HTMLLinkElement} */ (link).href);
/** The scripts for controls, once they are asked for. @type {Promise<unknown> | null} */
let widgets = null;

export function loadWidgets() {
  widgets ??= Promise.all(late.map((address) => load(address)));
  widgets.catch(() => (widgets = null));
  return widgets;
}

/** A line may fail once. @param {string} address */
export function load(address, async = false) {
  return run(address, async).catch(() => run(address, async));
}

/**
 * Scripts run in the order in which they are asked for, or as they come.
 * @param {string} address @param {boolean} async @returns {Promise<HTMLScriptElement>}
 */
function run(address, async) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.async = async;
    script.onload = () => resolve(script);
    script.onerror = () => reject(new Error(`${address} could not be loaded.`, { cause: address }));
    document.head.append(script);
  });
}
