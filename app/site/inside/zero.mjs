// Zeroes what malloc has free: stale bytes there would travel for nothing.

const LARGEST = 1 << 18; // a larger one would move the end of the memory too far
const SMALLEST = 8;

/** @param module Emscripten's @param exports of its WebAssembly: malloc, free, sbrk, the stack's ends */
export function zeroFree(module, exports) {
  const { sbrk, emscripten_stack_get_end, emscripten_stack_get_current } = exports;
  module.HEAPU8.fill(0, emscripten_stack_get_end() >>> 0, emscripten_stack_get_current() >>> 0);
  zeroBlocks(module, exports);
  zeroBlocks(module, exports); // again: freed blocks that became one have their old heads inside
  module.HEAPU8.fill(0, sbrk(0) >>> 0);
}

/** Takes all blocks that are free, the largest first, zeroes and frees them. */
function zeroBlocks(module, { malloc, free, sbrk }) {
  const blocks = [];
  for (let size = LARGEST; size >= SMALLEST; size = Math.min(size - 8, Math.floor((size * 0.9) / 8) * 8)) {
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
}
