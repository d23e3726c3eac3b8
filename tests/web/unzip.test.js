import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, deflateRawSync } from "node:zlib";
import { unzip } from "../../app/web/unzip.js";

/** A zip as the build writes it. @param {[string, string][]} entries @param {{deflated?: boolean, comment?: string}} [how] */
function zip(entries, { deflated = false, comment = "" } = {}) {
  const parts = [];
  const directory = [];
  let at = 0;
  for (const [path, text] of entries) {
    const name = Buffer.from(path);
    const plain = Buffer.from(text);
    const content = deflated ? deflateRawSync(plain) : plain;
    const common = Buffer.alloc(26); // version … extra length: the same fields in both headers
    common.writeUInt16LE(deflated ? 8 : 0, 4);
    common.writeUInt32LE(crc32(plain), 10);
    common.writeUInt32LE(content.length, 14);
    common.writeUInt32LE(plain.length, 18);
    common.writeUInt16LE(name.length, 22);
    const central = Buffer.alloc(46);
    central.write("PK\x01\x02", "latin1");
    common.copy(central, 6);
    central.writeUInt32LE(at, 42);
    directory.push(central, name);
    parts.push(Buffer.from("PK\x03\x04", "latin1"), common, name, content);
    at += 30 + name.length + content.length;
  }
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(Buffer.concat(directory).length, 12);
  end.writeUInt32LE(at, 16);
  end.writeUInt16LE(comment.length, 20);
  return new Uint8Array(Buffer.concat([...parts, ...directory, end, Buffer.from(comment)]));
}

/** @param {Uint8Array} bytes */
const texts = (bytes) => [...unzip(bytes)].map(([path, content]) => [path, Buffer.from(content).toString()]);

test("gives every file with its content, folders left out", () => {
  const entries = /** @type {[string, string][]} */ ([["app/", ""], ["app/live.py", "import sys"], ["ä.txt", "β"], ["empty", ""]]);
  assert.deepEqual(texts(zip(entries)), entries.slice(1));
});

test("finds the directory before a comment", () => {
  assert.deepEqual(texts(zip([["a", "1"]], { comment: "made here" })), [["a", "1"]]);
});

test("copies nothing", () => {
  const bytes = zip([["a", "12345"]]);
  const [[, content]] = unzip(bytes);
  assert.equal(content.buffer, bytes.buffer);
});

test("refuses what is no zip, is cut off, or is deflated inside", () => {
  const whole = zip([["a", "12345"], ["b", "67890"]]);
  assert.throws(() => texts(new Uint8Array(100)), /not a zip/);
  assert.throws(() => texts(whole.subarray(0, whole.length - 8)), /not a zip/);
  assert.throws(() => texts(whole.subarray(20)), /damaged|cut off/);
  assert.throws(() => texts(zip([["a", "12345"]], { deflated: true })), /deflated/);
});
