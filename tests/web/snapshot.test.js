import assert from "node:assert/strict";
import { test } from "node:test";
import { fill, sumOf, unchain } from "../../app/web/snapshot.js";

const before = Uint8Array.of(1, 2, 3, 4, 0, 0, 0, 0);
const plan = /** @type {import("../../app/web/snapshot.js").Plan} */ ({
  build: "ab",
  length: 6,
  base: { length: 4, sum: sumOf(before, 4), volatile: [] },
});
const sent = ["a", "b\x07", "\0\0", "\0\x08\x09"]; // the first four bytes of memory as a difference

/** A stream as older browsers have it: to be read, not to be iterated. @param {string[]} parts */
function travelling(parts) {
  const left = [...parts];
  let isCancelled = false;
  const stream = new ReadableStream(
    {
      pull: (controller) => {
        const part = left.shift();
        if (part === undefined) controller.close();
        else controller.enqueue(Uint8Array.from(part, (letter) => letter.charCodeAt(0)));
      },
      cancel: () => void (isCancelled = true),
    },
    { highWaterMark: 0 },
  );
  Object.defineProperty(stream, Symbol.asyncIterator, { value: undefined });
  return { stream, left, isCancelled: () => isCancelled };
}

test("a snapshot is written into memory as it comes, also where streams cannot be iterated", async () => {
  const memory = before.slice();
  await fill(memory, plan, travelling(sent).stream);
  assert.deepEqual([...memory], [1 ^ 7, 2, 3, 4, 8, 9, 0, 0]);
});

test("a snapshot that does not fit is not downloaded to its end", async () => {
  const { stream, left, isCancelled } = travelling(["a", "c", ...sent]);
  await assert.rejects(fill(before.slice(), plan, stream), /of another build/);
  assert.equal(isCancelled(), true);
  assert.deepEqual(left, sent);
});

test("a download that breaks off in the middle says why", async () => {
  const broken = new ReadableStream({ pull: (controller) => controller.error(new Error("the line is dead")) });
  await assert.rejects(fill(before.slice(), plan, broken), /the line is dead/);
});

/** Memory with an object's two words at each of these addresses, the first the distance to the next. @param {[number, number][]} links */
function chained(links) {
  const words = new Uint32Array(16);
  for (const [at, distance] of links) words.set([distance, 2], at / 4);
  return words;
}

test("objects are linked there and back, and keep their flags", () => {
  const words = chained([
    [8, 16],
    [24, 8],
    [32, -24],
  ]);
  unchain(words, 8);
  const linked = [
    [8, 24, 32 | 2],
    [24, 32, 8 | 2],
    [32, 8, 24 | 2],
  ];
  for (const [at, next, previous] of linked) assert.deepEqual([...words.subarray(at / 4, at / 4 + 2)], [next, previous]);
});

/** @type {Record<string, [links: [number, number][], first: number]>} */
const astray = {
  "is but a zero": [[[8, 0]], 8],
  "leads back, but not to the first one": [
    [
      [8, 16],
      [24, 8],
      [32, -8],
    ],
    8,
  ],
  "leads out of the memory": [[[8, 56]], 8],
  "begins outside of the memory": [[[8, 0]], 64],
};
for (const [what, [links, first]] of Object.entries(astray)) {
  test(`a list of objects that ${what} is given up`, () => {
    assert.throws(() => unchain(chained(links), first), /list of objects breaks off/);
  });
}
