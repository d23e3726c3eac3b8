// Reads a zip whose entries are stored, not deflated (the runtime's are: they travel gzip-packed as a whole).

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;

/**
 * Files of a stored zip, as views into it: nothing is copied.
 * @param {Uint8Array} zip
 * @returns {Generator<[path: string, content: Uint8Array]>}
 * @throws {Error} when it is not a zip, is cut off, or holds a deflated entry
 */
export function* unzip(zip) {
  const view = new DataView(zip.buffer, zip.byteOffset, zip.byteLength);
  const end = endOfDirectory(view);
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  const utf8 = new TextDecoder();
  for (let entry = 0; entry < count; entry++) {
    if (at + 46 > zip.length || view.getUint32(at, true) !== CENTRAL) throw new Error("a zip's directory is damaged");
    const method = view.getUint16(at + 10, true);
    const size = view.getUint32(at + 24, true);
    const nameLength = view.getUint16(at + 28, true);
    const path = utf8.decode(zip.subarray(at + 46, at + 46 + nameLength));
    const local = view.getUint32(at + 42, true);
    at += 46 + nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
    if (path.endsWith("/")) continue;
    if (method !== 0) throw new Error(`${path} is deflated inside its zip`);
    if (local + 30 > zip.length || view.getUint32(local, true) !== LOCAL) throw new Error("a zip's entry is damaged");
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    if (start + size > zip.length) throw new Error(`${path} is cut off`);
    yield [path, zip.subarray(start, start + size)];
  }
}

/** @param {DataView} view */
function endOfDirectory(view) {
  for (let at = view.byteLength - 22; at >= 0 && at >= view.byteLength - 22 - 65535; at--) {
    if (view.getUint32(at, true) === END) return at;
  }
  throw new Error("not a zip");
}
