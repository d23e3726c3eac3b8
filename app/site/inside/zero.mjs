// Zeroes what malloc has free: stale bytes there would travel for nothing.

const LARGEST = 1 << 22;
const SMALLEST = 8;

/** @param module Emscripten's @param exports of its WebAssembly: malloc, free, sbrk, the stack's ends */
export function zeroFree(module, { malloc, free, sbrk, emscripten_stack_get_end, emscripten_stack_get_current }) {
  const stack = [emscripten_stack_get_end() >>> 0, emscripten_stack_get_current() >>> 0];
  module.HEAPU8.fill(0, ...stack);
  const blocks = [];
  for (let size = LARGEST; size >= SMALLEST; size >>= 1) {
    for (;;) {
      const end = sbrk(0) >>> 0;
      const block = malloc(size) >>> 0;
      if (block === 0) break;
      if (sbrk(0) >>> 0 !== end) {
        free(block); // there was no such free block: it came from beyond
        break;
      }
      module.HEAPU8.fill(0, block, block + size);
      blocks.push(block);
    }
  }
  for (const block of blocks) free(block);
  module.HEAPU8.fill(0, sbrk(0) >>> 0);
}
