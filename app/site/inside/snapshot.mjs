// Makes the memory snapshot that app/web/snapshot.js restores, with the product's own boot.
// Usage: node snapshot.mjs PLAN.json
// The plan: {folder (with the runtime's files), bytes, build, libraries, script (snapshot.py), modules, language, out}.
import { node } from "./worker.mjs";
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { keepProxies, steady, unsteady } from "./steady.mjs";
import { zeroFree } from "./zero.mjs";

const { Downloads } = await import("../../web/download.js");
const { CORE, Interpreter, SITE_PACKAGES } = await import("../../web/interpreter.js");
const { PLAIN, started, unpacked } = await import("../../web/plain.js");
const { answersOf, link, sumOf } = await import("../../web/snapshot.js");
const { unzip } = await import("../../web/unzip.js");

const PAGE = 65536; // WebAssembly's
const BLOCK = 256; // bytes
const LINKS = 8; // bytes before an object: CPython's PyGC_Head, _gc_next and _gc_prev
const FLAGS = 3; // in _gc_prev
const SPARE = 256; // pages that Python has to begin with, besides what it uses: growing costs time
const plan = JSON.parse(readFileSync(node.argv[2], "utf8"));
const runtime = pathToFileURL(`${plan.folder}/`).href;

keepProxies();
try {
  const { head, memory, length, size, frozen, base } = await make();
  const difference = memory.slice(0, length);
  for (let i = 0; i < base.memory.length; i++) difference[i] ^= base.memory[i];
  writeFileSync(`${plan.out}/memory`, Buffer.concat([Buffer.from(plan.build), difference]));
  const about = {
    build: plan.build,
    libraries: plan.libraries,
    head: head.toString("base64"),
    memory: size,
    length,
    frozen,
    base: { length: base.memory.length, sum: sumOf(base.memory, base.memory.length), volatile: base.volatile },
    digits: base.digits,
  };
  writeFileSync(`${plan.out}/about.json`, JSON.stringify(about));
} catch (error) {
  node.stderr.write(`${error.stack ?? error}\n`);
  node.exit(1);
}
node.exit(0);

async function make() {
  const downloads = new Downloads(runtime, { fresh: false, stall: 600_000, report: () => {} });
  const files = (names) => names.map((name) => ({ name, bytes: plan.bytes[name] }));
  const native = downloads.begin(files(["native.gz.bin"]));
  const libraries = new Map(unzip(await native.bytes("native.gz.bin")));
  const core = downloads.begin(files(CORE));
  core.failed.catch(fail);
  const interpreter = new Interpreter(runtime, core);
  const answers = answersOf(plan.libraries, libraries);
  const base = await before(interpreter, answers);
  steady();

  const batch = downloads.begin(files(PLAIN));
  batch.failed.catch(fail);
  const exports = exportsOf(() => true);
  const pyodide = await started(interpreter, batch, {
    options: { _makeSnapshot: true },
    answers,
    around: (settings, factory) => {
      link(settings, plan.libraries);
      return factory(settings);
    },
  });
  await unpacked(pyodide, batch);
  // They are linked already: import looks for the files, and would leave copies of them in the memory.
  for (const path of plan.libraries) pyodide.FS.writeFile(SITE_PACKAGES + path, new Uint8Array());
  // No more than that is given: paths of this machine must not stay in the memory.
  const globals = pyodide.toPy({ PLAN: JSON.stringify({ modules: plan.modules, language: plan.language }), __name__: "__main__" });
  base.digits = pyodide.runPython(readFileSync(plan.script, "utf8"), { globals });
  globals.destroy();
  const anObject = pyodide.runPython("import gc; gc.collect(); gc.freeze(); gc.enable(); id(gc.callbacks)");
  zeroFree(pyodide._module, exports());
  for (const name of Object.keys(pyodide.loadedPackages)) delete pyodide.loadedPackages[name];
  const whole = pyodide.makeMemorySnapshot();
  const start = new Uint32Array(whole.buffer)[1];
  const memory = whole.subarray(start);
  const frozen = chained(memory, anObject - LINKS);
  const words = new Uint32Array(memory.buffer, memory.byteOffset, memory.length >>> 2);
  const length = (words.findLastIndex((word) => word !== 0) + 1) * 4;
  const size = Math.ceil((exports().sbrk(0) >>> 0) / PAGE + SPARE) * PAGE;
  return { head: Buffer.from(whole.subarray(0, start)), memory, length, size, frozen, base };
}

/**
 * Puts the list of objects that the garbage collector no longer looks at into the order of their addresses,
 * and its links into few bytes: forward the distance to the next one, backward only the two bits of flags.
 * Where it begins; `unchain` in app/web/snapshot.js goes the way back.
 */
function chained(memory, link) {
  const words = new Uint32Array(memory.buffer, memory.byteOffset, memory.length >>> 2);
  const links = [];
  for (let at = link; at !== links[0]; at = words[at / 4]) links.push(at);
  links.sort((one, other) => one - other);
  links.forEach((at, i) => {
    const next = links[(i + 1) % links.length];
    words[at / 4] = next - at;
    words[at / 4 + 1] &= FLAGS;
  });
  return links[0];
}

/** The memory before Python's first instruction, as far as it is data of the WebAssembly files. */
async function before(interpreter, answers) {
  const memories = [];
  let stack;
  let end;
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = async (source, imports) => {
    const made = await instantiate(source, imports);
    const { emscripten_stack_get_end: low, emscripten_stack_get_base: high, sbrk } = (made.instance ?? made).exports;
    if (low) [stack, end] = [() => [low(), high()], () => sbrk(0) >>> 0];
    return made;
  };
  const enough = new Error("that is all");
  const around = async (settings, factory) => {
    link(settings, plan.libraries);
    settings.noInitialRun = true;
    memories.push((await factory(settings)).HEAPU8.slice(0, end()));
    throw enough;
  };
  const start = { options: {}, answers: { "/python_stdlib.zip": async () => new Response(), ...answers }, around };
  for (let time = 0; time < 3; time++) {
    unsteady(time);
    await interpreter.start(start).catch((fault) => {
      if (fault !== enough) throw fault;
    });
  }
  WebAssembly.instantiate = instantiate;
  const volatile = [...differences(memories), stack()];
  for (const range of volatile) memories[0].fill(0, ...range);
  return { memory: memories[0], volatile };
}

/** Ranges in which memories differ: whole blocks, for a word that chance or a clock writes may well be the same. */
function differences(memories) {
  const [one, two, three] = memories.map((memory) => new Uint32Array(memory.buffer));
  const blocks = new Set();
  for (let i = 0; i < one.length; i++) {
    if (one[i] !== two[i] || one[i] !== three[i]) blocks.add(Math.floor((i * 4) / BLOCK));
  }
  return [...blocks].map((block) => [block * BLOCK, (block + 1) * BLOCK]);
}

/** A function that gives the exports of the first instance that is made from now on: Pyodide's own. */
function exportsOf() {
  let found = null;
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = async (...given) => {
    const made = await instantiate(...given);
    const { exports } = made.instance ?? made;
    if (exports.malloc && exports.sbrk) found ??= exports;
    return made;
  };
  return () => found;
}

function fail(fault) {
  node.stderr.write(`${fault.stack ?? fault}\n`);
  node.exit(1);
}
