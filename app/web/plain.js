// The plain boot: Python starts, and what it imports is unpacked and imported part by part as it travels.
// It needs nothing but its files.

import { unzip } from "./unzip.js";
import { SITE_PACKAGES } from "./interpreter.js";

// As app/site/bundle.py names them.
const STDLIB = "stdlib.gz.bin";
/** Stored zips, for site-packages, in the order of their use; what can be imported once each is there. */
const ARCHIVES = {
  "numpy.gz.bin": "numpy",
  "app.gz.bin": "app.probes.sensitivity",
  "bokeh.gz.bin": "app.ui.figures",
  "panel.gz.bin": "app.live",
};
export const PLAIN = [STDLIB, ...Object.keys(ARCHIVES)];

/**
 * An interpreter with its standard library and nothing else.
 * @param {import("./interpreter.js").Interpreter} interpreter
 * @param {import("./download.js").Batch} batch  with the files of PLAIN
 * @param {Partial<import("./interpreter.js").Start>} [more]
 */
export function started(interpreter, batch, { options, answers, around } = {}) {
  return interpreter.start({
    options: options ?? {},
    answers: { "/python_stdlib.zip": () => batch.response(STDLIB), ...answers },
    around,
  });
}

/**
 * Imports what sessions need.
 * @param {any} pyodide @param {import("./download.js").Batch} batch
 * @returns {Promise<import("./boot.js").Live>}
 */
export async function imported(pyodide, batch) {
  // What an import makes stays: looking through it for garbage, again and again, costs a tenth of the time.
  const gc = pyodide.pyimport("gc");
  gc.disable();
  let last;
  await unpacked(pyodide, batch, (module) => (last = pyodide.pyimport(module)));
  gc.freeze();
  gc.enable();
  return /** @type {any} */ (last);
}

/**
 * Unpacks the archives as they come. In their order: files are numbered, and a snapshot's memory shall be
 * the same each time.
 * @param {any} pyodide @param {import("./download.js").Batch} batch
 * @param {(module: string) => void} [then]  told what can be imported
 */
export async function unpacked(pyodide, batch, then = () => {}) {
  const importlib = pyodide.pyimport("importlib");
  for (const [name, module] of Object.entries(ARCHIVES)) {
    unpack(pyodide.FS, await batch.bytes(name));
    importlib.invalidate_caches();
    then(module);
  }
  importlib.destroy();
}

/** Unpacks a stored zip to where Python imports from. @param {any} fs  Emscripten's file system @param {Uint8Array} zip */
export function unpack(fs, zip) {
  const made = new Set();
  for (const [path, content] of unzip(zip)) {
    const parent = SITE_PACKAGES + path.slice(0, path.lastIndexOf("/") + 1);
    if (!made.has(parent)) fs.mkdirTree(parent);
    made.add(parent);
    fs.writeFile(SITE_PACKAGES + path, content, { canOwn: true });
  }
}
