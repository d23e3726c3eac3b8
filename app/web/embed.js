// An embed's talk with the page around it: tells what happens here, takes the values that page asks for.
// (Its height is told by frame.js, which runs earlier and where no module does.)

import { meanwhile } from "./heard.js"; // first: page.js waits for a figure
import { lesson } from "./page.js";
import { format, parse, same } from "./state.js";

/** @typedef {import("./experiment.js").Experiment} Experiment */

const { experiments, specs, address, config } = /** @type {import("./lesson.js").Lesson} */ (lesson);

const MOST = 8192; // bytes of a message, as JSON; a state has some hundred

const root = document.documentElement;
const host = window.parent === window ? null : window.parent;

/** @param {"state" | "runtime" | "error"} type @param {Record<string, unknown>} content */
function tell(type, content) {
  host?.postMessage({ normlab: 1, type, ...content }, "*"); // nothing in it is secret, and any page may embed
}

/** @param {Experiment} experiment */
function tellState({ name, state }) {
  tell("state", { experiment: name, state: { ...state } });
}

function tellRuntime() {
  const { runtime } = root.dataset;
  tell("runtime", { runtime });
  if (runtime === "failed") tellError(document.getElementById("status")?.firstChild?.textContent);
}

/** @param {string | null | undefined} message */
function tellError(message) {
  if (message?.trim()) tell("error", { message: message.trim() });
}

/** The credit line leads to the lesson at the state shown here. */
function linkToLesson() {
  const link = document.getElementById("lesson");
  if (!(link instanceof HTMLAnchorElement)) return;
  link.search = format(Object.fromEntries(experiments.map(({ name, state }) => [name, state])), specs, config.version);
}

/**
 * What the page around asks to be shown: validated as a link's values are; what it leaves out stays.
 * @param {Record<string, unknown>} values
 */
function take(values) {
  const query = new URLSearchParams(Object.entries(values).map(([key, value]) => [key, String(value)]));
  const present = experiments.map(({ name, stored, state }) => [name, { options: stored.options, defaults: state }]);
  const { states, notices } = parse(query.toString(), Object.fromEntries(present));
  for (const experiment of experiments) {
    const unchanged = same(experiment.state, states[experiment.name]);
    experiment.take(states[experiment.name]);
    if (unchanged) tellState(experiment); // the page around hears in any case what became of its values
  }
  address.fault(notices);
}

/** @param {unknown} message @returns {message is {normlab: 1, type: "set", state: Record<string, unknown>}} */
function isSet(message) {
  return isPlain(message) && message.normlab === 1 && message.type === "set" && isPlain(message.state);
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
function isPlain(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a message can be written as JSON, and is no longer than any honest one. @param {unknown} message */
function isShort(message) {
  try {
    return new TextEncoder().encode(JSON.stringify(message)).length <= MOST;
  } catch {
    return false; // it goes in circles, or holds what JSON cannot
  }
}

/** @param {MessageEvent} message */
function hear({ source, data }) {
  if (host === null || source !== host || !isSet(data)) return;
  if (isShort(data)) take(data.state);
  else console.warn("dropped a message: it is too long to be a state");
}

addEventListener("message", hear);

addEventListener("normlab:moved", ({ target }) => {
  linkToLesson();
  const experiment = experiments.find(({ section }) => section === target);
  if (experiment) tellState(experiment);
});

new MutationObserver(tellRuntime).observe(root, { attributeFilter: ["data-runtime"] });
for (const { section } of experiments) {
  new MutationObserver(() => {
    if (section.dataset.state !== "error") return;
    const said = [...section.querySelectorAll("[data-note] p, [data-part=notice] p")];
    tellError(said.map((line) => line.textContent).join(" "));
  }).observe(section, { attributeFilter: ["data-state"] });
}

linkToLesson();
tellRuntime();
experiments.forEach(tellState);
meanwhile().forEach(hear);
