// Pictures of a figure for slides and print. BokehJS paints the plot, on a layer of our own; its legend is
// made of HTML, so that is drawn here beneath it, with the glyphs' own samples; then the words.

/**
 * @typedef {"png" | "svg"} Format
 *
 * @typedef {object} Words
 * @property {string} caption  above the figure
 * @property {string[]} notes  below it: settings, and where it comes from
 *
 * @typedef {{font: string, ink: string, muted: string}} Look
 * @typedef {{lines: string[], font: string, step: number}} Text  set in lines, `step` pixels apart
 */

export const SCALE = 2; // of the PNG: sharp on a projector
export const PAPER = "#ffffff";
export const EDGE = 16; // pixels around everything
export const GAP = 8; // between its parts
const SAMPLE_GAP = 4;
const ENTRY_GAP = 20;

/**
 * The figure as it is now, on white whatever the page's scheme.
 * @param {any} view  BokehJS' view of the plot
 * @param {Words} words
 * @param {Format} format
 * @returns {Promise<Blob>}
 */
export async function picture(view, words, format) {
  const layer = layerLike(view.canvas_view.primary, format);
  onPaper((look) => compose(layer, view, words, look));
  return format === "svg" ? fileOf(svgOf(layer), words) : layer.to_blob();
}

/** Does something with light ink: what a print asks for as well (see theme.py). @template T @param {(look: Look) => T} work */
export function onPaper(work) {
  const root = document.documentElement;
  root.dataset.printing = "";
  try {
    return work(lookOf(root));
  } finally {
    delete root.dataset.printing;
  }
}

/**
 * A layer that BokehJS can paint on.
 * @param {any} layer  one of its own @param {Format} format
 */
function layerLike(layer, format) {
  if (format === "svg") return new layer.constructor("svg", false);
  const made = new layer.constructor("canvas", true);
  // It would take the screen's own ratio.
  Object.defineProperties(made, { pixel_ratio: { value: SCALE }, pixel_ratio_changed: { value: false } });
  return made;
}

/** @param {any} layer @param {any} view @param {Words} words @param {Look} look */
function compose(layer, view, words, look) {
  const inner = Math.round(view.bbox.width);
  const caption = set(layer.ctx, words.caption, `15px ${look.font}`, 21, inner);
  const notes = words.notes.map((note) => set(layer.ctx, note, `12px ${look.font}`, 17, inner));
  const legends = [...view.views.query((/** @type {any} */ it) => it.model.type === "Legend" && it.model.visible)];
  const keys = legends.map((/** @type {any} */ legend) => keyOf(layer.ctx, legend, `13px ${look.font}`, inner));
  // The room that the HTML legend takes under the plot.
  const below = legends.filter((/** @type {any} */ legend) => legend.layout !== undefined && legend.panel?.side === "below");
  const plot = Math.min(view.bbox.height, ...below.map((/** @type {any} */ { layout }) => layout.bbox.top));

  const heights = [heightOf(caption), plot, ...keys.map((/** @type {Key} */ key) => key.height), ...notes.map(heightOf)];
  const width = inner + 2 * EDGE;
  const height = Math.ceil(heights.reduce((sum, each) => sum + each + GAP, 2 * EDGE));
  layer.resize(width, height);
  const ctx = layer.prepare();
  ctx.fillStyle = PAPER;
  ctx.fillRect(-1, -1, width + 2, height + 2);
  ctx.translate(EDGE, EDGE);
  const advance = (/** @type {number} */ by) => ctx.translate(0, by + GAP);
  advance(write(ctx, caption, look.ink));
  paintPlot(ctx, view, inner, plot);
  advance(plot);
  for (const key of keys) advance(paintKey(ctx, view, key, look.ink));
  for (const note of notes) advance(write(ctx, note, look.muted));
  layer.finish();
}

/** @param {CanvasRenderingContext2D} ctx @param {any} view @param {number} width @param {number} height */
function paintPlot(ctx, view, width, height) {
  ctx.save();
  ctx.beginPath();
  ctx.rect(-EDGE, -GAP, width + 2 * EDGE, height + GAP); // the topmost tick's label stands out a little
  ctx.clip();
  ctx.beginPath();
  // As BokehJS' own export does, but not by "force_paint": that would paint the legend too, in pixels.
  view._paint_primary(ctx);
  view._paint_overlays(ctx);
  ctx.restore();
}

// ---------------------------------------------------------------------------- the legend

/**
 * @typedef {{item: any, label: string}} Entry  of BokehJS' legend
 * @typedef {{samples: Entry[], word: string, width: number}} Row  samples side by side, and their word
 * @typedef {object} Key
 * @property {Row[]} rows
 * @property {number} columns
 * @property {number} column  its width
 * @property {string} font
 * @property {number} height
 * @property {number} wide  a sample's width
 * @property {number} high
 */

/**
 * Samples without a word belong to the next that has one.
 * @param {CanvasRenderingContext2D} ctx @param {any} legend @param {string} font @param {number} width
 * @returns {Key}
 */
