// Runs in every page before its own scripts, and notes when something happened, the same way for
// both sides. Times are milliseconds since the navigation began.
(() => {
  const seen = (window.benchStartup = { figure: null, live: null, ready: null, asked: null, answered: null });
  const pixels = new OffscreenCanvas(48, 48).getContext("2d", { willReadFrequently: true });

  /** Shadow roots, which is where Bokeh's figures draw. Looking for them in every frame would cost the page time. */
  const roots = [];
  const { attachShadow } = Element.prototype;
  Element.prototype.attachShadow = function (init) {
    const root = attachShadow.call(this, init);
    roots.push(root);
    return root;
  };

  function canvases() {
    const inside = roots.filter((root) => root.isConnected).flatMap((root) => [...root.querySelectorAll("canvas")]);
    return inside.filter(({ width, height }) => width && height);
  }

  /** Drawn on, and not with one colour only. */
  function drawn(canvas) {
    pixels.clearRect(0, 0, 48, 48);
    pixels.drawImage(canvas, 0, 0, 48, 48);
    const words = new Uint32Array(pixels.getImageData(0, 0, 48, 48).data.buffer);
    return words.some((word) => word !== 0 && word !== words[0]);
  }

  /** Python's own documents are in place: from now on it answers. */
  function live() {
    const runtime = document.documentElement.dataset.runtime;
    if (runtime === undefined) {
      // Stock: the loading mark stands on the body from the start, and goes when Python's own
      // document has taken the place of the prerendered one.
      return seen.marked && !document.body.classList.contains("pn-loading");
    }
    return runtime === "live" && sections().every((s) => s.dataset.hydration);
  }

  /** Besides, all that the figures show at the start has been computed here. Stock's page does that
   *  before its document is in place; ours has it from the build and computes it once more. */
  function ready() {
    return live() && sections().every((s) => s.dataset.state === "ready");
  }

  function sections() {
    return [...document.querySelectorAll("section[data-experiment]")];
  }

  /** Everything that the page's figures show, as one text. */
  function data() {
    const sources = [];
    for (const doc of window.Bokeh?.documents ?? []) {
      for (const model of doc._all_models?.values() ?? []) {
        if (model.type === "ColumnDataSource") {
          sources.push(Object.entries(Object.fromEntries(Object.entries(model.data)))
            .map(([name, column]) => name + Array.from(column).join()).join(";"));
        }
      }
    }
    return sources.join("|");
  }

  function frame() {
    if (!document.body) return requestAnimationFrame(frame);
    seen.marked ||= document.body.classList.contains("pn-loading");
    if (seen.figure === null && canvases().some(drawn)) {
      seen.figure = performance.now();
    }
    if (seen.live === null && live()) seen.live = performance.now();
    if (seen.ready === null && ready()) seen.ready = performance.now();
    if (seen.figure === null || seen.ready === null) requestAnimationFrame(frame);
  }
  requestAnimationFrame(frame);

  /** From the next key on: until the figures' data are others than before it. */
  seen.watch = () => {
    const before = data();
    const look = () => {
      if (data() !== before) seen.answered = performance.now();
      else setTimeout(look, 4);
    };
    addEventListener("keydown", () => { seen.asked = performance.now(); look(); },
      { capture: true, once: true });
  };
})();
