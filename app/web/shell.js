// What a page does before and besides its lesson: the colour scheme, links that keep what the reader chose,
// and a word to those for whom nothing further will run. A plain script, early in the page, in old syntax on
// purpose: it must run from file:// and in browsers that are too old for everything else.

(function () {
  var AGAIN = 5000; // milliseconds that a file may take to come again before the page is loaded all the same
  var root = document.documentElement;
  var script = document.currentScript;
  /** Where the site's scripts lie: a host may have put others into the page, and a filter may stop them. */
  var ours = script instanceof HTMLScriptElement ? script.src.slice(0, script.src.lastIndexOf("/") + 1) : "";
  root.dataset.scripted = "";
  var newEnough = isNewEnough();
  if (!newEnough) root.dataset.tooOld = "";
  var scheme = takeScheme();
  if (scheme) root.dataset.theme = scheme;

  if (root.dataset.chooses === "language") goToLanguage();

  // When the text is there, which on a slow line is long before the deferred scripts are.
  document.addEventListener("readystatechange", function () {
    if (document.readyState !== "interactive") return;
    offerSchemes();
    sayHowItStands();
  });
  // Another page has been put in this one's place (travel.js).
  document.addEventListener("normlab:entered", function () {
    offerSchemes();
    sayHowItStands();
  });
  addEventListener("error", hearOfScripts, true);
  // Of what it loads later paint.js says itself that it did not come, once a figure's controls needed it.
  document.addEventListener("normlab:missing", function (event) {
    miss(/** @type {CustomEvent<string>} */ (event).detail);
  });
  document.addEventListener("click", carryChoices, true);
  document.addEventListener("auxclick", carryChoices, true); // into another tab, with the middle button
  document.addEventListener("click", unfold, true);

  /**
   * The scheme that a link carried here. It is taken out of the address: a link that someone copies
   * shall say what is shown, not in which colours.
   */
  function takeScheme() {
    var query = new URLSearchParams(location.search);
    var wanted = query.get("theme");
    if (wanted === null) return null;
    query.delete("theme");
    try {
      var rest = query.toString().replace(/%2C/g, ",");
      history.replaceState(history.state, "", location.pathname + (rest ? "?" + rest : "") + location.hash);
    } catch (error) {
      // Pages from file:// may not change their address.
    }
    return wanted === "light" || wanted === "dark" ? wanted : null;
  }

  /** The front door: on to the first language that the reader asks for and that there is. */
  function goToLanguage() {
    document.addEventListener("DOMContentLoaded", function () {
      /** @type {NodeListOf<HTMLAnchorElement>} */
      var links = document.querySelectorAll("a[hreflang]");
      var wanted = navigator.languages || [navigator.language];
      for (var i = 0; i < wanted.length; i++) {
        for (var j = 0; j < links.length; j++) {
          if (speaks(wanted[i], links[j].hreflang)) {
            location.replace(links[j].href + location.search);
            return;
          }
        }
      }
    });
  }

  /** Whether a reader of `wanted` is best served with `offered`: "en-GB" "en", "zh-TW" "zh-Hant". */
  function speaks(/** @type {string} */ wanted, /** @type {string} */ offered) {
    return written(wanted) === written(offered);
  }

  /** A language as it is written: of Chinese there are two scripts, which a place may stand for. */
  function written(/** @type {string} */ language) {
    if (!/^zh\b/i.test(language)) return language.split("-")[0].toLowerCase();
    return /-hans\b/i.test(language) || !/-(hant|tw|hk|mo)\b/i.test(language) ? "zh-hans" : "zh-hant";
  }

  function offerSchemes() {
    /** @type {NodeListOf<HTMLButtonElement>} */
    var buttons = document.querySelectorAll("button[data-scheme]");
    buttons.forEach(function (button) {
      button.addEventListener("click", function () {
        if (button.dataset.scheme === "auto") delete root.dataset.theme;
        else root.dataset.theme = button.dataset.scheme;
        show();
      });
    });
    show();

    function show() {
      buttons.forEach(function (button) {
        button.setAttribute("aria-pressed", String(button.dataset.scheme === (root.dataset.theme || "auto")));
      });
    }
  }

  /**
   * Links within the site take the scheme along; links to another language the experiments' state too, and
   * an embed's link has the state in itself.
   */
  function carryChoices(/** @type {MouseEvent} */ event) {
    var target = event.target instanceof Element ? event.target.closest("a") : null;
    if (!target || !target.dataset.carries) return;
    var carried = { state: location.search, itself: target.search };
    var query = new URLSearchParams(carried[/** @type {"state" | "itself"} */ (target.dataset.carries)] || "");
    if (root.dataset.theme) query.set("theme", root.dataset.theme);
    target.search = query.toString().replace(/%2C/g, ",");
    if (target.dataset.carries === "state") target.hash = location.hash;
  }

  /** Older browsers lead into what is folded without unfolding it. */
  function unfold(/** @type {MouseEvent} */ event) {
    var link = event.target instanceof Element ? event.target.closest('a[href^="#"]') : null;
    var place = link && document.getElementById((link.getAttribute("href") || "").slice(1));
    for (; place; place = place.parentElement) if (place instanceof HTMLDetailsElement) place.open = true;
  }

  /** What comes first, or that Python can never come: the status line says so before any module does. */
  function sayHowItStands() {
    var status = document.getElementById("status");
    if (!status) return;
    if (!newEnough) status.textContent = status.dataset.tooOld || "";
    else if (root.dataset.missing) offerAgain(status, root.dataset.missing);
    else if (location.protocol === "file:") status.textContent = status.dataset.fromFile || "";
    else status.textContent = status.dataset.first || "";
  }

  /** A script of the page that does not come, or not whole, cannot say so itself. */
  function hearOfScripts(/** @type {Event | ErrorEvent} */ event) {
    var broken = "error" in event && event.error instanceof SyntaxError ? event.filename : "";
    /** @type {NodeListOf<HTMLScriptElement>} */
    var scripts = document.querySelectorAll("script[defer], script[type=module]");
    scripts.forEach(function (script) {
      if (script.src.indexOf(ours) !== 0 || (script !== event.target && script.src !== broken)) return;
      if (script.type === "module") {
        if (location.protocol === "file:") return; // there none ever comes
        root.dataset.alone = "";
      }
      miss(script.src);
    });
  }

  /** The page is not whole: whoever else would write how it stands leaves that to this. */
  function miss(/** @type {string} */ address) {
    if (root.dataset.missing) return;
    root.dataset.missing = address;
    sayHowItStands();
  }

  function offerAgain(/** @type {HTMLElement} */ status, /** @type {string} */ address) {
    var file = address.slice(address.lastIndexOf("/") + 1);
    status.textContent = (status.dataset.missing || "").replace("{file}", function () { return file; }) + " ";
    var button = document.createElement("button");
    button.type = "button";
    button.textContent = status.dataset.again || "";
    button.addEventListener("click", function () {
      function again() { location.reload(); }
      button.disabled = true;
      setTimeout(again, AGAIN);
      fetch(address, { cache: "reload" }).then(again, again); // past what the browser has kept of it
    });
    status.appendChild(button);
  }

  function isNewEnough() {
    return "noModule" in HTMLScriptElement.prototype && !!window.DecompressionStream && !!window.WebAssembly
      && CSS.supports("selector(:has(a))");
  }
})();
