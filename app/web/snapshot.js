// The quick start: Python's memory as it was when everything had been imported, put back as it arrives.
//
// Pyodide can restore its memory, but not with extension modules: what their code is called by lies outside
// the memory, in a table. So NumPy's libraries are linked before Python starts, in one order, both where the
// snapshot is made (app/site/inside/snapshot.mjs) and here: then they come to lie at the same addresses and
// table slots. Emscripten does this for the names in its settings' `dynamicLibraries`; Pyodide has no option
// for it, but calls a global function with these settings, and that one is ours (interpreter.js).
//
// What the memory holds before Python's first instruction (the data of the WebAssembly files) would travel
// twice: there the snapshot holds the difference, and `base.sum` says whether it fits.

import { SITE_PACKAGES } from "./interpreter.js";
import { unpack } from "./plain.js";
import { unzip } from "./unzip.js";

const PLAN = "snapshot.json";
export const MEMORY = "snapshot.gz.bin";
const LIBRARIES = "native.gz.bin"; // a stored zip
const DATA = "data.gz.bin"; // a stored zip: files are no part of the memory
export const SNAPSHOT = [PLAN, MEMORY, LIBRARIES, DATA];

/**
 * What is to be known of a snapshot before it comes; app/site/inside/snapshot.mjs writes it.
 * @typedef {object} Plan
 * @property {string} build  what it was made from; the memory begins with the same words
 * @property {string[]} libraries  paths below site-packages, in their order
 * @property {string} head  base64: the loader's part of the snapshot
 * @property {number} memory  bytes that Python has to begin with
 * @property {number} length  bytes of it that are sent; the rest is zero
 * @property {{length: number, sum: number, volatile: [from: number, to: number][]}} base  the part that is
 *   sent as a difference, what it must be to, and where chance writes: there it counts as zero
 * @property {number} frozen  where the list of the garbage collector's frozen objects begins
 * @property {string} digits  what app/proof.py says when all is well
 */

/**
 * @param {import("./interpreter.js").Interpreter} interpreter
 * @param {import("./download.js").Batch} batch  with the files of SNAPSHOT
 * @returns {Promise<any>} Pyodide, with everything imported
 * @throws {Error} when the snapshot does not fit or does not work
 */
export async function restored(interpreter, batch) {
  /** @type {Plan} */
  const plan = await batch.response(PLAN).then((response) => response.json());
  // Both before Python starts: should one fail to come then, Emscripten would wait for it for ever.
  const libraries = new Map(unzip(await batch.bytes(LIBRARIES)));
  const data = await batch.bytes(DATA);
  const pyodide = await interpreter.start({
    options: {
      _loadSnapshot: decoded(plan.head),
      fsInit: async (/** @type {any} */ fs) => unpack(fs, data),
    },
    answers: { "/python_stdlib.zip": async () => new Response(), ...answersOf(plan.libraries, libraries) },
    around: async (settings, factory) => {
      link(settings, plan.libraries);
      settings.INITIAL_MEMORY = plan.memory;
      const module = await factory(settings);
      await fill(module.HEAPU8, plan, await batch.stream(MEMORY));
      unchain(module.HEAPU32, plan.frozen);
      return module;
    },
  });
  const digits = pyodide.pyimport("app.proof").digits();
  if (digits !== plan.digits) throw new Error(`Python computes ${digits} instead of ${plan.digits}`);
  return pyodide;
}

/** Has libraries linked before Python starts. @param {import("./interpreter.js").Module} settings @param {string[]} libraries */
export function link(settings, libraries) {
  // Under the very paths by which Python's import will ask for them.
  settings.dynamicLibraries = libraries.map((path) => SITE_PACKAGES + path);
  const { locateFile } = settings;
  settings.locateFile = (/** @type {string} */ path) =>
    settings.dynamicLibraries.includes(path) ? `native:${path}` : locateFile(path); // see answersOf
}

/** What Emscripten fetches for `link`. @param {string[]} paths @param {Map<string, Uint8Array>} files */
export function answersOf(paths, files) {
  const answer = (/** @type {string} */ path) => async () =>
    new Response(/** @type {Uint8Array<ArrayBuffer>} */ (files.get(path)));
  return Object.fromEntries(paths.map((path) => [SITE_PACKAGES + path, answer(path)]));
}

/**
 * Writes the snapshot into memory as it comes.
 * @param {Uint8Array} memory  as it is before Python's first instruction @param {Plan} plan
 * @param {ReadableStream<Uint8Array>} stream
 */
export async function fill(memory, { build, length, base }, stream) {
  for (const range of base.volatile) memory.fill(0, ...range);
  const sum = sumOf(memory, base.length);
  if (sum !== base.sum) throw new Error(`the memory to begin with is another one (${sum} instead of ${base.sum})`);
  let at = -build.length;
  let named = "";
  for await (let chunk of chunksOf(stream)) {
    if (at < 0) {
      named += String.fromCharCode(...chunk.subarray(0, -at));
      if (!build.startsWith(named)) throw new Error("the snapshot is of another build");
      const start = Math.min(-at, chunk.length);
      at += start;
      chunk = chunk.subarray(start);
    }
    if (at + chunk.length > length) throw new Error("the snapshot is too long");
    const difference = Math.max(0, Math.min(chunk.length, base.length - at));
    for (let i = 0; i < difference; i++) memory[at + i] ^= chunk[i];
    if (difference < chunk.length) memory.set(chunk.subarray(difference), at + difference);
    at += chunk.length;
  }
  if (at !== length) throw new Error(`the snapshot ends at ${at} instead of ${length}`);
}

/**
 * A stream's chunks. Streams are not iterable themselves before Chrome 124 and in many a Safari. As there,
 * whoever stops in the middle ends the stream, and with it the download.
 * @param {ReadableStream<Uint8Array>} stream
 */
async function* chunksOf(stream) {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}

/**
 * Links the garbage collector's frozen objects: each holds the distance to the next, and two bits of flags.
 * @param {Uint32Array} words @param {number} first  address of the first link, which is the lowest
 * @throws {Error} at a link that leads neither upwards nor, from the last, to the first: it might lead round for ever
 */
export function unchain(words, first) {
  const end = words.length * 4;
  let at = first;
  do {
    const next = (at + words[at >>> 2]) >>> 0;
    const isOn = next > at ? next < end : next === first && at !== first;
    if (!isOn) throw new Error(`the list of objects breaks off at ${at}`);
    words[at >>> 2] = next;
    words[(next >>> 2) + 1] |= at;
    at = next;
  } while (at !== first);
}

/** FNV-1a over words. @param {Uint8Array} memory @param {number} length  bytes, a multiple of four */
export function sumOf(memory, length) {
  const words = new Uint32Array(memory.buffer, memory.byteOffset, length / 4);
  let sum = 0x811c9dc5;
  for (let i = 0; i < words.length; i++) sum = Math.imul(sum ^ words[i], 0x01000193);
  return sum >>> 0;
}

/** @param {string} base64 */
function decoded(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}
