import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import { Client } from "../../app/web/client.js";

/** The worker's side of the wire: remembers what it was sent, says what a test tells it to. */
class Wire {
  constructor(name = "") {
    this.name = name;
  }
  /** @type {any[]} */
  sent = [];
  ended = false;
  /** @type {any} */
  onmessage = null;
  /** @type {any} */
  onerror = null;
  postMessage(/** @type {any} */ message) {
    this.sent.push(message);
  }
  terminate() {
    this.ended = true;
  }
  say(/** @type {any} */ message) {
    this.onmessage({ data: message });
  }
  /** @param {string} type */
  of(type) {
    return this.sent.filter((message) => message.type === type);
  }
}

const LIVE = { type: "live", numpy: "2.2.5", pyodide: "0.28.3", boot: "plain", used: [] };
const FILES = [{ name: "app.zip.gz.bin", bytes: 9 }];

/** @type {Wire[]} */
let wires;
/** @type {string[]} */
let heard;
/** @type {Client} */
let client;

beforeEach(() => {
  mock.restoreAll();
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout"] });
  mock.method(console, "warn", () => {});
  mock.method(console, "error", () => {});
  wires = [];
  heard = [];
  client = new Client(
    (name) => {
      wires.push(new Wire(name));
      return wires[wires.length - 1];
    },
    { runtime: "here/", files: FILES },
  );
  client.listen(runtimeHandlers());
  client.start();
});

/** @param {string} depth */
function opened(depth = "12") {
  const session = client.open({ experiment: "sensitivity", language: "en", state: { depth }, digest: "d", touched: [] }, handlers());
  return { session, name: session.name };
}

function runtimeHandlers() {
  return {
    progress: (/** @type {{stage: string}} */ { stage }) => void heard.push(stage),
    live: () => void heard.push("live"),
    failed: (/** @type {string} */ file) => void heard.push(`failed ${file}`),
    crashed: () => void heard.push("crashed"),
    restarted: () => void heard.push("restarted"),
  };
}

function handlers() {
  return {
    opened: () => heard.push("opened"),
    patch: () => heard.push("patch"),
    parts: () => heard.push("parts"),
    state: (/** @type {any} */ { status }, /** @type {boolean} */ newest) => heard.push(`${status}${newest ? "" : " (old)"}`),
    exported: (/** @type {any[]} */ files) => heard.push(`exported ${files.length}`),
    error: (/** @type {string} */ message) => heard.push(message),
  };
}

/** @param {Wire} wire @param {string} session */
function nowLive(wire, session) {
  wire.say(LIVE);
  wire.say({ type: "opened", session, digest: "d", state: { depth: "12" }, stored: null });
}

/** @param {string} session @param {number} seq @param {string} status */
const state = (session, seq, status) => ({ type: "state", session, seq, status, done: 0, total: 0, shown: {} });

test("boots with the runtime's files, and opens sessions once Python is up", () => {
  opened();
  assert.deepEqual(JSON.parse(wires[0].name), { type: "boot", runtime: "here/", files: FILES, fresh: false });
  assert.deepEqual(wires[0].sent, [{ type: "go", fast: false }]);
  wires[0].say(LIVE);
  assert.equal(wires[0].of("open").length, 1);
  opened();
  assert.equal(wires[0].of("open").length, 2);
});

test("a session opens with the values that the reader has chosen meanwhile", () => {
  const { session } = opened();
  session.set({ depth: "20" });
  session.set({ depth: "21" });
  wires[0].say(LIVE);
  assert.deepEqual(wires[0].of("open")[0].state, { depth: "21" });
  assert.equal(wires[0].of("set").length, 0);
});

test("of fifty values one goes at once, and after its answer only the last", () => {
  const { session, name } = opened();
  nowLive(wires[0], name);
  for (let depth = 1; depth <= 50; depth++) session.set({ depth: String(depth) });
  assert.deepEqual(wires[0].of("set").map((set) => set.state.depth), ["1"]);
  wires[0].say({ type: "answer", session: name, seq: 1 });
  assert.deepEqual(wires[0].of("set").map((set) => set.state.depth), ["1", "50"]);
  wires[0].say({ type: "answer", session: name, seq: 2 });
  assert.equal(wires[0].of("set").length, 2);
  assert.ok(session.settled);
});

