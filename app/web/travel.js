// From page to page within the site: the next page is fetched and put in this one's place, so that Python goes on.
// Whatever is not as expected (another build, an error, a page of another kind) ends in an ordinary load.

import { pageOf } from "./address.js";

/**
 * @typedef {object} Page  what is on the page that is left, and on the one that is entered
 * @property {() => void} flush  write the address, if it is behind
 * @property {() => void} follow  show what the address says, which a link to this page has just changed
 * @property {() => void} again  the same after a step back or forward
 * @property {(next: Document, href: string) => void} ahead  this page is likely to be entered next
 * @property {() => void} leave
 * @property {() => void} enter
 *
 * @typedef {"push" | "replace" | "step"} How  step: back or forward, the address has changed already
 */

// What of a page's head is its own; scripts and style are every page's.
const OWN = "meta[name=description], meta[name=robots], link[rel=canonical], link[rel=alternate], #normlab-page";

const root = document.documentElement;

export class Travel {
  /** What the pages of this build need, by address: another build's pages name others. */
  #needs = new Set(needs(document, location.href));
  #here = pageOf(location);
  /** The number of the entry in the history where the reader is. */
  #entry = Number(history.state?.entry ?? 0);
  /** That of the page that is shown: while another is on its way, the reader is there already. */
  #shown = this.#entry;
  /** The address is ahead of the page, so that its links would lead elsewhere. */
  #stepping = false;
  /** How far down the entries were scrolled when they were left. @type {Map<number, number>} */
  #tops = new Map();
  /** The page that is on its way. */
  #way = new AbortController();
  /** A page that is fetched since its link is pointed at. @type {{href: string, next: Promise<Document>} | null} */
  #ahead = null;

