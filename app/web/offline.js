// The service worker: keeps the site's own files, so that a page that was visited opens offline, too.
// It only ever helps: no page waits for it or needs it, and it stores nothing that a reader set.
// app/site/offline.py writes SITE, what this build consists of, before it.

(function () {
  const { version, assets, runtime, files, contents, offline } = SITE;
  const home = new URL("./", location.href).href;
  const OURS = `normlab ${home} `; // other sites may share the origin, and with it the caches
  const worker = /** @type {any} */ (self); // as a service worker's it is unknown to the type checker

  worker.addEventListener("install", (/** @type {any} */ event) => {
    worker.skipWaiting(); // it serves older pages as the older one did: from the line
    event.waitUntil(install());
  });
  worker.addEventListener("activate", (/** @type {any} */ event) => event.waitUntil(activate()));
  worker.addEventListener("fetch", (/** @type {any} */ event) => {
    const { url, method } = event.request;
    if (method !== "GET" || !url.startsWith(home)) return;
    const path = pathOf(url);
    if (Object.hasOwn(files, path)) event.respondWith(file(event, path));
    else if (isPage(path)) event.respondWith(page(event, path));
  });
  // Pages, and the files that Python's start has used, told once it is live: they came before this worker did.
  worker.addEventListener("message", (/** @type {any} */ event) => {
    const { pages, used } = event.data;
    event.waitUntil(keepAll([...used, ...pages].map(pathOf)));
  });

  /** Whole or not at all: the next visit tries again. What was visited before is kept from now on as it is now. */
  async function install() {
    const kept = await Promise.all((await ofOurs()).map(async (name) => (await caches.open(name)).keys()));
    for (const path of Object.keys(files)) if (path.startsWith(assets)) await keepFile(path);
    const fronts = ["", ...Object.keys(offline).map((language) => `${language}/`)];
    await keepAll([...Object.values(offline), ...fronts, ...kept.flat().map(({ url }) => pathOf(url))]);
  }

  async function activate() {
    for (const name of await ofOurs()) if (name !== OURS + version) await caches.delete(name);
    await worker.registration.navigationPreload?.enable(); // a page need not wait until this worker is awake
    await worker.clients.claim();
  }

  /** A file is named by its content: what is kept is what it is. @param {any} event @param {string} path */
  async function file({ request }, path) {
    const again = request.cache === "reload" || request.cache === "no-store"; // something was wrong with it
    const kept = again ? undefined : await (await cache()).match(home + path);
    if (kept) return kept;
    return request.cache === "only-if-cached" ? new Response(null, { status: 504 }) : fetch(request); // as HTTP has it
  }

  /** A page is asked for anew each time: a new one shows at once. @param {any} event @param {string} path */
  async function page(event, path) {
    try {
      const answer = (await event.preloadResponse) ?? (await fetch(event.request));
      event.waitUntil(tried(path, keepPage(path, answer.clone())));
      return answer;
    } catch (fault) {
      const own = Object.values(offline).includes(path); // as it was built it lists pages that may not be kept
      const kept = own ? undefined : await (await cache()).match(keyOf(path));
      if (kept) return kept;
      const whole = event.request.destination === "document"; // and no frame, whose host has words of its own
      const other = whole ? await instead(path) : undefined;
      if (other) return other;
      throw fault;
    }
  }

  /**
   * A page in the place of one that is not kept, in its language: it says so and leads to those that are,
   * and to the wanted one in the other languages.
   * @param {string} path
   */
  async function instead(path) {
    const kept = await cache();
    const [first] = Object.values(offline);
    const [language] = path.split("/");
    const answer = await kept.match(home + (offline[language] ?? first));
    if (answer === undefined) return undefined;
    const there = new Set((await kept.keys()).map((/** @type {Request} */ { url }) => pathOf(url)));
    const built = await answer.text();
    const wanted = pathOf(keyOf(path)).slice(language.length);
    const html = built
      .replace(/<meta http-equiv="refresh".*?>\n/s, "") // with a line it only leads on
      .replace(/"\.\.\/([^/"]*)\/index\.html" hreflang/g, (link, other) =>
        built.includes(` data-page="${other}${wanted}"`) ? `"../${other}${wanted}index.html" hreflang` : link,
      )
      .replaceAll('"../', () => `"${home}`) // it stands at another address than its own
      .replace(/<li data-page="([^"]*)">.*?<\/li>\n/gs, (item, page) => (there.has(page) ? item : ""));
    return new Response(html, { status: 503, headers: answer.headers });
  }

  /** @param {string[]} paths */
  async function keepAll(paths) {
    for (const path of paths) await tried(path, keep(path));
  }

  /** What cannot be kept is missing offline, nothing else is. @param {string} path @param {Promise<void>} keeping */
  function tried(path, keeping) {
    return keeping.catch((fault) => console.info(`${path} is not kept: ${fault.message}`));
  }

  /** @param {string} path */
  async function keep(path) {
    if (Object.hasOwn(files, path)) await keepFile(path);
    else if (isPage(path)) await keepPage(path, await fetch(home + path, { cache: "no-cache" })); // no older build's
  }

  /** Only whole files are kept, whatever a proxy or a bad line makes of them. @param {string} path */
  async function keepFile(path) {
    const kept = await cache();
    if (await kept.match(home + path)) return;
    for (const name of await ofOurs()) {
      const older = await (await caches.open(name)).match(home + path);
      if (older) return kept.put(home + path, older);
    }
    for (const how of /** @type {RequestCache[]} */ (["default", "reload"])) {
      const answer = await fetch(home + path, { cache: how });
      const body = await answer.arrayBuffer();
      if (answer.ok && (await isWhole(path, body))) {
        await kept.put(home + path, again(answer, body));
        return;
      }
    }
    throw new Error(`${path} is not what this build consists of`);
  }

  /**
   * With what it is painted from, or not at all. A login's page, an error's, or one of another build is none of ours.
   * @param {string} path @param {Response} answer
   */
  async function keepPage(path, answer) {
    if (!answer.ok || answer.redirected || answer.type !== "basic") return;
    const html = await answer.text();
    const python = /"runtime":"([^"]*)"/.exec(html)?.[1];
    if (!html.includes(`/${assets}`) && !html.includes(`"${assets}`)) return;
    if (python !== undefined && !python.endsWith(runtime)) return;
    for (const [, address] of html.matchAll(/ data-document="([^"]*)"/g)) {
      await keepFile(pathOf(new URL(address, home + path).href));
    }
    await (await cache()).put(keyOf(path), again(answer, html));
  }

  /** Names of this site's caches: this build's and older ones'. */
  async function ofOurs() {
    return (await caches.keys()).filter((name) => name.startsWith(OURS));
  }

  function cache() {
    return caches.open(OURS + version);
  }

  /** The answer with its body as it was unpacked. @param {Response} answer @param {BodyInit} body */
  function again(answer, body) {
    const headers = new Headers(answer.headers);
    for (const name of ["Content-Encoding", "Content-Length", "Vary"]) headers.delete(name);
    return new Response(body, { headers });
  }

  /**
   * A host's own compression may have been around a packed file, and leaves it packed otherwise: then what is in
   * it counts. Not always, for that is many times as much memory.
   * @param {string} path @param {ArrayBuffer} body
   */
  async function isWhole(path, body) {
    if ((await sha256(body)) === files[path]) return true;
    return Object.hasOwn(contents, path) && (await sha256(await unpacked(body))) === contents[path];
  }

  /** @param {ArrayBuffer} body @returns {Promise<ArrayBuffer>} */
  async function unpacked(body) {
    const stream = new Blob([body]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).arrayBuffer().catch(() => new ArrayBuffer(0)); // damaged
  }

  /** @param {ArrayBuffer} body */
  async function sha256(body) {
    const bytes = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
    return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  /** Below the site's root, and without what a reader set. @param {string} url */
  function pathOf(url) {
    const { origin, pathname } = new URL(url);
    return `${origin}${pathname}`.slice(home.length);
  }

  /** @param {string} path */
  function isPage(path) {
    return path === "" || /(\/|\.html)$/.test(path);
  }

  /** A page has two names, as a folder and as its file. @param {string} path */
  function keyOf(path) {
    return home + path.replace(/(^|\/)index\.html$/, "$1");
  }
})();
