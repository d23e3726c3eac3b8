// Texts of the page's language, with their places filled.

/** @typedef {Record<string, string>} Strings */

/** One that the page brings with it. @param {string} key */
export function pageText(key) {
  const config = JSON.parse(document.getElementById("normlab-page")?.textContent ?? "{}");
  return /** @type {string} */ (config.strings?.[key] ?? key);
}

/**
 * @param {Strings} strings @param {string} key @param {Record<string, string>} [values]
 * @returns {string} the text, or the key itself where a text is missing: better than nothing at all
 */
export function say(strings, key, values = {}) {
  return (strings[key] ?? key).replace(/\{(\w+)\}/g, (place, name) => values[name] ?? place);
}

/** "11.3": megabytes as a reader is told them. @param {number} bytes */
export function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1);
}
