// Runs in every page before its own scripts, and notes when something happened after a click on a link.
(() => {
  const seen = (window.benchNavigation = {});

  /** The experiments in or near the window: those that are opened at once. */
  function near() {
    return [...document.querySelectorAll("section[data-experiment]")].filter((section) => {
      const { top, bottom } = section.getBoundingClientRect();
      return bottom > -innerHeight && top < 2 * innerHeight;
    });
  }

  /** Python's own documents are in place: from now on it answers. */
  function live() {
    return document.documentElement.dataset.runtime === "live" && near().every((it) => it.dataset.hydration);
  }

  function look() {
    // Just after a frame: what is in the page then, is on the screen.
    const after = new MessageChannel();
    after.port1.onmessage = () => {
      const now = performance.timeOrigin + performance.now();
      const { lang, dataset } = document.documentElement;
      if (`${lang}/${dataset.lesson}` === seen.to && document.querySelector("h1")) {
        seen.text ??= now;
        if (live()) seen.live ??= now;
        if (live() && near().every((it) => it.dataset.state === "ready")) seen.ready ??= now;
      }
      if (seen.ready === undefined) requestAnimationFrame(look);
    };
    after.port2.postMessage(null);
  }

  /** From now on until the page `to` (language/lesson) is ready. */
  seen.watch = (to) => {
    for (const key of ["clicked", "text", "live", "ready"]) delete seen[key];
    seen.to = to;
    addEventListener("click", () => (seen.clicked = performance.timeOrigin + performance.now()), { capture: true, once: true });
    requestAnimationFrame(look);
  };
})();
