/**
 * A figure as BokehJS draws it, without what BokehJS does in vain: a move of a slider then costs the page
 * a tenth. What is overridden belongs to the pinned version of BokehJS, whose figures here have no tools, so
 * that nothing in them is ever selected, muted or dragged.
 *
 * A classic script like paint.js, which uses it and has to come after it.
 */

(function () {
  "use strict";

  /** @type {any} */ (window).normlabCalm = calm;

  /** @param {any} figure BokehJS' view of it */
  function calm(figure) {
    const views = [...figure.views.query(() => true)];
    for (const view of views) {
      const { type } = view.model;
      if (type === "Canvas") for (const layer of [view.primary, view.overlays]) layer.clear = () => clear(layer);
      if (type === "Legend") calmLegend(view);
      if (type === "GlyphRenderer") calmGlyph(view);
      if (view.position?.replace !== undefined) calmPosition(view);
    }
  }

  /**
   * BokehJS clears a layer after it has moved the origin by half a pixel, and so leaves a trace of
   * earlier paintings along two edges. And it outlines a frame without beginning a path: where the
   * frame has no fill, the last path of the painting before, an axis' old ticks, is drawn with it.
   * @param {{ctx: CanvasRenderingContext2D}} layer
   */
  function clear({ ctx }) {
    ctx.beginPath();
    ctx.save();
    ctx.resetTransform();
    ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
    ctx.restore();
  }

  /**
   * BokehJS builds a legend anew, a canvas for each of its samples, whenever anything changes that its
   * entries lead to: for every column of data that a patch brings. Here only words change, and what is
   * hidden; the samples are painted with the figure.
   * @param {any} legend
   */
  function calmLegend(legend) {
    const render = legend._render_items.bind(legend);
    legend._render_items = () => {
      const { entries, labels } = legend;
      const same = entries.length === labels.length
        && labels.every((/** @type {any} */ { item }, /** @type {number} */ i) => entries[i].item === item);
      if (!same) return render();
      for (const [i, { item, label }] of labels.entries()) {
        const entry = entries[i];
        if (entry.label !== label) entry.label_el.textContent = label;
        entry.label = label;
        entry.el.classList.toggle("bk-hidden", !item.visible);
      }
    };
  }

  /**
   * For every column of data BokehJS brings a glyph up to date several times over, and with it four more
   * that it would draw when something is selected, muted or dragged.
   * @param {any} renderer
   */
  function calmGlyph(renderer) {
    for (const state of ["decimated", "selection", "nonselection", "muted"]) {
      const idle = () => {};
      const methods = { set_data: idle, set_visuals: idle, after_visuals: idle, map_data: idle };
      Object.assign(renderer[`${state}_glyph`], methods);
    }
    const update = renderer.update_data.bind(renderer);
    let due = false;
    renderer.update_data = () => {
      if (due) return;
      due = true;
      queueMicrotask(() => {
        due = false;
        if (!renderer.is_destroyed) void update();
      });
    };
  }

  /**
   * At every painting BokehJS writes the place of each part into a style sheet, also where it is what it was
   * (and that of a glyph, whose element is empty), and the browser works out the figure's style again.
   * @param {any} part
   */
  function calmPosition({ model, position }) {
    const replace = position.replace.bind(position);
    let written = "";
    position.replace = (/** @type {unknown[]} */ ...css) => {
      if (model.type === "GlyphRenderer" || JSON.stringify(css) === written) return;
      written = JSON.stringify(css);
      replace(...css);
    };
  }
})();
