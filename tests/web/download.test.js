import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, afterEach, before, mock, test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { Downloads, LITTLE } from "../../app/web/download.js";

const content = randomBytes(3 * LITTLE);
const packed = gzipSync(content);
const file = (/** @type {string} */ name) => ({ name, bytes: packed.length });

/** Answers with the pack; of what is held only the beginning, until it is let go. */
const server = createServer((request, response) => {
  const name = (request.url ?? "").slice(1);
  asked.push(name);
  const sent = held.get(name);
  if (sent) sent(response);
  else response.end(packed);
});
/** @type {string[]} */
let asked = [];
/** @type {Map<string, (response: import("node:http").ServerResponse) => void>} */
const held = new Map();
let base = "";
const STALL = 60_000;

/** A request that gets no answer yet. @param {string} name @returns {Promise<import("node:http").ServerResponse>} */
function unanswered(name) {
  return new Promise((resolve) => held.set(name, resolve));
}

before(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  base = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}/`;
});
afterEach(() => {
  held.clear();
  mock.timers.reset();
});
after(() => {
  server.closeAllConnections();
  server.close();
});

/** Downloads, and a wait until so many bytes have come. */
function begun() {
  asked = [];
  /** @type {() => void} */
  let look = () => {};
  const downloads = new Downloads(base, { fresh: false, stall: STALL, report: () => look() });
  const come = (/** @type {number} */ bytes) =>
    new Promise((/** @type {(value?: unknown) => void} */ resolve) => {
      look = () => downloads.loaded >= bytes && resolve();
      look();
    });
  return { downloads, come };
}

test("what comes before the processor is free is counted, and unpacked afterwards", async () => {
  const { downloads, come } = begun();
  let free = () => {};
  const batch = downloads.begin([file("a.gz.bin")], { free: new Promise((resolve) => (free = resolve)) });
  let unpacked = false;
  const bytes = batch.bytes("a.gz.bin").finally(() => (unpacked = true));
  await come(packed.length);
  await begun().downloads.begin([file("b.gz.bin")]).bytes("b.gz.bin"); // so much time it would have taken
  assert.equal(unpacked, false);
  free();
  assert.deepEqual(Buffer.from(await bytes), content);
});

test("in turn, a file is asked for when little is left of the one before, which need not have ended", async () => {
  const { downloads, come } = begun();
  const most = packed.length - LITTLE / 2;
  let goOn = () => {};
  let end = () => {};
  held.set("a.gz.bin", (response) => {
    response.writeHead(200);
    response.write(packed.subarray(0, LITTLE));
    goOn = () => response.write(packed.subarray(LITTLE, most));
    end = () => response.end(packed.subarray(most));
  });
  const batch = downloads.begin([file("a.gz.bin"), file("b.gz.bin")], { inTurn: true });
  await come(LITTLE);
  assert.deepEqual(asked, ["a.gz.bin"]);
  goOn();
  assert.deepEqual(Buffer.from(await batch.bytes("b.gz.bin")), content);
  assert.deepEqual(asked, ["a.gz.bin", "b.gz.bin"]);
  end();
  assert.deepEqual(Buffer.from(await batch.bytes("a.gz.bin")), content);
});

test("a host's own compression around a pack, which hides how much of it is left, does not end the turns", async () => {
  held.set("a.gz.bin", (response) => {
    response.writeHead(200, { "Content-Encoding": "br" });
    response.end(brotliCompressSync(packed));
  });
  const a = { ...file("a.gz.bin"), loose: 3 * packed.length }; // as if compressing had saved that much
  const batch = begun().downloads.begin([a, file("b.gz.bin")], { inTurn: true });
  for (const name of ["a.gz.bin", "b.gz.bin"]) assert.deepEqual(Buffer.from(await batch.bytes(name)), content);
});

test("a host that takes a request and never answers is given up, and the file named", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const request = unanswered("a.gz.bin");
  const batch = begun().downloads.begin([file("a.gz.bin")]);
  const bytes = batch.bytes("a.gz.bin");
  const response = await request;
  mock.timers.tick(STALL);
  response.destroy(); // too late to be the fault
  const stalled = { name: "FileError", file: "a.gz.bin", message: "a.gz.bin: sent nothing for 60 seconds" };
  await assert.rejects(bytes, stalled);
  await assert.rejects(batch.failed, stalled);
});

test("a host that stops in the middle of a file is given up", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const request = unanswered("a.gz.bin");
  const { downloads, come } = begun();
  const batch = downloads.begin([file("a.gz.bin")]);
  const response = await request;
  response.writeHead(200).write(packed.subarray(0, LITTLE));
  await come(LITTLE);
  mock.timers.tick(STALL);
  response.destroy();
  await assert.rejects(batch.failed, { file: "a.gz.bin", message: /sent nothing/ });
});

test("a script that never comes is given up, and fails its batch", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const batch = begun().downloads.begin([{ name: "a.js", bytes: 7 }]);
  let lose = (/** @type {Error} */ _) => {};
  const script = batch.loaded("a.js", new Promise((_, reject) => (lose = reject)));
  mock.timers.tick(STALL);
  lose(new Error("too late to be the fault"));
  await assert.rejects(script, { name: "FileError", file: "a.js", message: /sent nothing/ });
  await assert.rejects(batch.failed, { file: "a.js", message: /sent nothing/ });
});

test("a script that is there is counted, one that cannot be loaded fails its batch", async () => {
  const { downloads } = begun();
  const batch = downloads.begin([
    { name: "a.js", bytes: 7 },
    { name: "b.js", bytes: 8 },
  ]);
  assert.equal(await batch.loaded("a.js", Promise.resolve("module")), "module");
  assert.equal(downloads.loaded, 7);
  const lost = { file: "b.js", message: "b.js: could not be loaded (404)" };
  await assert.rejects(batch.loaded("b.js", Promise.reject(new Error("404"))), lost);
  await assert.rejects(batch.failed, lost);
});

test("a file that gets no answer while another one travels has not stalled: they share the line", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const requests = ["a.gz.bin", "b.gz.bin"].map(unanswered);
  const { downloads, come } = begun();
  const [one, other] = ["a.gz.bin", "b.gz.bin"].map((name) => downloads.begin([file(name)]));
  const [response, silent] = await Promise.all(requests);
  response.writeHead(200);
  for (const at of [0, LITTLE]) {
    response.write(packed.subarray(at, at + LITTLE));
    await come(at + LITTLE);
    mock.timers.tick(STALL - 1);
  }
  response.end(packed.subarray(2 * LITTLE));
  assert.deepEqual(Buffer.from(await one.bytes("a.gz.bin")), content);
  silent.writeHead(200).write(packed.subarray(0, LITTLE));
  await come(packed.length + LITTLE);
  mock.timers.tick(STALL);
  silent.destroy();
  await assert.rejects(other.failed, { file: "b.gz.bin", message: /sent nothing/ });
});

test("what is here and waits for the processor has not stalled", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { downloads, come } = begun();
  let free = () => {};
  const batch = downloads.begin([file("a.gz.bin")], { free: new Promise((resolve) => (free = resolve)) });
  await come(packed.length);
  await begun().downloads.begin([file("b.gz.bin")]).bytes("b.gz.bin"); // so much time its end would have taken
  mock.timers.tick(STALL);
  free();
  assert.deepEqual(Buffer.from(await batch.bytes("a.gz.bin")), content);
});
