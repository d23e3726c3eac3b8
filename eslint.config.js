import js from "@eslint/js";
import globals from "globals";

const rules = {
  ...js.configs.recommended.rules,
  eqeqeq: "error",
  "no-eval": "error",
  "no-implied-eval": "error",
  "no-new-func": "error",
  "no-var": "error",
  "prefer-const": "error",
  "no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
};

export default [
  { ignores: ["site/", ".venv*/", "node_modules/"] },
  { files: ["app/web/*.js"], languageOptions: { globals: { ...globals.browser, ...globals.worker } }, rules },
  { files: ["app/web/offline.js"], languageOptions: { sourceType: "script", globals: { SITE: "readonly" } } },
  {
    // Read by browsers that are too old for everything else: it is what tells them so.
    files: ["app/web/shell.js", "app/web/begin.js", "app/web/frame.js"],
    languageOptions: { sourceType: "script" },
    rules: { "no-var": "off", "no-unused-vars": ["error", { caughtErrors: "none" }] },
  },
  {
    files: ["app/**/*.mjs", "tests/web/*.js", "eslint.config.js"],
    languageOptions: { globals: globals.node },
    rules,
  },
];
