// What an embed does before anything is painted: it shows the experiments that its address names, links to
// the lesson, and tells the page around it how high it is. A plain script, early in the page, in old syntax
// on purpose: like shell.js it must run from file:// and where nothing else will.

(function () {
  var root = document.documentElement;

  // The text is there and nothing has been painted; until then the style sheet hides it.
  document.addEventListener("readystatechange", function () {
    if (document.readyState !== "interactive") return;
    choose();
    linkToLesson();
    root.dataset.chosen = "";
    if (window.parent !== window) tellHeight();
  });

  /** Show what `show` names, in its order; where it names nothing that there is, show all and say so. */
  function choose() {
    var named = new URLSearchParams(location.search).getAll("show").join(",").split(",")
      .map(function (name) { return name.trim(); })
      .filter(function (name, index, names) { return name !== "" && names.indexOf(name) === index; });
    var main = document.querySelector("main");
    /** Markup that is not parsed unless it is shown. @type {NodeListOf<HTMLElement>} */
    var sections = document.querySelectorAll("noscript[data-section]");
    /** @type {Record<string, string>} */
    var known = Object.create(null);
    sections.forEach(function (section) {
      known[section.dataset.section || ""] = section.textContent || "";
      section.remove();
    });
    var found = named.filter(function (name) { return name in known; });
    var unknown = named.filter(function (name) { return !(name in known); });
    var shown = found.length > 0 ? found : Object.keys(known);
    if (main) main.insertAdjacentHTML("beforeend", shown.map(function (name) { return known[name]; }).join("\n"));
    fetchAhead();
    if (named.length === 0) note("none", "");
    else if (unknown.length > 0) note(found.length > 0 ? "some" : "all", unknown.join(", "));
  }

  /** What the first figures are painted from is fetched beside the scripts that paint them. */
  function fetchAhead() {
    /** @type {HTMLElement | null} */
    var first = document.querySelector("section[data-experiment]");
    if (!first) return;
    var link = document.createElement("link");
    link.rel = "preload";
    link.as = "script";
    link.href = first.dataset.document || "";
    document.head.appendChild(link);
  }

  function note(/** @type {string} */ key, /** @type {string} */ names) {
    var line = document.getElementById("choice");
    if (!line) return;
    line.textContent = (line.dataset[key] || "").replace("{names}", function () { return names; });
    line.hidden = false;
  }

  /** The lesson, at the state of the address; embed.js keeps it at the reader's. */
  function linkToLesson() {
    var link = document.getElementById("lesson");
    var first = document.querySelector("section[data-experiment]");
    if (!(link instanceof HTMLAnchorElement)) return;
    var query = new URLSearchParams(location.search);
    query.delete("show");
    link.search = query.toString().replace(/%2C/g, ",");
    if (first) link.hash = first.id;
  }

  /** The body is as high as what stands in it, whatever the frame's height: so nothing can go in circles. */
  function tellHeight() {
    var told = 0;
    new ResizeObserver(function () {
      var height = Math.ceil(document.body.getBoundingClientRect().height);
      if (height === told || height === 0) return; // 0: the frame itself is not shown, say in a closed tab
      told = height;
      window.parent.postMessage({ normlab: 1, type: "height", height: height }, "*");
    }).observe(document.body);
  }
})();
