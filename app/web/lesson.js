// The lesson that a page shows: its experiments, brought to life when they come near, and how Python stands.
// It can be left and another one entered, while Python goes on.

import { Address } from "./address.js";
import { Experiment } from "./experiment.js";
import { isWhole } from "./python.js";
import { Status } from "./status.js";
import { Toolbar } from "./toolbar.js";

/**
 * @typedef {import("./python.js").Config} Config
 * @typedef {import("./client.js").Client} Client
 */

export class Lesson {
  /** @type {IntersectionObserver | null} */
  #near = null;

  /** @param {Config} config @param {Client} client */
  constructor(config, client) {
    this.config = config;
    this.client = client;
    this.experiments = [...document.querySelectorAll("section[data-experiment]")].map((section) =>
      this.#experiment(/** @type {HTMLElement} */ (section)),
    );
    /** @type {Record<string, import("./state.js").Spec>} */
    this.specs = Object.fromEntries(
      this.experiments.map(({ name, stored }) => [name, { options: stored.options, defaults: stored.state }]),
    );
    this.address = new Address(this.experiments, this.specs, config);
    this.status = new Status(
      document.getElementById("status") ?? document.createElement("p"),
      config.strings,
      () => {
        this.#enter("loading");
        client.retry();
      },
    );
  }

  /** @param {boolean} able  whether this browser can run Python */
  open(able) {
    this.address.read();
    this.#openWhenNear();
    if (!able || !isWhole()) return this.#enter("failed"); // shell.js has said why
    this.#enter("loading");
    document.addEventListener("normlab:missing", this.#giveUp);
    this.client.listen({
      progress: (progress) => this.status.progress(progress),
      live: (live) => {
        document.documentElement.dataset.boot = live.boot;
        this.status.live(live);
        this.#enter("live");
      },
      failed: (file) => {
        this.status.failed(file);
        this.#enter("failed");
      },
      crashed: () => {
        this.status.crashed();
        this.#enter("failed");
      },
      restarted: () => {
        this.status.restarted();
        this.#enter("loading");
      },
    });
  }

  /** The page is left: nothing of it is computed or heard any more. */
  close() {
    document.removeEventListener("normlab:missing", this.#giveUp);
    this.client.listen(null);
    this.#near?.disconnect();
    this.address.close();
    for (const experiment of this.experiments) experiment.close();
  }

  /** A part of the page has not come: Python may well be live, but for nothing. */
  #giveUp = () => {
    this.client.listen(null);
    this.#enter("failed");
  };

  /** @param {HTMLElement} section */
  #experiment(section) {
    const { strings, language, toolbar, version } = this.config;
    const experiment = new Experiment(section, {
      strings,
      language,
      paint: () => window.normlab.paint(section.dataset.experiment ?? ""),
      client: this.client,
      moved: () => {
        this.address.moved();
        section.dispatchEvent(new CustomEvent("normlab:moved", { bubbles: true }));
      },
    });
    experiment.tools = new Toolbar(experiment, toolbar, version);
    return experiment;
  }

  /** @param {"loading" | "live" | "failed"} runtime */
  #enter(runtime) {
    document.documentElement.dataset.runtime = runtime;
    for (const experiment of this.experiments) experiment.runtime(runtime);
    if (runtime !== "loading") void window.normlab?.stock(); // the line is free
  }

  /** Experiments that are near the viewport open first: their sessions begin as soon as Python is up. */
  #openWhenNear() {
    let isFirst = true;
    this.#near = new IntersectionObserver(
      (entries, observer) => {
        const near = entries.filter(({ isIntersecting }) => isIntersecting).map(({ target }) => target);
        for (const section of near) observer.unobserve(section);
        const opened = this.experiments.filter(({ section }) => near.includes(section)).map((it) => this.#begin(it));
        if (isFirst) this.client.hold(Promise.all(opened)); // the page has been entered, and paints all of them
        isFirst = false;
      },
      { rootMargin: "100% 0px" },
    );
    for (const { section } of this.experiments) this.#near.observe(section);
  }

  /** @param {Experiment} experiment */
  async #begin(experiment) {
    try {
      await experiment.open();
    } catch (fault) {
      console.error(fault); // it could not be painted; the others can
      experiment.unpainted();
    }
  }
}
