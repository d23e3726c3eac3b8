// Makes of Node what a browser's worker is, as far as the product's own boot (app/web/) and Pyodide ask:
// import it before them. Then what is made or tried here is made as readers' browsers would make it.
import { readFile } from "node:fs/promises";

class WorkerGlobalScope {
  static [Symbol.hasInstance]() {
    return true;
  }
}
const { fetch } = globalThis;
/** Node's own `process`: the others must not see it, or they take other ways. */
export const node = globalThis.process;

/** Module workers have it, and it only throws. */
function importScripts() {
  throw new TypeError("a module's worker imports modules");
}

Object.assign(globalThis, { WorkerGlobalScope, importScripts, self: globalThis, process: undefined });
Object.defineProperty(globalThis, "location", { value: new URL(import.meta.url), configurable: true });

globalThis.fetch = async (input, init) => {
  const address = new URL(input instanceof Request ? input.url : input);
  if (address.protocol !== "file:") return fetch(input, init);
  try {
    return new Response(await readFile(address));
  } catch {
    return new Response(null, { status: 404 });
  }
};
