// Stands in the place of the site's boot.js, which it calls: besides the site's experiments, the worker then
// serves the floor, to whoever hands it a port, and shows Python to whoever measures it.

import { boot as site } from "./boot.site.js";

/** @param {any} message @param {any} report @param {any} free */
export async function boot(message, report, free) {
  const booted = await site(message, report, free);
  const program = await (await fetch(new URL("floor.py", import.meta.url))).text();
  const floor = booted.pyodide.toPy({ __name__: "floor" });
  booted.pyodide.runPython(program, { globals: floor });
  Object.assign(self, { benchFloor: booted });
  self.addEventListener("message", ({ data }) => {
    if (data?.type !== "floor") return;
    const [port] = data.ports;
    port.postMessage(floor.get("begin")((/** @type {string} */ patch) => port.postMessage(patch)));
    port.onmessage = (/** @type {MessageEvent} */ event) => floor.get("take")(event.data);
  });
  return booted;
}
