// What stands below every experiment: take it away (picture, data, link, embedding), or begin anew.

import { pictureOfDrawings } from "./drawings.js";
import { picture } from "./picture.js";
import { formatOne } from "./state.js";
import { say } from "./words.js";

/**
 * @typedef {import("./experiment.js").Experiment} Experiment
 * @typedef {import("./protocol.js").NumbersFile} NumbersFile
 * @typedef {import("./protocol.js").State} State
 * @typedef {import("./words.js").Strings} Strings
 */

const KEPT = 60_000; // milliseconds for which a download can still be read: browsers do not say when they have

export class Toolbar {
  /** @type {string[]} addresses of the files that the panel offers */
  #offered = [];

  /** @param {Experiment} experiment @param {Strings} strings @param {string} version */
  constructor(experiment, strings, version) {
    this.experiment = experiment;
    this.strings = strings;
    this.version = version;
    this.element = experiment.section.querySelector("[data-tools]");
    this.element?.addEventListener("click", (event) => this.#clicked(event));
    experiment.section.addEventListener("normlab:moved", () => {
      // Whoever opens a panel has it filled: nothing is measured under a hand that drags.
      if (this.element?.querySelector("[data-panel]:not([hidden])")) this.#fill();
    });
    if (embedded()) this.#button("embed")?.remove();
  }

  /** The numbers have come: those that are shown. @param {NumbersFile[]} files */
  exported(files) {
    const [first, ...others] = files;
    if (first === undefined) this.#tell("no_data");
    else if (others.length === 0) this.#tell("data", { file: this.#save(this.#csv(first.text), `${first.name}.csv`) });
    else this.#offer(files);
  }

  /** Python will not come, or has gone. */
  failed() {
    this.#tell("data_failed");
  }

  /** The page is left. */
  close() {
    for (const address of this.#offered.splice(0)) URL.revokeObjectURL(address);
  }

  /** @param {Event} event */
  #clicked({ target }) {
    const button = target instanceof Element ? target.closest("button") : null;
    if (button === null) return;
    const { tool, copies, figure, format } = button.dataset;
    if (copies !== undefined) void this.#copy(copies, "copied");
    else if (figure !== undefined) void this.#picture(figure, format === "svg" ? "svg" : "png");
    else if (tool === "picture" || tool === "embed") this.#toggle(tool);
    else if (tool === "data") this.#data();
    else if (tool === "link") this.#link();
    else if (tool === "reset") this.#reset();
  }

  // -------------------------------------------------------------------------- what the buttons do

  #data() {
    this.#show(null);
    this.#tell("waiting");
    if (!this.experiment.export()) this.failed();
  }

  /** Several tables are several files: browsers ask before they take more than one at a press. @param {NumbersFile[]} files */
  #offer(files) {
    const panel = this.#panel("data");
    for (const address of this.#offered.splice(0)) URL.revokeObjectURL(address);
    panel?.replaceChildren(
      ...files.map(({ name, text }) => {
        const link = document.createElement("a");
        link.download = `${this.#stem()}-${name}.csv`;
        link.textContent = link.download;
        link.href = URL.createObjectURL(this.#csv(text));
        this.#offered.push(link.href);
        const item = document.createElement("li");
        item.append(link);
        return item;
      }),
    );
    this.#tell("data_many", { n: String(files.length) });
    this.#show("data");
  }

  /** @param {string} slot @param {import("./picture.js").Format} format */
  async #picture(slot, format) {
    try {
      const painted = await this.experiment.paint();
      const { caption } = this.#panel("picture")?.querySelector(`[data-figure="${CSS.escape(slot)}"]`)?.closest("li")?.dataset ?? {};
      const drawn = this.experiment.section.querySelector(`[data-part="${CSS.escape(slot)}"]`);
      const shown = drawn ? this.experiment.state : this.experiment.shown; // drawings wait for nobody
      const made = say(this.strings, "made", { version: this.version, link: this.#address(shown) });
      const words = { caption: caption ?? "", notes: [painted.settings(shown, this.strings), made] };
      const blob = await (drawn ? pictureOfDrawings(drawn, words, format) : picture(painted.figure(slot), words, format));
      this.#tell("picture", { file: this.#save(blob, `${slot}.${format}`, shown) });
    } catch (fault) {
      console.error(fault);
      this.#tell("no_picture");
    }
  }

  #link() {
    this.#fill();
    this.#show(null);
    void this.#copy("link", "link");
  }

  #reset() {
    this.#show(null);
    this.experiment.reset();
    this.#tell("reset");
  }

  // -------------------------------------------------------------------------- panels and fields

