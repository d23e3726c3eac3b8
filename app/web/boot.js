// From nothing to a Python that can open sessions: restores a snapshot, or else boots plainly.

import { Downloads, FileError, baseOf, sizeOf } from "./download.js";
import { CORE, Interpreter } from "./interpreter.js";
import { PLAIN, imported, started } from "./plain.js";
import { MEMORY, SNAPSHOT, restored } from "./snapshot.js";

/**
 * @typedef {import("./protocol.js").RuntimeFile} RuntimeFile
 * @typedef {import("./protocol.js").Stage} Stage
 *
 * The functions of app/live.py that the worker calls.
 * @typedef {object} Sessions
 * @property {(session: string, experiment: string, language: string, state: string, digest: string, touched: string, post: (json: string) => void) => void} open
 * @property {(experiment: string, language: string) => void} ahead
 * @property {(session: string, message: string) => void} receive
 * @property {() => boolean} step
 *
 * @typedef {Sessions & {NUMPY: string}} Live  app/live.py
 * @typedef {{numpy: string, pyodide: string, boot: "snapshot" | "plain"}} Versions
 * used: addresses of the files that this start needed
 * @typedef {{pyodide: any, sessions: Sessions, versions: Versions, used: string[]}} Booted
 */

const STALL = 60_000; // a phone in a tunnel may well pause for half a minute
/** Milliseconds after which a wait for Python ends that has everything it needs. */
const PATIENCE = {
  start: 120_000, // loadPyodide never settles when its WebAssembly is damaged: someone has to end the wait
  restore: 30_000, // takes a second; after this long the plain boot is the better bet
};
const PACE = 500; // looked at so often, so that what comes in bursts counts as a line's speed
const SURELY = 2; // so many times in a row: a busy machine has its moments, too
const ENOUGH = 250_000; // bytes; those before them wait for answers more than they travel
const WORTH = 3_000; // a restore saves two seconds of computing, of a phone's more: that much longer it may load

/**
 * @param {{runtime: string, files: RuntimeFile[], fresh: boolean}} message
 * @param {(stage: Stage, loaded: number, total: number) => void} report
 * @param {{line: Promise<void>, processor: Promise<boolean>}} [free]  when they are, and whether the line is known
 *   to be fast; what the browser has kept is had before
 * @param {{start: number, restore: number}} [patiences]  in milliseconds
 * @returns {Promise<Booted>}
 * @throws {FileError} naming the file that is missing or damaged
 */
