// The page: paints what a link asks for, brings the experiments to life, keeps the address up to date.

import { Experiment } from "./experiment.js";
import { able, client, config } from "./python.js";
import { format, parse } from "./state.js";
import { Status } from "./status.js";
import { Toolbar } from "./toolbar.js";
import { say } from "./words.js";

const root = document.documentElement;
const status = new Status(
  document.getElementById("status") ?? document.createElement("p"),
  config.strings,
  () => {
    enter("loading");
    client.retry();
  },
);

export const experiments = [...document.querySelectorAll("section[data-experiment]")].map(
  (section) =>
    new Experiment(/** @type {HTMLElement} */ (section), {
      strings: config.strings,
      language: config.language,
      paint: () => window.normlab.paint(/** @type {HTMLElement} */ (section).dataset.experiment ?? ""),
      client,
      moved: () => {
        address.write();
        section.dispatchEvent(new CustomEvent("normlab:moved", { bubbles: true }));
      },
    }),
);
export const specs = Object.fromEntries(
  experiments.map(({ name, stored }) => [name, { options: stored.options, defaults: stored.state }]),
);

for (const experiment of experiments) experiment.tools = new Toolbar(experiment, config.toolbar, config.version);

/** The address says what the experiments are asked to show. */
const address = {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  clock: undefined,
  /** The query that the experiments follow. */
  query: location.search,

  read() {
    const asked = parse(location.search, specs);
    for (const experiment of experiments) experiment.ask(asked.states[experiment.name]);
    noteFaults(asked.notices, generally(asked));
  },

  /** The reader went back or forward, to another address of this page. */
  again() {
    if (location.search === this.query) return; // another place of it
    clearTimeout(this.clock); // a move that was not written yet was the other address's
    this.clock = undefined;
    this.take(parse(location.search, specs), experiments);
  },

  /** A link in the text: what it says nothing about stays. @param {URL} link */
  follow({ search, hash }) {
    this.flush();
    const asked = parse(search, specs);
    history.pushState(null, "", `${location.pathname}${search}${hash}`);
    this.take(asked, experiments.filter(({ name }) => asked.named.includes(name)));
    this.flush();
  },

  /** @param {import("./state.js").Parsed} asked @param {Experiment[]} those */
  take(asked, those) {
    this.query = location.search;
    for (const experiment of those) experiment.take(asked.states[experiment.name]);
    noteFaults(asked.notices, generally(asked));
  },

  /** Browsers refuse more than a few changes of address a second. */
  write() {
    this.clock ??= setTimeout(() => this.flush(), 250);
  },

  flush() {
    clearTimeout(this.clock);
    this.clock = undefined;
    const states = Object.fromEntries(experiments.map(({ name, state }) => [name, state]));
    const show = new URLSearchParams(location.search).get("show"); // an embed's
    const query = format(states, specs, config.version, show);
    this.query = query;
    if (query === location.search) return;
    history.replaceState(history.state, "", `${location.pathname}${query}${location.hash}`);
  }
};

/**
 * Say what was wrong with values from outside, each fault where it is; what is about no experiment stands
 * where the reader arrives.
 * @param {import("./state.js").Notice[]} notices @param {string[]} [general]
 */
export function noteFaults(notices, general = []) {
  const arrival = experiments.find(({ name }) => location.hash === `#${name}`) ?? experiments[0];
  for (const it of experiments) {
    const own = notices.filter(({ experiment }) => experiment === it.name || (experiment === null && it === arrival));
    const faults = own.map(({ kind, name, given, used, low, high }) =>
      say(config.notices, kind, { label: labelOf(it.section, name), name, given, used, low, high }),
    );
    it.note(it === arrival ? [...faults, ...general] : faults);
  }
}

/** What is to be said of a link as a whole. @param {import("./state.js").Parsed} asked */
function generally({ version }) {
  if (version === null || version === config.version) return [];
  return [say(config.strings, "notice_version", { given: version, used: config.version })];
}

/** What the page calls an option. @param {HTMLElement} section @param {string} option */
function labelOf(section, option) {
  return section.querySelector(`[data-control="${CSS.escape(option)}"] label`)?.textContent ?? option;
}

/** @param {"loading" | "live" | "failed"} runtime */
function enter(runtime) {
  root.dataset.runtime = runtime;
  for (const experiment of experiments) experiment.runtime(runtime);
}

/** Experiments that are near the viewport open first: their sessions begin as soon as Python is up. */
function openWhenNear() {
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        const experiment = experiments.find(({ section }) => section === target);
        if (experiment) void open(experiment);
      }
    },
    { rootMargin: "100% 0px" },
  );
  for (const { section } of experiments) observer.observe(section);
}

/** @param {Experiment} experiment */
async function open(experiment) {
  try {
    await experiment.open();
  } catch (fault) {
    console.error(fault); // it could not be painted; the others can
    experiment.unpainted();
  }
}

/** Links to this page at another state: to follow them as others would start Python anew. @param {MouseEvent} event */
function clicked(event) {
  const { target, button, ctrlKey, metaKey, shiftKey, altKey } = event;
  if (event.defaultPrevented || button !== 0 || ctrlKey || metaKey || shiftKey || altKey) return;
  const link = target instanceof Element ? target.closest("main a[href]") : null;
  if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download")) return;
  const to = new URL(link.href);
  if (to.origin !== location.origin || to.pathname !== location.pathname || to.search === "") return;
  event.preventDefault();
  to.searchParams.delete("theme"); // shell.js has it carried; here the colours are what they are
  address.follow(to);
  arrive(to.hash);
}

/** Where the link leads to: seen, and the keyboard goes on from there. @param {string} hash */
function arrive(hash) {
  const place = hash === "" ? null : document.getElementById(decodeURIComponent(hash.slice(1)));
  if (place === null) return;
  place.scrollIntoView();
  if (!place.hasAttribute("tabindex")) {
    place.tabIndex = -1;
    place.addEventListener("blur", () => place.removeAttribute("tabindex"), { once: true });
  }
  place.focus({ preventScroll: true });
}

address.read();
if (root.dataset.view !== "embed") {
  document.addEventListener("click", clicked);
  addEventListener("popstate", () => address.again());
}
enter(able ? "loading" : "failed");
if (able) {
  openWhenNear();
  client.listen({
    progress: (progress) => status.progress(progress),
    live: (live) => {
      root.dataset.boot = live.boot;
      status.live(live);
      enter("live");
    },
    failed: (file) => {
      status.failed(file);
      enter("failed");
    },
    crashed: () => {
      status.crashed();
      enter("failed");
    },
    restarted: () => {
      status.restarted();
      enter("loading");
    },
  });
}
// The page may be put away and brought back (its worker sleeps with it); what must not be lost is the address.
addEventListener("pagehide", () => {
  if (address.clock !== undefined) address.flush();
});
