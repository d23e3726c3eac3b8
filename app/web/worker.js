// The worker: boots Python, hands it the page's messages, and lets it compute in slices between them.

import { boot } from "./boot.js";
import { fromPage } from "./protocol.js";

/** @type {import("./boot.js").Sessions | null} */
let sessions = null;

// A port's message is a macrotask: between two slices the page's own messages get their turn.
const turn = new MessageChannel();
let turning = false;
/** @type {ReturnType<typeof setTimeout> | undefined} until then the page needs the processors more */
let pause;
turn.port1.onmessage = () => {
  turning = false;
  if (pause !== undefined) return;
  guarded(() => {
    if (sessions?.step()) nextSlice();
  });
};

/** The page has said that it listens; what comes before that waits here. @type {import("./protocol.js").ToPage[] | null} */
let held = [];
/** What the page has to itself at first; see protocol.js. @typedef {{line: Promise<void>, processor: Promise<boolean>}} Free */
let fetchNow = () => {};
let go = (/** @type {boolean} */ _fast) => {};
/** @type {Free} */
const free = {
  line: new Promise((resolve) => (fetchNow = resolve)),
  processor: new Promise((resolve) => (go = resolve)),
};

self.onmessage = ({ data }) => {
  const message = fromPage(data);
  if (message?.type === "fetch") {
    fetchNow();
  } else if (message?.type === "go") {
    fetchNow();
    go(message.fast);
    for (const each of held?.splice(0) ?? []) self.postMessage(each);
    held = null;
  } else if (message !== null && message.type !== "boot") guarded(() => take(message));
};

const wanted = fromPage(JSON.parse(self.name)); // begin.js says why it is the name
if (wanted?.type === "boot") void start(wanted);

/** @param {Exclude<import("./protocol.js").ToWorker, {type: "boot" | "fetch" | "go"}>} message */
function take(message) {
  if (!sessions) {
    console.warn(`dropped a message: "${message.type}" came before Python was live`);
  } else if (message.type === "open") {
    const { session, experiment, language, state, digest, touched } = message;
    sessions.open(session, experiment, language, JSON.stringify(state), digest, JSON.stringify(touched), post);
    nextSlice();
  } else if (message.type === "ahead") {
    sessions.ahead(message.experiment, message.language);
  } else if (message.type === "hold") {
    clearTimeout(pause);
    pause = setTimeout(() => {
      pause = undefined;
      nextSlice();
    }, message.milliseconds);
  } else {
    sessions.receive(message.session, JSON.stringify(message));
    nextSlice();
  }
}

/** @param {import("./protocol.js").Boot} message */
async function start(message) {
  try {
    const report = (/** @type {import("./protocol.js").Stage} */ stage, /** @type {number} */ loaded, /** @type {number} */ total) =>
      send({ type: "progress", stage, loaded, total });
    const { sessions: booted, versions, used } = await boot(message, report, free);
    sessions = booted;
    send({ type: "live", ...versions, used });
  } catch (fault) {
    fail(fault);
  }
}

/** Errors of a probe never come here; what does (memory at its end) leaves no Python behind. @param {() => void} work */
function guarded(work) {
  try {
    work();
  } catch (fault) {
    sessions = null;
    fail(fault);
  }
}

/** @param {unknown} fault */
function fail(fault) {
  const error = fault instanceof Error ? fault : new Error(String(fault));
  const file = "file" in error ? String(error.file) : "";
  send({ type: "error", session: null, message: file, detail: error.stack ?? error.message });
}

function nextSlice() {
  if (turning) return;
  turning = true;
  turn.port2.postMessage(null);
}

/** Python's own messages come as JSON. @param {string} json */
function post(json) {
  self.postMessage(JSON.parse(json));
}

/** @param {import("./protocol.js").ToPage} message */
function send(message) {
  if (held) held.push(message);
  else self.postMessage(message);
}
