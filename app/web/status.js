// The page's status line: what Python is doing, in bytes and named stages; a failure with its retry.

import { megabytes, say } from "./words.js";

/** @typedef {import("./words.js").Strings} Strings */

export class Status {
  #stage = "";
  #drawn = 0;
  #total = 0;

  /** @param {HTMLElement} element  a live region @param {Strings} strings @param {() => void} retry */
  constructor(element, strings, retry) {
    this.element = element;
    this.strings = strings;
    this.retry = retry;
  }

  /** @param {import("./protocol.js").Progress} progress */
  progress({ stage, loaded, total }) {
    if (stage !== this.#stage) {
      this.#stage = stage;
      this.#write(say(this.strings, `status_${stage}`));
      this.#drawn = 0;
    }
    if (stage !== "download") return;
    // What is wanted in all is never skipped: the files just asked for may send nothing for long.
    if (total === this.#total && performance.now() - this.#drawn < 100) return;
    [this.#drawn, this.#total] = [performance.now(), total];
    this.#bytes(say(this.strings, "status_bytes", { loaded: megabytes(loaded), total: megabytes(total) }));
  }

  /** @param {{numpy: string}} live */
  live({ numpy }) {
    this.#stage = "live";
    this.#write(say(this.strings, "status_live", { numpy }));
  }

  restarted() {
    this.#stage = "";
    this.#write(say(this.strings, "status_restarted"));
  }

  /** @param {string} file  the missing or damaged one, or "" */
  failed(file) {
    this.#offer(file ? say(this.strings, "status_failed_file", { file }) : say(this.strings, "status_failed"));
  }

  crashed() {
    this.#offer(say(this.strings, "status_crashed"));
  }

  /** What went wrong, and a button to try again. @param {string} text */
  #offer(text) {
    this.#stage = "failed";
    this.#write(text);
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.retry = "";
    button.textContent = say(this.strings, "retry");
    button.addEventListener("click", () => this.retry());
    this.element.append(" ", button);
  }

  /** @param {string} text */
  #write(text) {
    this.element.textContent = text;
  }

  /** Numbers that change ten times a second are for the eye: a screen reader hears the stages. @param {string} text */
  #bytes(text) {
    let bytes = this.element.querySelector("[data-bytes]");
    if (!bytes) {
      bytes = document.createElement("span");
      bytes.setAttribute("data-bytes", "");
      bytes.setAttribute("aria-hidden", "true");
      this.element.append(" ", bytes);
    }
    bytes.textContent = text;
  }
}
