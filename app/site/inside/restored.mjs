// Boots as a reader's browser would, from a runtime's folder, and runs Python scripts in what it gets.
// Usage: node restored.mjs PLAN.json
// The plan: {folder, files: [{name, bytes}, …] as the page lists them, scripts: [paths]}; the scripts find the
// plan as JSON in the global PLAN. What they print goes to stdout, after a line that names the way of the boot.
import { node } from "./worker.mjs";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { boot } = await import("../../web/boot.js");

const plan = JSON.parse(readFileSync(node.argv[2], "utf8"));
const { log } = console;
console.info = (line) => node.stderr.write(`${line}\n`);
try {
  const message = { runtime: pathToFileURL(`${plan.folder}/`).href, files: plan.files, fresh: false };
  const { pyodide, versions } = await boot(message, () => {});
  log(versions.boot);
  pyodide.setStdout({ batched: log });
  for (const script of plan.scripts) {
    const globals = pyodide.toPy({ PLAN: JSON.stringify(plan), __name__: "__main__" });
    pyodide.runPython(readFileSync(script, "utf8"), { globals, filename: script });
  }
} catch (error) {
  node.stderr.write(`${error.stack ?? error}\n`);
  node.exit(1);
}
node.exit(0);
