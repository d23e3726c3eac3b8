import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, mock, test } from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const { fetch } = globalThis;
/** The folder's files. The boot's modules take what is there when they are loaded. @type {typeof fetch} */
globalThis.fetch = async (address, { cache } = {}) =>
  cache === "only-if-cached" ? new Response(null, { status: 504 }) : new Response(contents[baseOf(String(address))]);
const { boot } = await import("../../app/web/boot.js");
const { baseOf } = await import("../../app/web/download.js");
const { PLAIN } = await import("../../app/web/plain.js");
const { SNAPSHOT } = await import("../../app/web/snapshot.js");

const emptyZip = Buffer.concat([Buffer.from("PK\x05\x06", "latin1"), Buffer.alloc(18)]);
const plan = JSON.stringify({ build: "", libraries: [], head: "", padding: "x".repeat(1000) }); // more bytes than a plain boot takes
/** Pyodide, as far as a boot looks at it; a start that is to hang never ends. */
const loader = `
export const loadPyodide = (options) =>
  (options._loadSnapshot ? globalThis.hanging.restore : globalThis.hanging.start) ? new Promise(() => {}) : pyodide;
const nothing = () => {};
const module = { NUMPY: "2", disable: nothing, freeze: nothing, enable: nothing, invalidate_caches: nothing, destroy: nothing };
const pyodide = { version: "0", FS: {}, pyimport: () => module };
`;
/** @type {Record<string, string | Buffer>} */
const contents = {
  "pyodide.js": loader,
  "pyodide.asm.js": "globalThis._createPyodideModule = () => {};",
  "lock.json": "{}",
  "python.gz.bin": gzipSync("\0asm\x01\0\0\0"),
  ...Object.fromEntries([...PLAIN, ...SNAPSHOT].map((name) => [name, gzipSync(emptyZip)])),
  "snapshot.json": plan,
};
const files = Object.entries(contents).map(([name, content]) => ({ name, bytes: content.length }));
const free = { line: Promise.resolve(), processor: Promise.resolve(true) };
const hanging = { restore: false, start: false };

const folder = mkdtempSync(join(tmpdir(), "boot-"));
const runtime = `${pathToFileURL(folder)}/`;
before(() => {
  for (const [name, content] of Object.entries(contents)) writeFileSync(join(folder, name), content);
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  Object.assign(globalThis, { hanging });
  mock.method(console, "info", () => {});
});
after(() => {
  rmSync(folder, { recursive: true });
  globalThis.fetch = fetch;
});

test("a restore that never ends is followed by the plain boot", async () => {
  Object.assign(hanging, { restore: true, start: false });
  const { versions } = await boot({ runtime, files, fresh: false }, () => {}, free, { restore: 1, start: 60_000 });
  assert.equal(versions.boot, "plain");
  const [said] = /** @type {any} */ (console.info).mock.calls[0].arguments;
  assert.match(said, /Python did not start within 0.001 seconds/);
});

test("a start that never ends is an error that says so", async () => {
  Object.assign(hanging, { restore: true, start: true });
  const booting = boot({ runtime, files, fresh: false }, () => {}, free, { restore: 1, start: 2 });
  await assert.rejects(booting, { message: "Python did not start within 0.002 seconds" });
});
