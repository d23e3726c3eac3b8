// Reads [{tex, display}, …] from standard input, writes [{html} | {error}, …].
// The one argument is the folder of the npm package "katex".
import { createRequire } from "node:module";
import { join } from "node:path";
import { text } from "node:stream/consumers";

/** @type {{renderToString(tex: string, options: object): string}} */
const katex = createRequire(join(process.argv[2], "package.json"))("./dist/katex.js");

/** @type {{tex: string, display: boolean}[]} */
const batch = JSON.parse(await text(process.stdin));

const answers = batch.map(({ tex, display }) => {
  try {
    const html = katex.renderToString(tex, {
      displayMode: display,
      output: "htmlAndMathml",
      throwOnError: true,
      strict: "error",
      trust: refuse, // KaTeX itself would print the command in red
    });
    return { html };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
});

process.stdout.write(JSON.stringify(answers));

/** @param {{command: string}} context @returns {never} */
function refuse({ command }) {
  throw new Error(`${command} is not allowed in a text`);
}
