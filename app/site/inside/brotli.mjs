// Compresses a file with brotli, which Node brings along. Usage: node brotli.mjs SOURCE TARGET QUALITY
import { readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";

const [source, target, quality] = process.argv.slice(2);
const content = readFileSync(source);
const params = {
  [constants.BROTLI_PARAM_QUALITY]: Number(quality),
  [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
  [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
};
writeFileSync(target, brotliCompressSync(content, { params }));