test("a value that takes long is overtaken by the newest one, whose answer alone counts", () => {
  const { session, name } = opened();
  nowLive(wires[0], name);
  const sent = () => wires[0].of("set").map((set) => set.state.depth);
  for (const depth of ["1", "2", "3"]) session.set({ depth });
  wires[0].say(state(name, 0, "ready")); // of what was before
  assert.deepEqual(sent(), ["1"]);
  wires[0].say(state(name, 1, "computing"));
  assert.deepEqual(sent(), ["1", "3"]);
  wires[0].say({ type: "answer", session: name, seq: 1 });
  assert.ok(!session.settled);
  wires[0].say({ type: "answer", session: name, seq: 2 });
  assert.ok(session.settled);
  assert.equal(sent().length, 2);
});

test("a newer value goes at once where Python is at work on the one before", () => {
  const { session, name } = opened();
  nowLive(wires[0], name);
  const sent = () => wires[0].of("set").map((set) => set.state.depth);
  session.set({ depth: "1" });
  wires[0].say(state(name, 1, "computing"));
  session.set({ depth: "2" });
  session.set({ depth: "3" });
  assert.deepEqual(sent(), ["1", "2"], "not before that one was heard");
  wires[0].say(state(name, 2, "computing"));
  assert.deepEqual(sent(), ["1", "2", "3"]);
  assert.ok(!session.settled);
});

test("a state is the newest only when it answers the last values", () => {
  const { session, name } = opened();
  nowLive(wires[0], name);
  session.set({ depth: "1" });
  session.set({ depth: "2" });
  wires[0].say(state(name, 1, "ready"));
  wires[0].say({ type: "answer", session: name, seq: 1 });
  wires[0].say(state(name, 1, "ready"));
  wires[0].say(state(name, 2, "ready"));
  assert.deepEqual(heard.slice(-3), ["ready (old)", "ready (old)", "ready"]);
});

test("a press means the values that are shown: they go first", () => {
  const { session, name } = opened();
  nowLive(wires[0], name);
  session.set({ depth: "1" });
  session.set({ depth: "2" });
  session.press("perturb");
  assert.deepEqual(wires[0].sent.slice(-2).map(({ type, seq }) => [type, seq]), [["set", 2], ["press", 3]]);
});

test("a press before Python is up is sent after the session is open, unless taken back", () => {
  const { session, name } = opened();
  session.press("perturb");
  session.press("stop");
  session.press("perturb");
  nowLive(wires[0], name);
  assert.deepEqual(wires[0].of("press").map(({ action }) => action), ["perturb"]);
});

test("Stop unanswered for a second ends the worker; the next one opens with the same state", () => {
  const { session, name } = opened();
  nowLive(wires[0], name);
  session.set({ depth: "30" });
  session.press("perturb");
  session.press("stop");
  mock.timers.tick(999);
  assert.ok(!wires[0].ended);
  mock.timers.tick(1);
  assert.ok(wires[0].ended);
  assert.ok(heard.includes("restarted"));
  wires[0].say(LIVE); // an ended worker's last words are not heard
  nowLive(wires[1], name);
  assert.deepEqual(wires[1].of("open")[0].state, { depth: "30" });
  assert.equal(wires[1].of("press").length, 0);
  session.set({ depth: "31" });
  assert.equal(wires[1].of("set").length, 1);
});

test("Stop that is answered ends nothing", () => {
  const { session, name } = opened();
  nowLive(wires[0], name);
  session.press("perturb");
  session.press("stop");
  wires[0].say({ type: "answer", session: name, seq: 1 }); // the earlier press's: not yet Stop's
  wires[0].say({ type: "answer", session: name, seq: 2 });
  mock.timers.tick(5000);
  assert.ok(!wires[0].ended);
});

