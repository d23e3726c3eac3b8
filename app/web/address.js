// The page's address says what its experiments are asked to show: it is read, followed and kept up to date.

import { format, parse } from "./state.js";
import { say } from "./words.js";

/**
 * @typedef {import("./experiment.js").Experiment} Experiment
 * @typedef {import("./state.js").Notice} Notice
 * @typedef {import("./state.js").Parsed} Parsed
 */

export class Address {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #clock;
  /** The query that the experiments follow. */
  #query = location.search;
  #page = pageOf(location);

  /**
   * @param {Experiment[]} experiments
   * @param {Record<string, import("./state.js").Spec>} specs
   * @param {import("./python.js").Config} config
   */
  constructor(experiments, specs, config) {
    this.experiments = experiments;
    this.specs = specs;
    this.config = config;
  }

  /** The page is opened: before anything is painted. */
  read() {
    const asked = parse(location.search, this.specs);
    for (const experiment of this.experiments) experiment.ask(asked.states[experiment.name]);
    this.fault(asked.notices, this.#generally(asked));
  }

  /** The reader went back or forward, to another address of this page. */
  again() {
    if (location.search === this.#query) return; // another place of it
    clearTimeout(this.#clock); // a move that was not written yet was the other address's
    this.#clock = undefined;
    this.#take(parse(location.search, this.specs), this.experiments);
  }

  /** A link to this page has been followed: what it says nothing about stays. */
  follow() {
    const asked = parse(location.search, this.specs);
    this.#take(asked, this.experiments.filter(({ name }) => asked.named.includes(name)));
    this.#write();
  }

  /** Browsers refuse more than a few changes of address a second. */
  moved() {
    this.#clock ??= setTimeout(() => this.flush(), 250);
  }

  /** Write what is to be written, now. */
  flush() {
    if (this.#clock !== undefined) this.#write();
  }

  close() {
    clearTimeout(this.#clock);
    this.#clock = undefined;
  }

  /**
   * Say what was wrong with values from outside, each fault where it is; what is about no experiment stands
   * where the reader arrives.
   * @param {Notice[]} notices @param {string[]} [general]
   */
  fault(notices, general = []) {
    const { experiments } = this;
    const arrival = experiments.find(({ name }) => location.hash === `#${name}`) ?? experiments[0];
    for (const it of experiments) {
      const own = notices.filter(({ experiment }) => experiment === it.name || (experiment === null && it === arrival));
      const faults = own.map(({ kind, name, given, used, low, high }) =>
        say(this.config.notices, kind, { label: labelOf(it.section, name), name, given, used, low, high }),
      );
      it.note(it === arrival ? [...faults, ...general] : faults);
    }
  }

  /** @param {Parsed} asked @param {Experiment[]} those */
  #take(asked, those) {
    this.#query = location.search;
    for (const experiment of those) experiment.take(asked.states[experiment.name]);
    this.fault(asked.notices, this.#generally(asked));
  }

  #write() {
    this.close();
    if (pageOf(location) !== this.#page) return; // gone back already, and the other page is on its way
    const states = Object.fromEntries(this.experiments.map(({ name, state }) => [name, state]));
    const show = new URLSearchParams(location.search).get("show"); // an embed's
    this.#query = format(states, this.specs, this.config.version, show);
    if (this.#query === location.search) return;
    history.replaceState(history.state, "", `${location.pathname}${this.#query}${location.hash}`);
  }

  /** What is to be said of a link as a whole. @param {Parsed} asked */
  #generally({ version }) {
    const { strings, version: used } = this.config;
    return version === null || version === used ? [] : [say(strings, "notice_version", { given: version, used })];
  }
}

/** A page has two names, as a folder and as its file. @param {URL | Location} address */
export function pageOf({ pathname }) {
  return pathname.replace(/\/index\.html$/, "/");
}

/** What the page calls an option. @param {HTMLElement} section @param {string} option */
function labelOf(section, option) {
  return section.querySelector(`[data-control="${CSS.escape(option)}"] label`)?.textContent ?? option;
}
