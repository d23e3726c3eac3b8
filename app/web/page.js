// The page: brings its lesson to life, and leads from page to page while Python goes on.

import { Lesson } from "./lesson.js";
import { able, client, oneIsSeen, readConfig } from "./python.js";
import { Travel } from "./travel.js";

await oneIsSeen();

/** None on the pages around the lessons. @type {Lesson | null} */
export let lesson = opened();

const SOON = 2; // so many experiments of a page are in the window or near it when it is entered
const LONG = 5000; // milliseconds from live after which the first figures need not be waited for
/** Addresses of the pages that were shown. */
const pages = [location.href];

if (able && document.documentElement.dataset.view !== "embed") {
  new Travel({
    flush: () => lesson?.address.flush(),
    follow: () => lesson?.address.follow(),
    again: () => lesson?.address.again(),
    ahead: (next, href) => {
      /** @type {NodeListOf<HTMLElement>} */
      const sections = next.querySelectorAll("section[data-experiment]");
      const soon = [...sections].slice(0, SOON);
      client.ahead(soon.map(({ dataset }) => dataset.experiment ?? ""), next.documentElement.lang);
      window.normlab.ahead(soon.map(({ dataset }) => new URL(dataset.document ?? "", href).href));
    },
    leave: () => lesson?.close(),
    enter: () => {
      window.normlab.scan();
      lesson = opened();
      pages.push(location.href);
    },
  });
  const script = new URL(lesson?.config.offline ?? "", document.baseURI); // the reader may have gone on by then
  void client.live.then(({ used }) => keep(script, used));
}
// The page may be put away and brought back (its worker sleeps with it); what must not be lost is the address.
addEventListener("pagehide", () => lesson?.address.flush());

function opened() {
  const config = readConfig();
  if (config === null) return null;
  const opened = new Lesson(config, client);
  opened.open(able);
  return opened;
}

/**
 * Have the site's files kept for use offline. Where that cannot be (no https, a private window, a login
 * before the site), nothing is missing.
 * @param {URL} script @param {string[]} used  what Python's start has fetched
 */
async function keep(script, used) {
  try {
    const registration = await navigator.serviceWorker.register(script, { updateViaCache: "none" });
    if (registration.active) await registration.update(); // that of this very build shall hear of it
    await firstAreComputed(); // megabytes are read for what follows
    const { installing, waiting, active } = registration;
    (installing ?? waiting ?? active)?.postMessage({ pages, used });
  } catch (fault) {
    console.info(`Nothing is kept for use offline: ${/** @type {Error} */ (fault).message}`);
  }
}

/** @returns {Promise<void>} */
function firstAreComputed() {
  const heard = new AbortController();
  return new Promise((resolve) => {
    setTimeout(done, LONG);
    addEventListener("normlab:state", look, { signal: heard.signal });

    function look() {
      const linked = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("section[data-hydration]"))];
      if (linked.every(({ dataset }) => dataset.state !== "prerendered" && dataset.state !== "computing")) done();
    }

    function done() {
      heard.abort();
      resolve();
    }
  });
}
