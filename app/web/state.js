// What a link says about the experiments of a page, and the link that says what they show. Pure functions.
// The worker checks every value again; what is checked here is what the controls show before Python is up.

/**
 * @typedef {import("./protocol.js").State} State
 * @typedef {{name: string, kind: string, low: number | null, high: number | null, choices: string[] | null, names?: string[] | null}} Option
 *   as app/probes/options.py declares it; names: the choices as the page calls them
 * @typedef {{options: Option[], defaults: State}} Spec  one experiment's
 * @typedef {{experiment: string | null, kind: "clamped" | "unreadable" | "unknown", name: string, given: string, used: string, low: string, high: string}} Notice
 *   experiment: the one it is about; null: none that is known. used: what was taken instead, as the page calls it ("" for an unknown name)
 * @typedef {{states: Record<string, State>, named: string[], notices: Notice[], version: string | null}} Parsed
 *   named: the experiments that the query says something about
 */

const VERSION = "v";
const SHOW = "show"; // an embed's: the experiments that there are

/**
 * The state that a link's query asks for: every option of every experiment, defaults where it says nothing.
 * `<experiment>.<option>` is meant for one experiment, `<option>` for each that has it; the former wins.
 * @param {string} query @param {Record<string, Spec>} experiments
 * @returns {Parsed}
 */
export function parse(query, experiments) {
  /** @type {Notice[]} */
  const notices = [];
  /** @type {Record<string, State>} */
  const states = {};
  for (const [experiment, { defaults }] of Object.entries(experiments)) states[experiment] = { ...defaults };
  const named = new Set();
  let version = null;
  const given = [...new URLSearchParams(query)];
  const general = given.filter(([key]) => !key.includes("."));
  const particular = given.filter(([key]) => key.includes("."));
  for (const [key, text] of [...general, ...particular]) {
    if (key === VERSION) {
      version = text;
      continue;
    }
    if (key === SHOW) continue; // frame.js has seen to it
    const [name, only] = key.includes(".") ? [after(key), before(key)] : [key, null];
    const meant = Object.entries(experiments).filter(
      ([experiment, { options }]) => (only ?? experiment) === experiment && options.some((option) => option.name === name),
    );
    if (meant.length === 0) {
      const experiment = only !== null && Object.hasOwn(experiments, only) ? only : null;
      notices.push({ experiment, kind: "unknown", name: key, given: text, used: "", low: "", high: "" });
    }
    for (const [experiment, { options, defaults }] of meant) {
      named.add(experiment);
      const option = /** @type {Option} */ (options.find((each) => each.name === name));
      const { value, kind } = read(option, text, defaults[name]);
      states[experiment][name] = value;
      if (kind) notices.push({ experiment, kind, name, given: text, used: called(option, value), ...bounds(option) });
    }
  }
  return { states, named: [...named], notices, version };
}

/**
 * The query that says `states`: what differs from the defaults, and the version of the numbers. Empty when
 * nothing differs.
 * @param {Record<string, State>} states @param {Record<string, Spec>} experiments @param {string} version
 * @param {string | null} [show]  an embed keeps what it was asked to show
 */
export function format(states, experiments, version, show = null) {
  const pairs = [];
  for (const [experiment, { options, defaults }] of Object.entries(experiments)) {
    for (const { name } of options) {
      const text = states[experiment]?.[name] ?? defaults[name];
      if (text !== defaults[name]) pairs.push([`${experiment}.${name}`, text]);
    }
  }
  if (pairs.length > 0) pairs.push([VERSION, version]);
  if (show !== null) pairs.unshift([SHOW, show]);
  return pairs.length === 0 ? "" : `?${pairs.map(([key, text]) => `${key}=${encoded(text)}`).join("&")}`;
}

/**
 * The query that says one experiment's state, and the version of its numbers in any case.
 * @param {State} state @param {{options: Option[], state: State}} stored @param {string} version
 * @param {string} prefix  of the keys: "" in an embed, which has no other experiment
 * @param {string} [show]  what an embed shows
 */
export function formatOne(state, stored, version, prefix, show) {
  const defaults = stored.state;
  const differing = stored.options.filter(({ name }) => (state[name] ?? defaults[name]) !== defaults[name]);
  const pairs = differing.map(({ name }) => [`${prefix}${name}`, state[name]]);
  if (show !== undefined) pairs.unshift([SHOW, show]);
  return `?${[...pairs, [VERSION, version]].map(([key, text]) => `${key}=${encoded(text)}`).join("&")}`;
}

/** Whether two states say the same about every option. @param {State} a @param {State} b */
export function same(a, b) {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/**
 * @param {Option} option @param {string} text @param {string} fallback
 * @returns {{value: string, kind: "clamped" | "unreadable" | null}}
 */
function read(option, text, fallback) {
  const unreadable = { value: fallback, kind: /** @type {const} */ ("unreadable") };
  const trimmed = text.trim();
  if (option.kind === "choice") {
    return option.choices?.includes(trimmed) ? { value: trimmed, kind: null } : unreadable;
  }
  if (option.kind === "choices") {
    const words = list(trimmed);
    const known = words.filter((word) => option.choices?.includes(word));
    if (known.length === 0) return unreadable;
    const ordered = (option.choices ?? []).filter((choice) => known.includes(choice));
    return { value: ordered.join(","), kind: known.length < words.length ? "clamped" : null };
  }
  const whole = option.kind !== "float";
  const numbers = (option.kind === "ints" ? list(trimmed) : [trimmed]).map((word) => numeral(word, whole));
  if (numbers.length === 0 || numbers.some((number) => number === null)) return unreadable;
  const used = numbers.map((number) => clamp(Number(number), option));
  const clamped = used.some((value, index) => value !== numbers[index]);
  return { value: used.map(String).join(","), kind: clamped ? "clamped" : null };
}

/** @param {string} word @param {boolean} whole @returns {number | null} */
function numeral(word, whole) {
  const shape = whole ? /^[+-]?\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  const number = shape.test(word) ? Number(word) : Number.NaN;
  return Number.isFinite(number) ? number : null;
}

/** @param {number} value @param {Option} option */
function clamp(value, { low, high }) {
  return Math.min(Math.max(value, low ?? -Infinity), high ?? Infinity);
}

/** A value as the page calls it. @param {Option} option @param {string} value */
function called({ choices, names }, value) {
  return names?.[choices?.indexOf(value) ?? -1] ?? value;
}

/** @param {Option} option */
function bounds({ low, high }) {
  return { low: low === null ? "" : String(low), high: high === null ? "" : String(high) };
}

/** @param {string} text */
function list(text) {
  return text.split(",").map((word) => word.trim()).filter((word) => word !== "");
}

/** @param {string} key */
function before(key) {
  return key.slice(0, key.indexOf("."));
}

/** @param {string} key */
function after(key) {
  return key.slice(key.indexOf(".") + 1);
}

/** A value as it stands in a link: commas stay, they are harmless and read well. @param {string} text */
function encoded(text) {
  return encodeURIComponent(text).replaceAll("%2C", ",");
}
