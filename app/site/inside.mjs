// Runs Python files of ours inside Pyodide under Node: for builds, tests and benches.
// Usage: node inside.mjs PLAN.json
// The plan: {core, mounts: [[path inside, folder outside], …], steps: [{script, …}, …]}; a script
// finds its own step as JSON in the global PLAN. What it prints goes to stdout.
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

const plan = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { loadPyodide } = await import(pathToFileURL(join(plan.core, "pyodide.mjs")).href);

const pyodide = await loadPyodide({
  indexURL: plan.core,
  env: {
    HOME: "/home/pyodide",
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONHASHSEED: "0",
    PYTHONNODEBUGRANGES: "1", // bytecode that knows lines but no columns is a fifth smaller
  },
  stdout: (line) => process.stdout.write(`${line}\n`),
  stderr: (line) => process.stderr.write(`${line}\n`),
  fsInit: async (FS) => {
    for (const [inside, outside] of plan.mounts) {
      FS.mkdirTree(inside);
      FS.mount(FS.filesystems.NODEFS, { root: outside }, inside);
    }
  },
});
try {
  for (const step of plan.steps) {
    const globals = pyodide.toPy({ PLAN: JSON.stringify(step), __name__: "__main__" });
    pyodide.runPython(readFileSync(step.script, "utf8"), { filename: basename(step.script), globals });
  }
} catch (error) {
  process.stderr.write(`${error.message ?? error}\n`);
  process.exit(1);
}
process.exit(0);
