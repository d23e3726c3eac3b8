// The documents that sections are painted from: where they come from, and which are fetched ahead.

import { load } from "./load.js";

/** @typedef {Record<string, any>} Json */

/** Documents of a page that may come next, by address. @type {Map<string, Promise<Json>>} */
const coming = new Map();
/** Those of this page's sections that are far away, so that all can be painted when it is printed. @type {Map<string, Promise<Json>>} */
const stocked = new Map();

/**
 * A section's document is a file of its own, fetched when it is near: a script, for `file://` knows no other way.
 * @param {HTMLElement} section @returns {Promise<Json>}
 */
export function documentOf(section) {
  const address = addressOf(section);
  const here = coming.get(address) ?? stocked.get(address) ?? fetched(address);
  for (const kept of [coming, stocked]) kept.delete(address); // a document is changed as it is painted
  return here;
}

/** Have documents come that will be asked for soon, and no others any more. @param {string[]} addresses */
export function ahead(addresses) {
  for (const address of coming.keys()) if (!addresses.includes(address)) coming.delete(address);
  for (const address of addresses) if (!coming.has(address)) void keep(coming, address);
}

/** Have the document of a section that is far away come. @param {HTMLElement} section */
export async function stock(section) {
  const address = addressOf(section);
  if (!coming.has(address) && !stocked.has(address)) await keep(stocked, address);
}

/** Whether it has been asked for before it was needed. @param {HTMLElement} section */
export function isStocked(section) {
  return stocked.has(addressOf(section));
}

/** The page has exchanged its sections. */
export function unstock() {
  stocked.clear();
}

/** Until it is here, or has failed: who asks for it then has it tried again. @param {Map<string, Promise<Json>>} kept @param {string} address */
async function keep(kept, address) {
  const document = fetched(address, true);
  kept.set(address, document);
  await document.catch(() => kept.delete(address));
}

/** @param {HTMLElement} section */
function addressOf(section) {
  return new URL(section.dataset.document ?? "", document.baseURI).href;
}

/** @param {string} address @param {boolean} [ahead]  it holds up nothing else @returns {Promise<Json>} */
async function fetched(address, ahead) {
  const script = await load(address, ahead);
  script.remove();
  const document = /** @type {any} */ (script).holds;
  number(document, { id: 0 });
  return document;
}

/** The builder writes of a model's number how far it is from the one before. @param {any} node @param {{id: number}} last */
function number(node, last) {
  if (typeof node?.id === "number") node.id = `p${(last.id += node.id)}`;
  if (typeof node === "object" && node !== null) for (const each of Object.values(node)) number(each, last);
}