test("the next worker is told what the last one changed in the painted document", () => {
  const { session, name } = opened();
  nowLive(wires[0], name);
  const events = [
    { kind: "ColumnDataChanged", model: { id: "p7" }, attr: "data" },
    { kind: "ModelChanged", model: { id: "p9" }, attr: "disabled" },
    { kind: "TitleChanged" },
  ];
  for (let twice = 0; twice < 2; twice++) wires[0].say({ type: "patch", session: name, patch: JSON.stringify({ events }) });
  session.press("stop");
  mock.timers.tick(1000);
  wires[1].say(LIVE);
  assert.deepEqual(wires[1].of("open")[0].touched, [["p7", "data"], ["p9", "disabled"]]);
});

test("a session whose document was replaced opens again with that document", () => {
  const { session, name } = opened();
  wires[0].say(LIVE);
  const stored = JSON.stringify({ document: {}, roots: {}, digest: "new", touched: [["p1", "text"]] });
  wires[0].say({ type: "opened", session: name, digest: "new", state: { depth: "12" }, stored });
  session.press("stop");
  mock.timers.tick(1000);
  wires[1].say(LIVE);
  const { digest, touched } = wires[1].of("open")[0];
  assert.deepEqual({ digest, touched }, { digest: "new", touched: [["p1", "text"]] });
});

test("a failed runtime names its file; a retry goes past the browser's stores and opens again", () => {
  const { session, name } = opened();
  wires[0].say({ type: "error", session: null, message: "app.zip.gz.bin", detail: "Error: …" });
  assert.deepEqual(heard, ["failed app.zip.gz.bin"]);
  assert.ok(wires[0].ended);
  session.set({ depth: "7" });
  client.retry();
  assert.equal(JSON.parse(wires[1].name).fresh, true);
  nowLive(wires[1], name);
  assert.deepEqual(wires[1].of("open")[0].state, { depth: "7" });
});

test("a worker whose own script is missing is a failure too", () => {
  wires[0].onerror({ message: undefined });
  assert.deepEqual(heard, ["failed worker.js"]);
});

test("a worker that dies while it is live is a crash, and can be retried", () => {
  for (const [index, die] of [
    () => wires[0].onerror({ message: "out of memory" }),
    () => wires[1].say({ type: "error", session: null, message: "", detail: "RangeError" }),
  ].entries()) {
    const { name } = opened();
    nowLive(wires[index], name);
    die();
    assert.equal(heard.at(-1), "crashed");
    assert.ok(wires[index].ended);
    client.retry();
  }
});

test("an error of one session reaches that session alone, and the session goes on", () => {
  const { session, name } = opened();
  nowLive(wires[0], name);
  wires[0].say({ type: "error", session: name, message: "It overflowed.", detail: "Traceback" });
  assert.equal(heard.at(-1), "It overflowed.");
  session.set({ depth: "3" });
  assert.equal(wires[0].of("set").length, 1);
});

test("a session that is left before it was opened is closed in the worker, too, and one before Python is up is not", () => {
  const early = opened();
  early.session.close();
  wires[0].say(LIVE);
  const { session, name } = opened();
  session.close();
  assert.deepEqual(wires[0].of("open").map((message) => message.session), [name]);
  assert.deepEqual(wires[0].of("close").map((message) => message.session), [name]);
  wires[0].say({ type: "opened", session: name, digest: "d", state: { depth: "12" }, stored: null });
  assert.deepEqual(heard, ["live"]);
});

test("a page that is left hears no more of Python, and the next one where it stands", () => {
  client.listen(null);
  wires[0].say(LIVE);
  assert.deepEqual(heard, []);
  client.listen(runtimeHandlers());
  assert.deepEqual(heard, ["live"]);
});

test("malformed messages and those of closed sessions are dropped", () => {
  const { session, name } = opened();
  nowLive(wires[0], name);
  const before = heard.length;
  wires[0].say({ type: "patch", session: name });
  wires[0].say("nonsense");
  session.close();
  wires[0].say({ type: "patch", session: name, patch: "{}" });
  assert.equal(heard.length, before);
  assert.equal(wires[0].of("close").length, 1);
});

