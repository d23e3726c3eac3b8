// The messages between the page and the worker: one table of shapes, checked on both sides.
// A message of another shape is dropped with a warning: neither side may fall over the other's mistake.

/**
 * @typedef {{name: string, bytes: number, loose?: number}} RuntimeFile  bytes: as they travel (packed);
 *   loose: as they are once a host's own compression is undone, where a host has it (app/site/brotli.py)
 * @typedef {Record<string, string>} State  option name → canonical text
 * @typedef {[model: string, name: string]} Property  of a model in a document
 *
 * @typedef {{type: "boot", runtime: string, files: RuntimeFile[], fresh: boolean}} Boot
 *   what the worker is to start, as JSON its name. fresh: past what the browser has stored (after a damaged file)
 * @typedef {{type: "fetch"}} Fetch  the line is free for Python's files
 * @typedef {{type: "go", fast: boolean}} Go  the processor is free for them as well, and somebody listens.
 *   fast: the page's own files came so quickly that the line's speed need not be measured
 * @typedef {{type: "open", session: string, experiment: string, language: string, state: State, digest: string, touched: Property[]}} Open
 *   digest: the painted document's; with another one the worker sends its own document along.
 *   touched: what in it is not as built
 * @typedef {{type: "ahead", experiment: string, language: string}} Ahead  it may soon be opened
 * @typedef {{type: "hold", milliseconds: number}} Hold  compute nothing for so long, for the page has much to do; 0: go on
 * @typedef {{type: "set", session: string, seq: number, state: State}} Set
 * @typedef {{type: "press", session: string, seq: number, action: string}} Press
 * @typedef {{type: "close", session: string}} Close
 * @typedef {{type: "export", session: string}} Export
 * @typedef {Boot | Fetch | Go | Open | Ahead | Hold | Set | Press | Close | Export} ToWorker
 *
 * @typedef {{type: "progress", stage: Stage, loaded: number, total: number}} Progress  in bytes
 * @typedef {"download" | "start" | "import"} Stage
 * @typedef {{type: "live", numpy: string, pyodide: string, boot: string, used: string[]}} Live
 *   used: addresses of the files that the start has fetched
 * @typedef {{type: "opened", session: string, digest: string, state: State, stored: string | null}} Opened
 *   stored: JSON of {document, roots, digest, touched}, when the digests differ
 * @typedef {{type: "patch", session: string, patch: string}} Patch  JSON of a Bokeh patch, arrays inline
 * @typedef {{type: "parts", session: string, parts: Record<string, string>}} Parts  HTML
 * @typedef {{type: "state", session: string, seq: number, status: Status, done: number, total: number, shown: State}} SessionState
 * @typedef {"computing" | "ready" | "stopped" | "error"} Status
 * @typedef {{type: "answer", session: string, seq: number}} Answer
 * @typedef {{type: "error", session: string | null, message: string, detail: string}} Failure
 *   session null: the runtime itself failed. message: a sentence for the reader; detail: for the console
 * @typedef {{name: string, text: string}} NumbersFile  text: CSV
 * @typedef {{type: "exported", session: string, files: NumbersFile[]}} Exported
 * @typedef {Progress | Live | Opened | Patch | Parts | SessionState | Answer | Failure | Exported} ToPage
 */

/** @typedef {(value: unknown) => boolean} Check */

const text = /** @type {Check} */ (value) => typeof value === "string";
const number = /** @type {Check} */ (value) => typeof value === "number" && Number.isFinite(value);
const flag = /** @type {Check} */ (value) => typeof value === "boolean";
const list = /** @type {Check} */ (value) => Array.isArray(value) && value.every(text);
const texts = /** @type {Check} */ (value) => isPlain(value) && Object.values(value).every(text);
const files = /** @type {Check} */ (value) =>
  Array.isArray(value) && value.every((file) => isPlain(file) && text(file.name) && number(file.bytes) && (file.loose === undefined || number(file.loose)));
const properties = /** @type {Check} */ (value) =>
  Array.isArray(value) && value.every((pair) => Array.isArray(pair) && pair.length === 2 && pair.every(text));
const numbers = /** @type {Check} */ (value) =>
  Array.isArray(value) && value.every((file) => isPlain(file) && text(file.name) && text(file.text));
/** @param {Check} check @returns {Check} */
const orNull = (check) => (value) => value === null || check(value);
/** @param {...string} words @returns {Check} */
const oneOf = (...words) => (value) => typeof value === "string" && words.includes(value);

/** @type {Record<string, Record<string, Check>>} */
const TO_WORKER = {
  boot: { runtime: text, files, fresh: flag },
  fetch: {},
  go: { fast: flag },
  open: { session: text, experiment: text, language: text, state: texts, digest: text, touched: properties },
  ahead: { experiment: text, language: text },
  hold: { milliseconds: number },
  set: { session: text, seq: number, state: texts },
  press: { session: text, seq: number, action: text },
  close: { session: text },
  export: { session: text },
};

/** @type {Record<string, Record<string, Check>>} */
const TO_PAGE = {
  progress: { stage: oneOf("download", "start", "import"), loaded: number, total: number },
  live: { numpy: text, pyodide: text, boot: text, used: list },
  opened: { session: text, digest: text, state: texts, stored: orNull(text) },
  patch: { session: text, patch: text },
  parts: { session: text, parts: texts },
  state: {
    session: text,
    seq: number,
    status: oneOf("computing", "ready", "stopped", "error"),
    done: number,
    total: number,
    shown: texts,
  },
  answer: { session: text, seq: number },
  exported: { session: text, files: numbers },
  error: { session: orNull(text), message: text, detail: text },
};

/**
 * A message from the page, or null (with a warning) when it has not the shape of one.
 * @param {unknown} message
 */
export function fromPage(message) {
  return /** @type {ToWorker | null} */ (checked(TO_WORKER, message));
}

/**
 * A message from the worker, or null (with a warning) when it has not the shape of one.
 * @param {unknown} message
 */
export function fromWorker(message) {
  return /** @type {ToPage | null} */ (checked(TO_PAGE, message));
}

/** @param {Record<string, Record<string, Check>>} table @param {unknown} message */
function checked(table, message) {
  const fault = faultOf(table, message);
  if (fault === null) return message;
  console.warn(`dropped a message: ${fault}`);
  return null;
}

/** @param {Record<string, Record<string, Check>>} table @param {unknown} message @returns {string | null} */
function faultOf(table, message) {
  if (!isPlain(message)) return "it is no object";
  const { type } = message;
  if (typeof type !== "string" || !Object.hasOwn(table, type)) return `type ${JSON.stringify(type)} is unknown`;
  for (const [field, check] of Object.entries(table[type])) {
    if (!Object.hasOwn(message, field)) return `"${type}" lacks "${field}"`;
    if (!check(message[field])) return `"${type}" has a wrong "${field}"`;
  }
  return null;
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
function isPlain(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
