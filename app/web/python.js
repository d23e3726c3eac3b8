// Starts Python before anything else: as an async module this runs while Bokeh's scripts are still on their way.

import { Client } from "./client.js";

/**
 * What the builder wrote into the page.
 * @typedef {object} Config
 * @property {string} version  of the numbers
 * @property {string} language
 * @property {string} runtime  address of the runtime's folder, relative to the page
 * @property {import("./protocol.js").RuntimeFile[]} files
 * @property {string} worker  address of the worker's script, relative to the page
 * @property {import("./words.js").Strings} strings
 */

/** @type {Config} */
export const config = JSON.parse(document.getElementById("normlab-page")?.textContent ?? "{}");

export const client = new Client(
  () => new Worker(new URL(config.worker, document.baseURI), { type: "module" }),
  { runtime: new URL(config.runtime, document.baseURI).href, files: config.files },
);

/** Whether this browser can run Python at all; where not, shell.js has said so. */
export const able = document.documentElement.dataset.tooOld === undefined;

if (able) client.start();