  /** @param {string} tool */
  #toggle(tool) {
    this.#fill();
    this.#tell("");
    this.#show(this.#panel(tool)?.hidden ? tool : null);
  }

  /** One panel at a time. @param {string | null} tool */
  #show(tool) {
    for (const panel of this.element?.querySelectorAll("[data-panel]") ?? []) {
      const shown = panel instanceof HTMLElement && panel.dataset.panel === tool;
      panel.toggleAttribute("hidden", !shown);
      const button = this.#button(panel.getAttribute("data-panel") ?? "");
      if (button?.hasAttribute("aria-expanded")) button.setAttribute("aria-expanded", String(shown));
    }
  }

  /** What the fields hold: always the state that the reader asks for. */
  #fill() {
    const { name, state, stored, section } = this.experiment;
    const question = section.querySelector(`[id="${CSS.escape(`${name}-question`)}"]`)?.textContent?.trim() ?? "";
    const link = this.#address(state);
    const framed = new URL(`embed/index.html${formatOne(state, stored, this.version, "", name)}`, location.href).href;
    const height = Math.ceil(section.getBoundingClientRect().height / 10) * 10 + 80; // status and credit line
    this.#write("link", link);
    this.#write("embed", iframe(framed, question, height));
    const date = new Date().toISOString().slice(0, 10);
    this.#write("cite", say(this.strings, "cite", { question, version: this.version, date, link }));
  }

  /** @param {string} name @param {string} text */
  #write(name, text) {
    const field = this.#field(name);
    if (field && field.value !== text) field.value = text;
  }

  /** @param {string} name  of the field @param {string} said  once it is done */
  async #copy(name, said) {
    const field = this.#field(name);
    if (!field) return;
    try {
      await navigator.clipboard.writeText(field.value); // not there at all on a plain http address
      this.#tell(said);
    } catch {
      if (name === "link") this.#show("link");
      field.focus();
      field.select();
      this.#tell("copy_yourself");
    }
  }

  /** @param {string} name */
  #field(name) {
    return /** @type {HTMLTextAreaElement | null} */ (this.element?.querySelector(`[data-field="${name}"]`) ?? null);
  }

  /** @param {string} tool */
  #panel(tool) {
    return /** @type {HTMLElement | null} */ (this.element?.querySelector(`[data-panel="${tool}"]`) ?? null);
  }

  /** @param {string} tool */
  #button(tool) {
    return this.element?.querySelector(`[data-tool="${tool}"]`) ?? null;
  }

  /** A live region. @param {string} key  of `said_…`, or none @param {Record<string, string>} [values] */
  #tell(key, values) {
    const region = this.element?.querySelector("[data-said]");
    if (region) region.textContent = key ? say(this.strings, `said_${key}`, values) : "";
  }

  // -------------------------------------------------------------------------- addresses and files

  /** The lesson's, from its own page as from an embed, at a state. @param {State} state */
  #address(state) {
    const { name, stored } = this.experiment;
    const address = new URL(embedded() ? "../index.html" : location.pathname, location.href);
    address.search = formatOne(state, stored, this.version, `${name}.`);
    address.hash = name;
    return address.href.replaceAll("%2C", ",");
  }

  /** "normlab-sensitivity-depth-24": the experiment, and what differs from where it begins. @param {State} [shown] */
  #stem(shown = this.experiment.shown) {
    const { name, stored } = this.experiment;
    const differing = Object.keys(shown).filter((option) => shown[option] !== stored.state[option]);
    const parts = ["normlab", name, ...differing.map((option) => `${option}-${shown[option]}`)];
    return parts.join("-").replaceAll(/[^\w.-]+/g, "_").slice(0, 120);
  }

  /** @param {string} text */
  #csv(text) {
    return new Blob([`# link: ${this.#address(this.experiment.shown)}\n${text}`], { type: "text/csv" });
  }

  /** @param {Blob} blob @param {string} end @param {State} [shown] @returns {string} the file's name */
  #save(blob, end, shown) {
    const link = document.createElement("a");
    link.download = `${this.#stem(shown)}-${end}`;
    link.href = URL.createObjectURL(blob);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), KEPT);
    return link.download;
  }
}

/** Whether this is an experiment in another page's frame: there it cannot be embedded from. */
function embedded() {
  return document.documentElement.dataset.view === "embed";
}

/** @param {string} address @param {string} title @param {number} height */
function iframe(address, title, height) {
  const [src, name] = [address, title].map((text) => text.replaceAll('"', "&quot;"));
  return `<iframe src="${src}" title="${name}" width="100%" height="${height}" loading="lazy" allow="clipboard-write"></iframe>`;
}
