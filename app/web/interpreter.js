// Pyodide's own parts, loaded once: its two scripts, its WebAssembly (compiled while it arrives), its lock.
// From them an interpreter can be started more than once: when a restore fails, the plain boot follows.

import { FileError, WASM } from "./download.js";

// As app/site/bundle.py names them.
const LOADER = "pyodide.js";
const FACTORY = "pyodide.asm.js"; // sets the function that the loader looks for
const LOCK = "lock.json";
export const CORE = [LOADER, FACTORY, LOCK, WASM];

/** The folder that Python imports packages from. */
export const SITE_PACKAGES = "/lib/python3.13/site-packages/";

const ENVIRONMENT = {
  PYTHONDONTWRITEBYTECODE: "1",
  PYTHONHASHSEED: "0",
  LANG: "C.UTF-8", // else the reader's language would stand in Python's environment
  BOKEH_RESOURCES: "server", // Panel and Bokeh read it at import; else style sheets have their CDN's address
};

/**
 * @typedef {Record<string, any>} Module  Emscripten's
 * @typedef {(settings: Module) => Promise<Module>} Factory
 *
 * @typedef {object} Start  how an interpreter is to be started
 * @property {Record<string, unknown>} options  for loadPyodide
 * @property {Record<string, () => Promise<Response>>} answers  to what Pyodide fetches, by the address's end
 * @property {(settings: Module, factory: Factory) => Promise<Module>} [around]  runs in place of the factory
 */

const globals = /** @type {{_createPyodideModule: Factory, fetch: typeof fetch}} */ (/** @type {unknown} */ (globalThis));
const { fetch } = globalThis;
const { instantiateStreaming: theirs } = WebAssembly;
/** Pyodide's own. @type {Factory} */
let factory;

/** `fetch`, with answers of our own. @param {Start["answers"]} answers @returns {typeof fetch} */
function answering(answers) {
  return (input, init) => {
    const address = input instanceof Request ? input.url : String(input);
    if (address.endsWith("/pyodide.asm.wasm")) return Promise.resolve(new Response()); // compiled already
    const found = Object.keys(answers).find((end) => address.endsWith(end));
    return found === undefined ? fetch(input, init) : answers[found]();
  };
}

export class Interpreter {
  /**
   * @param {string} runtime  address of the runtime's folder
   * @param {import("./download.js").Batch} core
   */
  constructor(runtime, core) {
    this.runtime = runtime;
    this.core = core;
    this.scripts = Promise.all([this.#script(LOADER), this.#script(FACTORY)]);
    this.lock = core.response(LOCK).then((response) => response.json());
    this.webAssembly = core
      .response(WASM, "application/wasm")
      .then((response) => WebAssembly.compileStreaming(response))
      .catch((fault) => {
        // Pyodide would only print this and then never settle.
        const error = fault instanceof FileError ? fault : new FileError(WASM, `is damaged (${fault.message})`);
        core.fail?.(error);
        throw error;
      });
    for (const part of [this.scripts, this.lock, this.webAssembly]) part.catch(() => {}); // `start` waits for them
  }

  /**
   * Pyodide asks globals for what it needs; they are ours until it has started. Should a start be given up
   * and another one begun, the newer one's globals stand.
   * @param {Start} start
   * @returns {Promise<any>} Pyodide
   */
  async start({ options, answers, around = (settings, factory) => factory(settings) }) {
    const [[{ loadPyodide }], lock] = await Promise.all([this.scripts, this.lock]);
    factory ??= globals._createPyodideModule;
    const ours = {
      _createPyodideModule: (/** @type {Module} */ settings) => around(settings, factory),
      fetch: answering(answers),
    };
    Object.assign(globals, ours);
    const instantiateStreaming = async (/** @type {unknown} */ _, /** @type {WebAssembly.Imports | undefined} */ imports) => {
      const module = await this.webAssembly;
      return { module, instance: await WebAssembly.instantiate(module, imports) };
    };
    WebAssembly.instantiateStreaming = instantiateStreaming;
    try {
      return await loadPyodide({
        indexURL: this.runtime,
        packageBaseUrl: this.runtime, // else its CDN's address would stand there, though nothing is loaded from it
        lockFileContents: lock,
        env: { ...ENVIRONMENT },
        ...options,
      });
    } finally {
      if (globals.fetch === ours.fetch) {
        Object.assign(globals, { fetch, _createPyodideModule: factory });
        WebAssembly.instantiateStreaming = theirs;
      }
    }
  }

  /**
   * A script that the browser must load itself (no script may be made from bytes under a strict policy).
   * @param {string} name
   */
  #script(name) {
    const address = new URL(name, this.runtime);
    const { fresh } = this.core.downloads;
    if (fresh) address.searchParams.set("again", String(Date.now())); // an import has no cache option
    return this.core.loaded(name, import(address.href));
  }
}
