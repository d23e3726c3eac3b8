import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
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

before(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  base = `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}/`;
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
  const downloads = new Downloads(base, { fresh: false, stall: 60_000, report: () => look() });
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
  held.clear();
});

test("a host's own compression around a pack, which hides how much of it is left, does not end the turns", async () => {
  held.set("a.gz.bin", (response) => {
    response.writeHead(200, { "Content-Encoding": "br" });
    response.end(brotliCompressSync(packed));
  });
  const a = { ...file("a.gz.bin"), loose: 3 * packed.length }; // as if compressing had saved that much
  const batch = begun().downloads.begin([a, file("b.gz.bin")], { inTurn: true });
  for (const name of ["a.gz.bin", "b.gz.bin"]) assert.deepEqual(Buffer.from(await batch.bytes(name)), content);
  held.clear();
});