test("whoever listens late is told where Python stands by now", () => {
  /** @type {string[]} */
  const late = [];
  wires[0].say(LIVE);
  client.listen({ ...runtimeHandlers(), live: () => void late.push("live") });
  assert.deepEqual(late, ["live"]);
});

const ANSWER = { type: "exported", files: [{ name: "estimate", text: "depth\n" }] };

test("files are asked for once Python is up, about the values that the reader has by then", () => {
  const { session, name } = opened();
  session.export();
  session.set({ depth: "20" });
  assert.equal(wires[0].of("export").length, 0);
  nowLive(wires[0], name);
  assert.equal(wires[0].of("open")[0].state.depth, "20");
  assert.deepEqual(wires[0].of("export"), [{ type: "export", session: name }]);
  wires[0].say({ ...ANSWER, session: name });
  assert.equal(heard.at(-1), "exported 1");
});

test("files wait until the values under way are answered, and are asked for once", () => {
  const { session, name } = opened();
  nowLive(wires[0], name);
  session.set({ depth: "20" });
  session.set({ depth: "21" });
  session.export();
  wires[0].say({ type: "answer", session: name, seq: 1 });
  assert.equal(wires[0].of("export").length, 0);
  wires[0].say({ type: "answer", session: name, seq: 2 });
  session.set({ depth: "22" });
  wires[0].say({ type: "answer", session: name, seq: 3 });
  assert.equal(wires[0].of("export").length, 1);
});

test("a worker that ends before it gave the files leaves it to the next one", () => {
  const { session, name } = opened();
  nowLive(wires[0], name);
  session.export();
  client.retry();
  nowLive(wires[1], name);
  assert.equal(wires[1].of("export").length, 1);
  wires[1].say({ ...ANSWER, session: name });
  client.retry();
  nowLive(wires[2], name);
  assert.equal(wires[2].of("export").length, 0);
});

test("a reset takes back what was pressed before Python was up, and is not pressed itself", () => {
  const { session, name } = opened();
  session.press("perturb");
  session.press("reset");
  nowLive(wires[0], name);
  assert.deepEqual(wires[0].of("press"), []);
  session.press("reset");
  assert.deepEqual(wires[0].of("press").map(({ action }) => action), ["reset"]);
});

test("a worker that was prepared is the one that is started", () => {
  wires = [];
  const early = new Client(() => wires[wires.push(new Wire()) - 1], { runtime: "here/", files: FILES });
  early.prepare();
  assert.deepEqual(wires[0].sent, []);
  early.start();
  assert.equal(wires.length, 1);
  assert.equal(wires[0].of("go").length, 1);
});

test("files may come before Python is started, by the same worker", () => {
  wires = [];
  const early = new Client(() => wires[wires.push(new Wire()) - 1], { runtime: "here/", files: FILES });
  early.fetch();
  early.start();
  assert.deepEqual(wires.map(({ sent }) => sent), [[{ type: "fetch" }, { type: "go", fast: false }]]);
});

test("what may soon be opened is told to a Python that is up, and to no other", () => {
  client.ahead(["norms"], "en");
  assert.deepEqual(wires[0].of("ahead"), []);
  wires[0].say(LIVE);
  client.ahead(["norms", "jacobian"], "zh-Hans");
  assert.deepEqual(wires[0].of("ahead"), [
    { type: "ahead", experiment: "norms", language: "zh-Hans" },
    { type: "ahead", experiment: "jacobian", language: "zh-Hans" },
  ]);
});

test("Python waits for what a page does, for the newest of it alone, and not for ever", async () => {
  client.hold(Promise.resolve());
  assert.deepEqual(wires[0].of("hold"), [], "there is nothing yet that could wait");
  wires[0].say(LIVE);
  let done = () => {};
  client.hold(/** @type {Promise<void>} */ (new Promise((resolve) => (done = resolve))));
  assert.ok(wires[0].of("hold")[0].milliseconds > 0);
  let after = () => {};
  client.hold(/** @type {Promise<void>} */ (new Promise((resolve) => (after = resolve))));
  done();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(wires[0].of("hold").length, 2, "the page that is left is waited for no more");
  after();
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(wires[0].of("hold")[2], { type: "hold", milliseconds: 0 });
});
