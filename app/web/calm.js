// A figure as BokehJS draws it, without what BokehJS does in vain: a move of a slider then costs the page
// a tenth, and a figure half. What is overridden belongs to the pinned version of BokehJS, whose figures here
// have no tools, so that nothing in them is ever selected, muted or dragged.

if (window.Bokeh !== undefined) {
  oneGlyph();
  oneInk();
  noStyle();
  onePainting();
}

/** @param {any} figure BokehJS' view of it */
export function calm(figure) {
  const views = [...figure.views.query(() => true)];
  for (const view of views) {
    const { type } = view.model;
    if (type === "Canvas") for (const layer of [view.primary, view.overlays]) layer.clear = () => clear(layer);
    if (type === "Legend") calmLegend(view);
    if (view.position?.replace !== undefined) calmPosition(view);
  }
}

/**
 * BokehJS clears a layer after it has moved the origin by half a pixel, and so leaves a trace of
 * earlier paintings along two edges. And it outlines a frame without beginning a path: where the
 * frame has no fill, the last path of the painting before, an axis' old ticks, is drawn with it.
 * On paper Chromium clears what lies below the canvas as well: there the layer begins anew.
 * @param {{ctx: CanvasRenderingContext2D}} layer
 */
function clear({ ctx }) {
  if (document.documentElement.dataset.printing !== undefined) {
    const transform = ctx.getTransform();
    ctx.canvas.height += 1; // a size that it has already would only clear it
    ctx.canvas.height -= 1;
    ctx.save(); // BokehJS restores what it saved before this
    ctx.setTransform(transform);
    return;
  }
  ctx.beginPath();
  ctx.save();
  ctx.resetTransform();
  ctx.clearRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  ctx.restore();
}

/**
 * BokehJS builds a legend anew, a canvas for each of its samples, whenever anything changes that its
 * entries lead to: for every column of data that a patch brings. Here only words change, and what is
 * hidden; the samples are painted with the figure. And it hears of its own size once it is laid out, as if
 * that were a change, and has the figure painted again.
 * @param {any} legend
 */
function calmLegend(legend) {
  const request = legend.request_layout.bind(legend);
  let heard = false;
  legend.request_layout = () => (heard ? request() : (heard = true));
  const render = legend._render_items.bind(legend);
  const paint = legend._paint_glyphs.bind(legend);
  legend._paint_glyphs = () => {
    for (const { glyph } of legend.entries) glyph.clear = () => clear(glyph);
    paint();
  };
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
 * Beside a glyph BokehJS keeps four more, each with an element of its own, that it would draw when something
 * is selected, muted or dragged. And for every column of data it brings them up to date several times over.
 */
function oneGlyph() {
  const { GlyphRendererView } = window.Bokeh.require("models/renderers/glyph_renderer");
  const { DataRendererView } = window.Bokeh.require("models/renderers/data_renderer");
  const { build_view } = window.Bokeh.require("core/build_views");
  const { prototype } = GlyphRendererView;
  const base = DataRendererView.prototype;
  const nothing = () => {};
  const idle = {
    ...{ set_data: nothing, set_visuals: nothing, after_visuals: nothing, after_lazy_visuals: nothing },
    ...{ map_data: nothing, remove: nothing, model: { change: { connect: nothing } } },
  };
  prototype.lazy_initialize = /** @this {any} */ async function () {
    await base.lazy_initialize.call(this);
    this.cds_view = await build_view(this.model.view, { parent: this });
    this.glyph = await this.build_glyph_view(this.model.glyph);
    for (const state of ["decimated", "selection", "nonselection", "muted"]) this[`${state}_glyph`] = idle;
    await this.set_data();
  };
  prototype.children_views = /** @this {any} */ function () {
    return [...base.children_views.call(this), this.cds_view, this.glyph];
  };
  const { update_data } = prototype;
  const due = new WeakSet();
  prototype.update_data = /** @this {any} */ function () {
    if (due.has(this)) return;
    due.add(this);
    queueMicrotask(() => {
      due.delete(this);
      if (!this.is_destroyed) void update_data.call(this);
    });
  };
}

/**
 * BokehJS asks the browser for the ink of every stroke, which works out the figure's style each time. All ink
 * is the page's (theme.py), and the same as long as one thing is done.
 */
function oneInk() {
  const { VisualProperties } = window.Bokeh.require("core/visuals/visual");
  /** @type {Map<string, string>} */
  const ink = new Map();
  VisualProperties.prototype._get_css_value = /** @this {any} */ function (/** @type {string} */ name) {
    const variable = `${this.css_prefix}${name}`;
    let value = ink.get(variable);
    if (value === undefined) {
      if (ink.size === 0) queueMicrotask(() => ink.clear());
      value = getComputedStyle(document.documentElement).getPropertyValue(variable);
      ink.set(variable, value);
    }
    return value;
  };
}

/** A figure paints itself once it is laid out. What asked for it before would have it painted a second time. */
function onePainting() {
  const { PlotView } = window.Bokeh.require("models/plots/plot_canvas");
  const { prototype } = PlotView;
  const { schedule_paint } = prototype;
  prototype.schedule_paint = /** @this {any} */ function () {
    if (this._layout_computed) schedule_paint.call(this);
  };
}

/** What is drawn on the canvas alone has an empty element all the same, and five style sheets for it. */
function noStyle() {
  const { GlyphRendererView } = window.Bokeh.require("models/renderers/glyph_renderer");
  const { GridView } = window.Bokeh.require("models/grids/grid");
  for (const { prototype } of [GlyphRendererView, GridView]) prototype._update_stylesheets = () => {};
}

/**
 * At every painting BokehJS writes the place of each part into a style sheet, also where it is what it was,
 * and the browser works out the figure's style again.
 * @param {any} part
 */
function calmPosition({ position }) {
  const replace = position.replace.bind(position);
  let written = "";
  position.replace = (/** @type {unknown[]} */ ...css) => {
    if (JSON.stringify(css) === written) return;
    written = JSON.stringify(css);
    replace(...css);
  };
}
