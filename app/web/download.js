// The runtime's files: fetched together or in turn, unpacked while they arrive, counted and checked.

/**
 * @typedef {import("./protocol.js").RuntimeFile} RuntimeFile
 *
 * How files are fetched.
 * @typedef {object} Manner
 * @property {Promise<unknown>} [free]  when the processor is; until then packed ones are not unpacked
 * @property {boolean} [inTurn]  each begins when of the one before little is left, so that it is here the sooner
 */

const PACKED = ".gz.bin"; // a neutral name: neither servers nor filters do anything of their own to it
export const WASM = `python${PACKED}`;
export const LITTLE = 200_000; // bytes; so much that the next file's first ones are on their way when they end
const SCRIPT = ".js"; // what only the browser itself can load

/** A runtime file that is missing, cut off or damaged; says which. */
export class FileError extends Error {
  /** @param {string} file @param {string} fault */
  constructor(file, fault) {
    super(`${file}: ${fault}`);
    this.name = "FileError";
    this.file = file;
  }
}

/** A file's own name: a snapshot lies in the folder of its language. @param {string} name */
export function baseOf(name) {
  return name.slice(name.lastIndexOf("/") + 1);
}

/** @param {RuntimeFile[]} files */
export function sizeOf(files) {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** What a boot downloads: batches of files, their bytes counted together. */
export class Downloads {
  loaded = 0;
  total = 0;
  /** @type {Set<() => void>} */
  #watched = new Set();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #clock;

  /**
   * @param {string} base  address of the runtime's folder
   * @param {{fresh: boolean, stall: number, report: (loaded: number, total: number) => void}} options
   *   stall: milliseconds without a byte, of whatever file, after which the wait ends
   */
  constructor(base, { fresh, stall, report }) {
    this.base = base;
    this.fresh = fresh;
    this.stall = stall;
    this.report = report;
  }

  /** Begins to fetch these files. @param {RuntimeFile[]} files @param {Manner} [manner] */
  begin(files, manner) {
    this.total += sizeOf(files);
    return new Batch(this, files, manner);
  }

  /** Adds to what has arrived. @param {number} bytes */
  count(bytes) {
    this.loaded += bytes;
    this.#wind();
    this.report(this.loaded, this.total);
  }

  /**
   * Waits for a file, from when it is asked for. All share one clock, as they share the line: on a slow one
   * a file may well get nothing, not even an answer, until another is through.
   * @param {() => void} stalled  called when nothing comes any more
   * @returns {() => void} ends the wait
   */
  watch(stalled) {
    this.#watched.add(stalled);
    this.#wind();
    return () => {
      this.#watched.delete(stalled);
      if (this.#watched.size === 0) clearTimeout(this.#clock);
    };
  }

  #wind() {
    clearTimeout(this.#clock);
    if (this.#watched.size === 0) return;
    this.#clock = setTimeout(() => [...this.#watched].forEach((stalled) => stalled()), this.stall);
  }
}

/**
 * Files that are of use only together; packed ones are unpacked on the way. `failed` never resolves;
 * it rejects at the first file that is missing, cut off, damaged, or has stalled.
 */
export class Batch {
  #loaded = 0;
  travelled = 0; // bytes, of packed files alone: scripts count as unpacked, and all at once
  /** What went wrong first: who reads the content may hear only that it cannot be had. @type {unknown} */
  fault;
  #cancelled = false;
  #ended = new AbortController();

  /** @param {Downloads} downloads @param {RuntimeFile[]} files @param {Manner} [manner] */
  constructor(downloads, files, { free, inTurn } = {}) {
    this.downloads = downloads;
    this.files = files;
    this.free = free;
    /** @type {Map<string, Promise<ReadableStream<Uint8Array>>>} */
    this.bodies = new Map();
    /** @type {Promise<never>} */
    this.failed = new Promise((_, reject) => {
      this.fail = (/** @type {unknown} */ fault) => {
        this.fault ??= fault;
        reject(fault);
      };
    });
    this.failed.catch(() => {}); // whoever waits for it sees it; nobody else has to
    let turn = Promise.resolve();
    for (const file of files.filter(({ name }) => !name.endsWith(SCRIPT))) {
      let next = () => {};
      const body = turn.then(() => this.#fetch(new URL(file.name, downloads.base), file, next));
      if (inTurn) turn = new Promise((resolve) => (next = resolve));
      body.catch(this.fail);
      this.bodies.set(baseOf(file.name), body);
    }
  }

  /**
   * Waits for a file that the browser loads by itself (a script), and counts it.
   * @template T
   * @param {string} name @param {Promise<T>} loading
   * @returns {Promise<T>}
   */
  async loaded(name, loading) {
    const file = this.files.find((file) => file.name === name) ?? { name, bytes: 0 };
    let end = () => {};
    /** @type {Promise<never>} */
    const stalled = new Promise((_, reject) => (end = this.downloads.watch(() => reject(this.#stall(file)))));
    const named = loading.catch((fault) => {
      throw this.#failure(file, `could not be loaded (${fault.message})`);
    });
    const script = await Promise.race([named, stalled]).finally(end);
    this.#count(file.bytes);
    return script;
  }

  /** Bytes that have not arrived yet. */
  get left() {
    return sizeOf(this.files) - this.#loaded;
  }

  /** Ends what is still under way and wants it no more. */
  cancel() {
    if (this.#cancelled) return;
    this.#cancelled = true;
    this.#ended.abort();
    this.downloads.total -= this.left;
  }

  /** A file's content as it comes, once. @param {string} name */
  async stream(name) {
    const body = this.bodies.get(name);
    if (!body) throw new FileError(name, "is not in the page's list of runtime files");
    return body;
  }

  /** A file's content, once. @param {string} name @param {string} [type] @returns {Promise<Response>} */
  async response(name, type = "application/octet-stream") {
    return new Response(await this.stream(name), { headers: { "Content-Type": type } });
  }

  /** @param {string} name */
  async bytes(name) {
    return new Uint8Array(await (await this.response(name)).arrayBuffer());
  }

  /** @param {URL} address @param {RuntimeFile} file @param {() => void} next  called when little of it is left */
  async #fetch(address, file, next) {
    const cache = this.downloads.fresh ? "reload" : "default";
    const { signal } = this.#ended;
    const end = this.downloads.watch(() => this.#ended.abort(this.#stall(file)));
    signal.addEventListener("abort", end);
    const response = await fetch(address, { cache, signal }).catch((fault) => {
      end();
      throw fault instanceof FileError ? fault : new FileError(file.name, `could not be fetched (${fault.message})`);
    });
    if (!response.ok || !response.body) {
      end();
      throw new FileError(file.name, `is missing (${response.status})`);
    }
    const isLoose = response.headers.get("Content-Encoding") === "br";
    const share = isLoose ? file.bytes / (file.loose ?? file.bytes) : 1;
    const counted = response.body.pipeThrough(this.#counted(file, share, next, end));
    const unpacked = file.name.endsWith(PACKED)
      ? counted.pipeThrough(this.#waiting()).pipeThrough(/** @type {TransformStream<Uint8Array, Uint8Array>} */ (new DecompressionStream("gzip")))
      : counted;
    return unpacked.pipeThrough(this.#checked(file));
  }

  /**
   * Counts bytes as they travel and sees that all come: as many as were packed, or as were once a
   * host had undone its own compression.
   * @param {RuntimeFile} file @param {number} share  of a byte that travels for each that arrives
   * @param {() => void} next
   * @param {() => void} end  called when all has come
   */
  #counted(file, share, next, end) {
    let arrived = 0;
    let counted = 0;
    /** @type {TransformStream<Uint8Array, Uint8Array>} */
    const stream = new TransformStream({
      transform: (chunk, controller) => {
        arrived += chunk.length;
        const now = Math.min(Math.round(arrived * share), file.bytes);
        this.travelled += now - counted;
        this.#count(now - counted);
        counted = now;
        if (file.bytes - counted < LITTLE) next();
        controller.enqueue(chunk);
      },
      flush: () => {
        end();
        if (arrived !== file.bytes && arrived !== file.loose) throw this.#failure(file, `has ${arrived} bytes instead of ${file.bytes}`);
        next();
        this.#count(file.bytes - counted); // a host may have put brotli around the pack as it is, too
      },
    });
    return stream;
  }

  /** Keeps what arrives until the processor is free to unpack it; the line does not stand still meanwhile. */
  #waiting() {
    /** @type {Transformer<Uint8Array, Uint8Array>} */
    const waiter = { start: async () => void (await this.free), transform: (chunk, controller) => controller.enqueue(chunk) };
    return new TransformStream(waiter, { highWaterMark: Infinity });
  }

  /**
   * Passes on what unpacking gives. A damaged pack errs inside the browser's own stream and would reach
   * the consumer as a nameless TypeError (Pyodide even drops it), so it is caught and named here.
   * @param {RuntimeFile} file
   * @returns {{readable: ReadableStream<Uint8Array>, writable: WritableStream<Uint8Array>}}
   */
  #checked(file) {
    /** @type {ReadableStreamDefaultController<Uint8Array>} */
    let out;
    const readable = new ReadableStream({ start: (controller) => void (out = controller) });
    let first = file.name === WASM;
    const writable = new WritableStream({
      write: (chunk) => {
        if (first && !isWasm(chunk)) throw this.#failure(file, "is not WebAssembly");
        first = false;
        out.enqueue(chunk);
      },
      close: () => out.close(),
      abort: (fault) => out.error(this.#failure(file, `is damaged (${fault?.message ?? fault})`)),
    });
    return { readable, writable };
  }

  /** @param {RuntimeFile} file @param {string} fault */
  #failure(file, fault) {
    const error = new FileError(file.name, fault);
    this.fail?.(error);
    return error;
  }

  /** @param {RuntimeFile} file */
  #stall(file) {
    return this.#failure(file, `sent nothing for ${this.downloads.stall / 1000} seconds`);
  }

  /** @param {number} bytes */
  #count(bytes) {
    this.#loaded += bytes;
    this.downloads.count(bytes);
  }
}

/** @param {Uint8Array} bytes */
function isWasm(bytes) {
  return bytes[0] === 0x00 && bytes[1] === 0x61 && bytes[2] === 0x73 && bytes[3] === 0x6d;
}
