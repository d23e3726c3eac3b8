// From nothing to a Python that can open sessions: one function, so that another way of booting
// (restoring a snapshot) can take its place.

import { Downloads, FileError, WASM } from "./download.js";
import { unzip } from "./unzip.js";

/**
 * @typedef {import("./protocol.js").RuntimeFile} RuntimeFile
 * @typedef {import("./protocol.js").Stage} Stage
 *
 * The functions of app/live.py that the worker calls.
 * @typedef {object} Sessions
 * @property {(session: string, experiment: string, language: string, state: string, digest: string, touched: string, post: (json: string) => void) => void} open
 * @property {(session: string, message: string) => void} receive
 * @property {() => boolean} step
 *
 * @typedef {{sessions: Sessions, versions: {numpy: string, pyodide: string, boot: string}}} Booted
 */

// The runtime's files, as app/site/bundle.py makes them.
const LOADER = "pyodide.js";
const FACTORY = "pyodide.asm.js"; // sets the function that the loader looks for
const LOCK = "lock.json";
const STDLIB = "stdlib.gz.bin";
const ARCHIVES = ["numpy.gz.bin", "packages.gz.bin", "app.gz.bin"]; // stored zips, for site-packages
const WANTED = [LOADER, FACTORY, LOCK, WASM, STDLIB, ...ARCHIVES];

const STALL = 60_000; // a phone in a tunnel may well pause for half a minute
const START = 120_000; // loadPyodide never settles when its WebAssembly is damaged: someone has to end the wait

/**
 * @param {{runtime: string, files: RuntimeFile[], fresh: boolean}} message
 * @param {(stage: Stage, loaded: number, total: number) => void} report
 * @returns {Promise<Booted>}
 * @throws {FileError} naming the file that is missing or damaged
 */
export async function boot({ runtime, files, fresh }, report) {
  /** @type {Stage} */
  let stage = "download";
  const patience = new Patience(START);
  const wanted = files.filter(({ name }) => WANTED.includes(name));
  const downloads = new Downloads(runtime, wanted, {
    fresh,
    stall: STALL,
    report: (loaded, total) => {
      if (stage === "download" && loaded >= total) {
        stage = "start";
        patience.begin(); // not before: a slow line may well take minutes
      }
      report(stage, loaded, total);
    },
  });
  const enter = (/** @type {Stage} */ next) => report((stage = next), downloads.loaded, downloads.total);
  enter("download");

  const start = async () => {
    const [{ loadPyodide }, lock] = await Promise.all([
      script(runtime, LOADER, files, downloads, fresh),
      downloads.response(LOCK).then((response) => response.json()),
      script(runtime, FACTORY, files, downloads, fresh),
    ]);
    const pyodide = await answeringFetches(downloads, () =>
      loadPyodide({
        indexURL: runtime,
        packageBaseUrl: runtime, // else its CDN's address would stand there, though nothing is loaded from it
        lockFileContents: lock,
        fsInit: (/** @type {any} */ fs, /** @type {{sitePackages: string}} */ { sitePackages }) =>
          installed(fs, sitePackages, downloads),
        env: { PYTHONDONTWRITEBYTECODE: "1", PYTHONHASHSEED: "0", ...NO_FOREIGN_RESOURCES },
      }),
    );
    enter("import");
    // What an import makes stays: looking through it for garbage, again and again, costs a tenth of the time.
    const gc = pyodide.pyimport("gc");
    gc.disable();
    const live = pyodide.pyimport("app.live");
    gc.freeze();
    gc.enable();
    return { sessions: live, versions: { numpy: live.NUMPY, pyodide: pyodide.version, boot: "plain" } };
  };
  return Promise.race([start(), downloads.failed, patience.ended]);
}

/** Panel and Bokeh read these at import; without them they name style sheets by their CDN's address. */
const NO_FOREIGN_RESOURCES = { BOKEH_RESOURCES: "server" };

/**
 * A script that the browser must load itself (no script may be made from bytes under a strict policy).
 * @param {string} base @param {string} name @param {RuntimeFile[]} files @param {Downloads} downloads
 * @param {boolean} fresh
 */
async function script(base, name, files, downloads, fresh) {
  const address = new URL(name, base);
  if (fresh) address.searchParams.set("again", String(Date.now())); // an import has no cache option
  const module = await import(address.href).catch((fault) => {
    const error = new FileError(name, `could not be loaded (${fault.message})`);
    downloads.fail?.(error);
    throw error;
  });
  downloads.count(files.find((file) => file.name === name)?.bytes ?? 0);
  return module;
}

/**
 * Runs `work` while what Pyodide itself would fetch is answered from the downloads.
 * @template T @param {Downloads} downloads @param {() => Promise<T>} work
 */
async function answeringFetches(downloads, work) {
  const { fetch } = globalThis;
  const { instantiateStreaming } = WebAssembly;
  WebAssembly.instantiateStreaming = (source, imports) =>
    instantiateStreaming(source, imports).catch((fault) => {
      // Pyodide only prints this and then never settles.
      const error = new FileError(WASM, `is damaged (${fault.message})`);
      downloads.fail?.(error);
      throw error;
    });
  globalThis.fetch = (input, init) => {
    const address = input instanceof Request ? input.url : String(input);
    if (address.endsWith("/pyodide.asm.wasm")) return downloads.response(WASM, "application/wasm");
    if (address.endsWith("/python_stdlib.zip")) return downloads.response(STDLIB);
    return fetch(input, init);
  };
  try {
    return await work();
  } finally {
    globalThis.fetch = fetch;
    WebAssembly.instantiateStreaming = instantiateStreaming;
  }
}

/**
 * Unpacks NumPy and the application before the interpreter starts, while its WebAssembly compiles.
 * @param {any} fs  Emscripten's file system @param {string} folder @param {Downloads} downloads
 */
async function installed(fs, folder, downloads) {
  const made = new Set();
  await Promise.all(
    ARCHIVES.map(async (name) => {
      for (const [path, content] of unzip(await downloads.bytes(name))) {
        const parent = `${folder}/${path.slice(0, path.lastIndexOf("/") + 1)}`;
        if (!made.has(parent)) fs.mkdirTree(parent);
        made.add(parent);
        fs.writeFile(`${folder}/${path}`, content, { canOwn: true });
      }
    }),
  );
}

/** A wait that ends, with an error, some time after it has begun. */
class Patience {
  /** @param {number} milliseconds */
  constructor(milliseconds) {
    this.milliseconds = milliseconds;
    /** @type {Promise<never>} */
    this.ended = new Promise((_, reject) => (this.end = reject));
  }

  begin() {
    const error = new Error(`Python did not start within ${this.milliseconds / 1000} seconds`);
    setTimeout(() => this.end?.(error), this.milliseconds);
  }
}
