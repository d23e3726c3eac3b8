import assert from "node:assert/strict";
import { test } from "node:test";
import { fromPage, fromWorker } from "../../app/web/protocol.js";

const toWorker = [
  { type: "boot", runtime: "https://here/runtime/", files: [{ name: "app.zip.gz.bin", bytes: 9 }], fresh: false },
  { type: "fetch" },
  { type: "go", fast: true },
  { type: "ahead", experiment: "sensitivity", language: "en" },
  { type: "open", session: "s#1", experiment: "sensitivity", language: "en", state: { depth: "12" }, digest: "d", touched: [["p1", "data"]] },
  { type: "set", session: "s#1", seq: 1, state: { depth: "13" } },
  { type: "press", session: "s#1", seq: 2, action: "perturb" },
  { type: "close", session: "s#1" },
  { type: "export", session: "s#1" },
];
const toPage = [
  { type: "progress", stage: "download", loaded: 1, total: 2 },
  { type: "live", numpy: "2.2.5", pyodide: "0.28.3", boot: "plain", used: ["https://here/runtime/app.zip.gz.bin"] },
  { type: "opened", session: "s#1", digest: "d", state: { depth: "12" }, stored: null },
  { type: "patch", session: "s#1", patch: "{}" },
  { type: "parts", session: "s#1", parts: { sentence: "<p>…</p>" } },
  { type: "state", session: "s#1", seq: 1, status: "ready", done: 8, total: 8, shown: { depth: "12" } },
  { type: "answer", session: "s#1", seq: 1 },
  { type: "exported", session: "s#1", files: [{ name: "estimate", text: "depth\n1\n" }] },
  { type: "error", session: null, message: "app.zip.gz.bin", detail: "Error" },
];

/** @param {import("node:test").TestContext} context */
function muted(context) {
  return context.mock.method(console, "warn", () => {}).mock;
}

test("every message of the table passes as it is", (context) => {
  const warnings = muted(context);
  for (const message of toWorker) assert.equal(fromPage(message), message);
  for (const message of toPage) assert.equal(fromWorker(message), message);
  assert.equal(warnings.callCount(), 0);
});

test("a message that lacks a field, or has one of another type, is dropped with a warning", (context) => {
  const warnings = muted(context);
  let spoiled = 0;
  for (const [guard, messages] of /** @type {const} */ ([[fromPage, toWorker], [fromWorker, toPage]])) {
    for (const message of messages) {
      for (const field of Object.keys(message)) {
        const { [/** @type {"type"} */ (field)]: _, ...lacking } = message;
        assert.equal(guard(lacking), null, `${message.type} without ${field}`);
        assert.equal(guard({ ...message, [field]: [Symbol("wrong")] }), null, `${message.type} with a wrong ${field}`);
        spoiled += 2;
      }
    }
  }
  assert.equal(warnings.callCount(), spoiled);
});

test("what is no message at all is dropped", (context) => {
  const warnings = muted(context);
  const strays = [null, undefined, 0, "boot", [], {}, { type: "toString" }, { type: "answer" }];
  for (const stray of strays) assert.equal(fromPage(stray), null);
  assert.equal(warnings.callCount(), strays.length);
});