function keyOf(ctx, legend, font, width) {
  const { glyph_width: wide, glyph_height: high } = legend.model;
  ctx.font = font;
  /** @type {Row[]} */
  const rows = [];
  /** @type {Entry[]} */
  let samples = [];
  for (const { item, label } of legend.labels) {
    if (!item.visible) continue;
    samples.push({ item, label });
    if (label === "") continue;
    rows.push({ samples, word: label, width: samples.length * (wide + SAMPLE_GAP) + 2 + ctx.measureText(label).width });
    samples = [];
  }
  const widest = Math.max(1, ...rows.map((row) => row.width)) + ENTRY_GAP;
  const columns = Math.max(1, Math.floor((width + ENTRY_GAP) / widest));
  return { rows, columns, column: widest, font, wide, high, height: Math.ceil(rows.length / columns) * (high + 4) };
}

/** @param {CanvasRenderingContext2D} ctx @param {any} view @param {Key} key @param {string} ink */
function paintKey(ctx, view, { rows, columns, column, font, wide, high, height }, ink) {
  for (const [index, { samples, word }] of rows.entries()) {
    ctx.save();
    ctx.translate((index % columns) * column, Math.floor(index / columns) * (high + 4));
    for (const { item, label } of samples) {
      const field = item.get_field_from_label_prop();
      for (const renderer of item.renderers) {
        ctx.save();
        view.views.find_one(renderer)?.draw_legend(ctx, 0, wide, 0, high, field, label, item.index);
        ctx.restore();
      }
      ctx.translate(wide + SAMPLE_GAP, 0);
    }
    ctx.font = font;
    ctx.fillStyle = ink;
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    ctx.fillText(word, 2, high / 2 + 4.5);
    ctx.restore();
  }
  return height;
}

// ---------------------------------------------------------------------------- words

/** Lines break at plain spaces; Chinese breaks between any two characters, but at no mark's inner side. */
const PIECES = /[\u3008\u300a\u300c\u300e\uff08\u201c]*(?:[\u2e80-\u9fff\uff00-\uffef]|[^ \u2e80-\u9fff\uff00-\uffef]+)[\u3001\u3002\u300b\u300d\u300f\uff09\uff0c\uff1a\uff1b\uff01\uff1f\u201d]* *| +/gu;

/**
 * @param {CanvasRenderingContext2D} ctx @param {string} text @param {string} font @param {number} step
 * @param {number} width
 * @returns {Text}
 */
export function set(ctx, text, font, step, width) {
  ctx.font = font;
  const lines = [""];
  const fits = (/** @type {string} */ line) => ctx.measureText(line.trimEnd()).width <= width;
  const pieces = text.trim().match(PIECES) ?? [];
  for (const piece of pieces.flatMap((each) => (fits(each) ? [each] : [...each]))) { // an address may be too long
    const last = lines[lines.length - 1];
    if (last === "" || fits(last + piece)) lines[lines.length - 1] += piece;
    else lines.push(piece);
  }
  return { lines: lines.map((line) => line.trimEnd()), font, step };
}

/** @param {Text} text */
export function heightOf({ lines, step }) {
  return lines.length * step;
}

/** @param {CanvasRenderingContext2D} ctx @param {Text} text @param {string} ink */
function write(ctx, text, ink) {
  ctx.font = text.font;
  ctx.fillStyle = ink;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  for (const [index, line] of text.lines.entries()) ctx.fillText(line, 0, (index + 0.75) * text.step);
  return heightOf(text);
}

/** @param {HTMLElement} root @returns {Look} */
function lookOf(root) {
  const style = getComputedStyle(root);
  const value = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  return { font: value("--nl-font"), ink: value("--nl-ink"), muted: value("--nl-muted") };
}

// ---------------------------------------------------------------------------- SVG

// How far below an attribute's line the letters' own line is, in heights of the font. Programs that are no
// browsers (and draw slides) know no dominant-baseline.
const BASELINES = { middle: 0.35, central: 0.35, hanging: 0.8, "text-before-edge": 0.8, "text-after-edge": -0.2 };

/** @param {any} layer @returns {SVGSVGElement} */
function svgOf(layer) {
  const svg = layer.ctx.get_svg().cloneNode(true);
  const { width, height } = layer.bbox;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  for (const path of svg.querySelectorAll(":scope > path, g > path")) {
    const drawn = path.getAttribute("d") && (isInk(path.getAttribute("stroke")) || isInk(path.getAttribute("fill")));
    if (!drawn) path.remove(); // BokehJS leaves an element for every path that it began
  }
  for (const text of svg.querySelectorAll("text[dominant-baseline]")) {
    const shift = BASELINES[/** @type {keyof typeof BASELINES} */ (text.getAttribute("dominant-baseline"))] ?? 0;
    text.setAttribute("y", String(Number(text.getAttribute("y")) + shift * parseFloat(text.getAttribute("font-size") ?? "0")));
    text.removeAttribute("dominant-baseline");
  }
  return svg;
}

/** @param {SVGSVGElement} svg @param {Words} words */
export function fileOf(svg, { caption, notes }) {
  svg.setAttribute("role", "img");
  const told = [["desc", notes.join("\n")], ["title", caption]];
  for (const [name, content] of told) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    element.textContent = content;
    svg.prepend(element);
  }
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(svg)}\n`;
  return new Blob([xml], { type: "image/svg+xml" });
}

/** @param {string | null} paint */
function isInk(paint) {
  return paint !== null && paint !== "none";
}
