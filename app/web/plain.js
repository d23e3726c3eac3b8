// The plain boot: Python starts, unpacks its packages and imports them. It needs nothing but its files.

import { unzip } from "./unzip.js";
import { SITE_PACKAGES } from "./interpreter.js";

// As app/site/bundle.py names them.
const STDLIB = "stdlib.gz.bin";
const ARCHIVES = ["numpy.gz.bin", "packages.gz.bin", "app.gz.bin"]; // stored zips, for site-packages
export const PLAIN = [STDLIB, ...ARCHIVES];

/**
 * An interpreter with everything in its place and nothing imported yet.
 * @param {import("./interpreter.js").Interpreter} interpreter
 * @param {import("./download.js").Batch} batch  with the files of PLAIN
 * @param {Partial<import("./interpreter.js").Start>} [more]
 */
export function started(interpreter, batch, { options, answers, around } = {}) {
  return interpreter.start({
    options: { fsInit: (/** @type {any} */ fs) => unpacked(fs, ARCHIVES.map((name) => batch.bytes(name))), ...options },
    answers: { "/python_stdlib.zip": () => batch.response(STDLIB), ...answers },
    around,
  });
}

/** Imports what sessions need. @param {any} pyodide @returns {import("./boot.js").Live} */
export function imported(pyodide) {
  // What an import makes stays: looking through it for garbage, again and again, costs a tenth of the time.
  const gc = pyodide.pyimport("gc");
  gc.disable();
  const live = pyodide.pyimport("app.live");
  gc.freeze();
  gc.enable();
  return live;
}

/**
 * Unpacks stored zips to where Python imports from, before the interpreter starts, while its WebAssembly compiles.
 * @param {any} fs  Emscripten's file system @param {Promise<Uint8Array>[]} zips
 */
export async function unpacked(fs, zips) {
  const made = new Set();
  for (const zip of await Promise.all(zips)) {
    // In their order, not as they come: files are numbered, and a snapshot's memory shall be the same each time.
    for (const [path, content] of unzip(zip)) {
      const parent = SITE_PACKAGES + path.slice(0, path.lastIndexOf("/") + 1);
      if (!made.has(parent)) fs.mkdirTree(parent);
      made.add(parent);
      fs.writeFile(SITE_PACKAGES + path, content, { canOwn: true });
    }
  }
}