  /** @param {Page} page */
  constructor(page) {
    this.page = page;
    history.replaceState({ entry: this.#entry }, "");
    // All pages have the same one, and the browser may ask for it again when the address has changed.
    /** @type {HTMLLinkElement | null} */
    const icon = document.querySelector("link[rel=icon]");
    icon?.setAttribute("href", icon.href);
    // The browser would scroll back before the page is there. After an ordinary load it knows better.
    history.scrollRestoration = "manual";
    addEventListener("pagehide", () => (history.scrollRestoration = "auto"));
    addEventListener("pageshow", () => (history.scrollRestoration = "manual"));
    addEventListener("click", (event) => this.#before(event), true); // before shell.js has a link carry the address
    document.addEventListener("click", (event) => this.#clicked(event));
    for (const type of ["pointerover", "focusin"]) document.addEventListener(type, (event) => this.#pointed(event));
    addEventListener("popstate", ({ state }) => this.#stepped(state));
  }

  /** @param {Event} event */
  #before(event) {
    if (!linkAt(event)) return;
    this.page.flush();
    this.#tops.set(this.#shown, scrollY);
  }

  /** @param {MouseEvent} event */
  #clicked(event) {
    const { button, ctrlKey, metaKey, shiftKey, altKey, defaultPrevented } = event;
    if (defaultPrevented || button !== 0 || ctrlKey || metaKey || shiftKey || altKey) return;
    const link = linkAt(event);
    if (link === null) return;
    if (this.#stepping) return event.preventDefault();
    const to = target(link);
    const samePage = pageOf(to) === this.#here;
    const isPlace = samePage && to.search === location.search && to.hash !== "";
    if (isPlace && to.pathname === location.pathname) return; // a place on this page
    if (isPlace || (samePage && to.search !== location.search && to.search !== "")) {
      event.preventDefault();
      this.#way.abort();
      this.#push("push", to);
      this.page.follow();
      arrive(to.hash);
    } else if (root.dataset.runtime !== "failed" && window.Bokeh !== undefined) { // else a load may help
      event.preventDefault();
      void this.#go(to, to.href === location.href ? "replace" : "push", link.href);
    }
  }

  /** A page is likely to be wanted soon when its link is pointed at. @param {Event} event */
  #pointed(event) {
    const link = linkAt(event);
    if (link === null) return;
    const to = target(link);
    const { href } = fileOf(to);
    if (root.dataset.runtime !== "live" || pageOf(to) === this.#here || this.#ahead?.href === href) return;
    const ahead = (this.#ahead = { href, next: this.#fetched(to) });
    ahead.next.catch(() => {
      if (this.#ahead === ahead) this.#ahead = null; // asked for again when it is wanted
    });
  }

  /** The address has changed by itself. @param {{entry?: number} | null} state  the entry's */
  #stepped(state) {
    this.#way.abort();
    this.#stepping = false;
    if (state?.entry === undefined) { // a place on this page has been followed: a new entry
      this.#shown = this.#entry += 1;
      history.replaceState({ entry: this.#entry }, "");
      return;
    }
    this.#tops.set(this.#shown, scrollY);
    this.#entry = state.entry;
    if (pageOf(location) === this.#here) {
      this.#shown = this.#entry;
      this.page.again();
      this.#scrollBack();
    } else {
      this.#stepping = true;
      void this.#go(new URL(location.href), "step", location.href);
    }
  }

  /** @param {URL} to @param {How} how @param {string} otherwise  the address for an ordinary load */
  async #go(to, how, otherwise) {
    this.#way.abort();
    const { signal } = (this.#way = new AbortController());
    let moved = how === "step";
    try {
      const { href } = fileOf(to);
      const next = await (this.#ahead?.href === href ? this.#ahead.next : this.#fetched(to, signal));
      if (signal.aborted) return;
      if (!isOurs(next) || needs(next, href).some((it) => !this.#needs.has(it))) throw new Error("it is of another kind");
      this.page.flush();
      this.page.leave();
      if (how !== "step") this.#push(how, to);
      moved = true;
      this.#here = pageOf(to);
      this.#shown = this.#entry;
      put(next);
      document.dispatchEvent(new Event("normlab:entered"));
      this.page.enter();
      arrive(to.hash, true);
      if (how === "step") this.#scrollBack();
    } catch (fault) {
      if (signal.aborted) return;
      console.info(`${to.pathname} is loaded by the browser: ${/** @type {Error} */ (fault).message}`);
      if (moved) location.reload();
      else location.assign(otherwise);
    } finally {
      this.#ahead = null;
      if (!signal.aborted) this.#stepping = false;
    }
  }

  /** @param {URL} to @param {AbortSignal} [signal] @returns {Promise<Document>} */
  async #fetched(to, signal) {
    const { href } = fileOf(to);
    const next = new DOMParser().parseFromString(await fetched(href, signal), "text/html");
    if (isOurs(next)) this.page.ahead(next, href);
    return next;
  }

  /** @param {"push" | "replace"} how @param {URL} to */
  #push(how, to) {
    if (how === "push") {
      this.#entry += 1;
      this.#tops.delete(this.#entry);
      this.#shown = this.#entry;
      history.pushState({ entry: this.#entry }, "", to.href);
    } else {
      history.replaceState({ entry: this.#entry }, "", to.href);
    }
  }

  #scrollBack() {
    const top = this.#tops.get(this.#entry);
    if (top !== undefined) scrollTo({ top, behavior: "instant" });
  }
}

/** The link to one of this site's pages on which something happened. @param {Event} event @returns {HTMLAnchorElement | null} */
function linkAt({ target }) {
  const link = target instanceof Element ? target.closest("a[href]") : null;
  if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download")) return null;
  return link.origin === location.origin && /(\/|\.html)$/.test(link.pathname) ? link : null;
}

/** Where a link leads: the colours, which shell.js has links carry, are here already. @param {HTMLAnchorElement} link */
function target({ href }) {
  const to = new URL(href);
  if (!to.searchParams.has("theme")) return to;
  to.searchParams.delete("theme");
  to.search = to.search.replaceAll("%2C", ",");
  return to;
}

/** @param {URL} address  the file alone: what a reader set is nobody else's business */
function fileOf({ href }) {
  const file = new URL(href);
  file.search = file.hash = "";
  return file;
}

/** @param {string} href @param {AbortSignal} [signal] @returns {Promise<string>} */
async function fetched(href, signal) {
  const answer = await fetch(href, { signal, headers: { Accept: "text/html" } });
  const isPage = answer.ok && !answer.redirected && answer.headers.get("Content-Type")?.startsWith("text/html");
  if (!isPage) throw new Error(`the answer was ${answer.status} from ${answer.url}`);
  return answer.text();
}

/** Whether it is a page that can stand in this one's place. @param {Document} next */
function isOurs({ documentElement: { dataset }, body }) {
  return dataset.runtime !== undefined && !dataset.view && !dataset.chooses && body.querySelector("main") !== null;
}

/** The files without which a page is not whole. @param {Document} page @param {string} href  its address */
function needs(page, href) {
  const config = JSON.parse(page.getElementById("normlab-page")?.textContent ?? "{}");
  const scripts = [...page.querySelectorAll("script[src]")].map((it) => it.getAttribute("src"));
  const sheets = [...page.querySelectorAll("link[rel=stylesheet]")].map((it) => it.getAttribute("href"));
  const all = [...scripts, ...sheets, config.runtime, config.worker].filter((it) => it !== undefined && it !== null);
  return all.map((it) => new URL(it, href).href);
}

/** @param {Document} next */
function put(next) {
  for (const each of next.querySelectorAll("noscript")) each.remove(); // parsed as if there were no scripts
  root.lang = next.documentElement.lang;
  const { lesson } = next.documentElement.dataset;
  if (lesson === undefined) delete root.dataset.lesson;
  else root.dataset.lesson = lesson;
  document.title = next.title;
  for (const each of document.head.querySelectorAll(OWN)) each.remove();
  document.head.append(...next.head.querySelectorAll(OWN));
  document.body.replaceChildren(...next.body.childNodes);
}

/**
 * Where a link leads to: it is seen, and keyboard and screen reader go on from there.
 * @param {string} hash @param {boolean} [entered]  the page is another one
 */
function arrive(hash, entered = false) {
  const place = hash === "" ? null : document.getElementById(plain(hash.slice(1)));
  if (place) place.scrollIntoView(entered ? { behavior: "instant" } : {});
  else if (entered) scrollTo({ top: 0, behavior: "instant" });
  focus(place ?? (entered ? document.querySelector("h1") : null));
}

/** A place's name may hold signs that addresses cannot; or a per cent sign by mistake. @param {string} escaped */
function plain(escaped) {
  try {
    return decodeURIComponent(escaped);
  } catch {
    return escaped;
  }
}

/** @param {HTMLElement | null} place */
function focus(place) {
  if (place && !place.hasAttribute("tabindex")) {
    place.tabIndex = -1; // for now: else a click anywhere in it would give it the keyboard
    place.addEventListener("blur", () => place.removeAttribute("tabindex"), { once: true });
  }
  place?.focus({ preventScroll: true });
}
