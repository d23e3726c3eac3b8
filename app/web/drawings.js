// Pictures of what the page draws as SVG. Its ink comes from the page's style sheet, which a file does not
// have: so copies of the drawings hold it themselves. The words above and below are those of a figure.

import { EDGE, GAP, PAPER, SCALE, fileOf, heightOf, onPaper, set } from "./picture.js";

/** @typedef {import("./picture.js").Look} Look @typedef {import("./picture.js").Words} Words */

const PAINTS = ["fill", "stroke"];
// What else the style sheet may say, and what holds where nothing is said.
const INK = { "stroke-width": "1px", "stroke-dasharray": "none", "stroke-linecap": "butt", "stroke-linejoin": "miter" };
const LETTERS = { "font-family": "", "font-size": "", "font-weight": "400", "font-style": "normal", "text-anchor": "start" };
const OPACITY = { opacity: "1", "fill-opacity": "1", "stroke-opacity": "1" };

/**
 * The drawings that stand in a part of the page now, on white whatever the page's scheme.
 * @param {Element} part
 * @param {Words} words
 * @param {import("./picture.js").Format} format
 * @returns {Promise<Blob>}
 */
export async function pictureOfDrawings(part, words, format) {
  const svg = onPaper((look) => compose(part, words, look));
  const file = fileOf(svg, words);
  return format === "svg" ? file : pixels(svg, await file.text());
}

/** @param {Element} part @param {Words} words @param {Look} look */
function compose(part, words, look) {
  const { ctx, hex } = palette();
  const drawings = seen([...part.querySelectorAll("svg")]);
  const names = seen([...part.querySelectorAll("figcaption")]);
  const boxes = [...drawings, ...names].map((each) => each.getBoundingClientRect());
  const [left, top] = [Math.min(...boxes.map((box) => box.left)), Math.min(...boxes.map((box) => box.top))];
  const inner = Math.ceil(Math.max(...boxes.map((box) => box.right)) - left);
  const high = Math.ceil(Math.max(...boxes.map((box) => box.bottom)) - top);

  const caption = set(ctx, words.caption, `15px ${look.font}`, 21, inner);
  const notes = words.notes.map((note) => set(ctx, note, `12px ${look.font}`, 17, inner));
  const plate = element("g", { transform: `translate(${EDGE} ${EDGE + heightOf(caption) + GAP})` });
  plate.append(...drawings.map((each) => copyOf(each, left, top, hex)), ...names.map((each) => nameOf(each, left, top, look)));
  const parts = [...lettered(caption, look.ink, EDGE), plate];
  let y = EDGE + heightOf(caption) + GAP + high + GAP;
  for (const note of notes) {
    parts.push(...lettered(note, look.muted, y));
    y += heightOf(note) + GAP;
  }
  const [width, height] = [inner + 2 * EDGE, y + EDGE];
  const svg = element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, lang: document.documentElement.lang });
  svg.append(element("rect", { width, height, fill: PAPER }), ...parts);
  return /** @type {SVGSVGElement} */ (svg);
}

/** Those that take room on the page. @template {Element} T @param {T[]} elements */
function seen(elements) {
  return elements.filter((each) => each.getClientRects().length > 0);
}

/**
 * As it stands on the page, measured from a point of it.
 * @param {SVGSVGElement} svg @param {number} left @param {number} top @param {(paint: string) => string} hex
 */
function copyOf(svg, left, top, hex) {
  const { a = 1, b = 0, c = 0, d = 1, e = 0, f = 0 } = svg.getScreenCTM() ?? {};
  const copy = element("g", { transform: `matrix(${[a, b, c, d, e - left, f - top].map((each) => +each.toFixed(4)).join(" ")})` });
  copy.append(...[...svg.children].map((each) => each.cloneNode(true)));
  const copies = copy.querySelectorAll("*");
  for (const [index, original] of svg.querySelectorAll("*").entries()) {
    if (original instanceof SVGGraphicsElement) ink(copies[index], getComputedStyle(original), hex);
    copies[index].removeAttribute("class");
  }
  return copy;
}

/** @param {Element} copy @param {CSSStyleDeclaration} style  the original's @param {(paint: string) => string} hex */
function ink(copy, style, hex) {
  // Groups hand nothing down: every shape has its own.
  const isGroup = copy.localName === "g";
  const said = { ...OPACITY, ...(isGroup ? {} : INK), ...(copy.localName === "text" ? LETTERS : {}) };
  for (const [property, usual] of Object.entries(said)) {
    const value = style.getPropertyValue(property);
    if (value !== usual) copy.setAttribute(property, value);
  }
  for (const property of isGroup ? [] : PAINTS) {
    const paint = style.getPropertyValue(property);
    copy.setAttribute(property, paint === "none" ? paint : hex(paint));
  }
}

/** What stands below a drawing. @param {Element} caption @param {number} left @param {number} top @param {Look} look */
function nameOf(caption, left, top, look) {
  const box = caption.getBoundingClientRect();
  const size = parseFloat(getComputedStyle(caption).fontSize);
  const [x, y] = [box.left + box.width / 2 - left, box.top + box.height / 2 + 0.35 * size - top];
  const letters = { "font-family": look.font, "font-size": size, "font-weight": 600, "text-anchor": "middle", fill: look.ink };
  const name = element("text", { x, y, ...letters });
  name.textContent = caption.textContent?.trim() ?? "";
  return name;
}

/** @param {import("./picture.js").Text} text @param {string} ink @param {number} y  of its upper edge */
function lettered({ lines, font, step }, ink, y) {
  const [size, family] = [parseFloat(font), font.slice(font.indexOf(" ") + 1)];
  return lines.map((line, index) => {
    const text = element("text", { x: EDGE, y: y + (index + 0.75) * step, "font-family": family, "font-size": size, fill: ink });
    text.textContent = line;
    return text;
  });
}

/** Something to measure letters with, and what a colour of CSS is on paper: other programs know no `color(srgb …)`. */
function palette() {
  const canvas = document.createElement("canvas");
  const ctx = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
  const hex = (/** @type {string} */ paint) => {
    for (const layer of [PAPER, paint]) {
      ctx.fillStyle = layer;
      ctx.fillRect(0, 0, 1, 1);
    }
    const [red, green, blue] = ctx.getImageData(0, 0, 1, 1).data;
    return `#${[red, green, blue].map((each) => each.toString(16).padStart(2, "0")).join("")}`;
  };
  return { ctx, hex };
}

/** @param {string} name @param {Record<string, string | number>} attributes */
function element(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value));
  return made;
}

/** @param {SVGSVGElement} svg @param {string} xml  the same in writing @returns {Promise<Blob>} */
async function pixels(svg, xml) {
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(xml)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Number(svg.getAttribute("width")) * SCALE;
  canvas.height = Number(svg.getAttribute("height")) * SCALE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("The picture is too large for this browser."))));
  });
}