export async function boot({ runtime, files, fresh }, report, free, patiences = PATIENCE) {
  const named = (/** @type {string[]} */ names) => names.flatMap((it) => files.filter(({ name }) => baseOf(name) === it));
  const least = sizeOf(named([...CORE, ...PLAIN])); // told as wanted until it is known what is
  /** @type {Stage} */
  let stage = "download";
  /** @type {Stage} */
  let afterwards = "start";
  let arrived = () => {};
  let pace = () => {};
  const downloads = new Downloads(runtime, {
    fresh,
    stall: STALL,
    report: (loaded, begun) => {
      const total = Math.max(begun, least);
      if (stage === "download" && loaded >= total) {
        stage = afterwards;
        arrived(); // patience begins: not before, for a slow line may well take minutes
      }
      pace();
      report(stage, loaded, total);
    },
  });
  const enter = (/** @type {Stage} */ next) => report((stage = next), downloads.loaded, Math.max(downloads.total, least));

  const earlier = fresh ? null : await earlierBoot(downloads.base, named([MEMORY, ...PLAIN]));
  const isFirst = earlier === null;
  if (isFirst) await free?.line;
  const core = downloads.begin(named(CORE), { free: isFirst ? free?.processor : undefined });

  /** The line's speed, told by what every start needs: nothing has come in vain then. In bytes a millisecond. */
  const lineSpeed = (/** @type {number} */ enough) =>
    new Promise((/** @type {(speed: number) => void} */ resolve) => {
      let since = { time: 0, loaded: 0 };
      pace = () => {
        const [time, loaded] = [performance.now(), core.travelled];
        if (loaded < ENOUGH || since.time === 0) since = { time, loaded };
        const speed = (loaded - since.loaded) / Math.max(time - since.time, 1);
        if (core.left < ENOUGH || (loaded > 4 * ENOUGH && speed > enough)) resolve(speed);
      };
    });

  const enough = (sizeOf(named(SNAPSHOT)) - sizeOf(named(PLAIN))) / WORTH;
  const measured = lineSpeed(enough);
  const isFast = isFirst && (await free?.processor);
  const interpreter = new Interpreter(runtime, core);

  const restore = async () => {
    const wanted = named(SNAPSHOT);
    if (wanted.length < SNAPSHOT.length) throw new Error("this site has none");
    if (earlier === "plain") throw new Error("the browser has kept what it needs for that, and nothing else");
    const speed = earlier === "snapshot" || isFast ? Infinity : await Promise.race([measured, core.failed]);
    if (speed < enough) throw new Error(`the line brings no more than ${Math.round(speed)} kB/s`);
    const batch = downloads.begin(wanted);
    const patience = new Patience(patiences.restore);
    arrived = () => patience.begin();
    /** @type {Error | undefined} */
    let slow;
    let since = { time: 0, loaded: 0, times: 0 };
    pace = () => {
      const { loaded } = downloads;
      const time = performance.now();
      if (loaded < ENOUGH || since.time === 0) since = { time, loaded, times: 0 };
      if (time - since.time < PACE) return;
      const speed = (loaded - since.loaded) / (time - since.time);
      const isSlow = batch.left - sizeOf(named(PLAIN)) > WORTH * speed;
      since = { time, loaded, times: isSlow ? since.times + 1 : 0 };
      if (since.times < SURELY) return;
      slow ??= new Error(`the line brings no more than ${Math.round(speed)} kB/s`);
      batch.cancel();
    };
    enter("download");
    try {
      // Not `batch.failed`: what has begun must end before another start takes its place. It ends by itself.
      return await Promise.race([restored(interpreter, batch), core.failed, patience.ended]);
    } catch (fault) {
      const first = slow ?? batch.fault ?? fault;
      batch.cancel();
      throw first;
    } finally {
      patience.end();
      pace = () => {};
    }
  };
  const plain = async () => {
    const batch = downloads.begin(named(PLAIN), { inTurn: true });
    const patience = new Patience(patiences.start);
    arrived = () => patience.begin();
    enter("download");
    const whole = async () => {
      const pyodide = await started(interpreter, batch);
      arrived = () => {};
      patience.end();
      afterwards = "import";
      if (stage === "start") enter("import");
      return live(pyodide, await imported(pyodide, batch), "plain");
    };
    try {
      return await Promise.race([whole(), core.failed, batch.failed, patience.ended]);
    } finally {
      patience.end();
    }
  };
  const live = (/** @type {any} */ pyodide, /** @type {Live} */ sessions, /** @type {"snapshot" | "plain"} */ boot) => ({
    pyodide,
    sessions,
    versions: { numpy: sessions.NUMPY, pyodide: pyodide.version, boot },
    used: named([...CORE, ...(boot === "snapshot" ? SNAPSHOT : PLAIN)]).map(({ name }) => new URL(name, downloads.base).href),
  });

  try {
    const pyodide = await restore();
    return live(pyodide, pyodide.pyimport("app.live"), "snapshot");
  } catch (fault) {
    if (fault instanceof FileError && CORE.includes(fault.file)) throw fault; // the plain boot needs it as well
    console.info(`Python boots plainly, for its snapshot could not be restored: ${/** @type {Error} */ (fault).message}`);
  }
  return plain();
}

/**
 * How an earlier visit has booted, if the browser has kept what it needed for that: whatever the line, it is here.
 * @param {string} base @param {RuntimeFile[]} files  the one that comes last of a restore; all that the other way asks for
 * @returns {Promise<"snapshot" | "plain" | null>}
 */
async function earlierBoot(base, files) {
  const cache = /** @type {RequestCache} */ ("only-if-cached");
  const kept = await Promise.all(
    files.map(async ({ name }) => {
      const answer = await fetch(new URL(name, base), { cache, mode: "same-origin" }).catch(() => null);
      void answer?.body?.cancel();
      return answer !== null && answer.ok ? baseOf(name) : null;
    }),
  );
  if (kept.includes(MEMORY)) return "snapshot";
  return PLAIN.every((name) => kept.includes(name)) ? "plain" : null;
}

/** A wait that ends, with an error, some time after it has begun. */
class Patience {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #clock;
  /** @type {((fault: Error) => void) | undefined} */
  #reject;

  /** @param {number} milliseconds */
  constructor(milliseconds) {
    this.milliseconds = milliseconds;
    /** @type {Promise<never>} */
    this.ended = new Promise((_, reject) => (this.#reject = reject));
    this.ended.catch(() => {});
  }

  begin() {
    const error = new Error(`Python did not start within ${this.milliseconds / 1000} seconds`);
    this.#clock ??= setTimeout(() => this.#reject?.(error), this.milliseconds);
  }

  end() {
    clearTimeout(this.#clock);
  }
}
