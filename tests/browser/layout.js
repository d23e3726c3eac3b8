// What overlaps or is cut off on a page: boxes of elements, and of all that figures write.
// Run in the page by test_layout.py, in two parts: `record` before anything is painted, `faults` after.

window.layout = { faults };

const SLACK = 1.5; // pixels of two boxes' ink that may touch

// ---------------------------------------------------------------- words on canvases

/** @type {WeakMap<HTMLCanvasElement, {text: string, box: DOMRect}[]>} */
const written = new WeakMap();
const plain = CanvasRenderingContext2D.prototype;
const { fillText, clearRect } = plain;

// BokehJS writes all its words by fillText, letter by letter only where it must: what it writes, and
// where, is what its views have laid out.
plain.fillText = function (text, x, y, ...rest) {
  if (this.canvas.isConnected || this.canvas instanceof HTMLCanvasElement) {
    const list = written.get(this.canvas) ?? [];
    written.set(this.canvas, list);
    if (text.trim() !== "") list.push({ text, box: boxOf(this, text, x, y) });
  }
  return fillText.call(this, text, x, y, ...rest);
};

plain.clearRect = function (...rectangle) {
  const { width, height } = this.canvas;
  if (rectangle[2] >= width && rectangle[3] >= height) written.delete(this.canvas);
  return clearRect.apply(this, rectangle);
};

/** Where a text is written, in CSS pixels of its canvas. */
function boxOf(context, text, x, y) {
  const { actualBoundingBoxLeft: left, actualBoundingBoxRight: right, actualBoundingBoxAscent: up,
    actualBoundingBoxDescent: down } = context.measureText(text);
  const matrix = context.getTransform();
  const corners = [[x - left, y - up], [x + right, y - up], [x - left, y + down], [x + right, y + down]]
    .map(([cx, cy]) => new DOMPoint(cx, cy).matrixTransform(matrix));
  const xs = corners.map((corner) => corner.x / devicePixelRatio);
  const ys = corners.map((corner) => corner.y / devicePixelRatio);
  return new DOMRect(Math.min(...xs), Math.min(...ys), Math.max(...xs) - Math.min(...xs),
    Math.max(...ys) - Math.min(...ys));
}

function* canvases(root) {
  for (const element of root.querySelectorAll("*")) {
    if (element instanceof HTMLCanvasElement) yield element;
    if (element.shadowRoot) yield* canvases(element.shadowRoot);
  }
}

function* canvasFaults(section) {
  for (const canvas of canvases(section)) {
    const words = written.get(canvas) ?? [];
    const { width, height } = canvas.getBoundingClientRect();
    for (const { text, box } of words) {
      if (box.left < -SLACK || box.top < -SLACK || box.right > width + SLACK || box.bottom > height + SLACK) {
        yield `“${text}” is cut off by its figure (${describe(box)} in ${width}×${height})`;
      }
    }
    for (const [i, one] of words.entries()) {
      for (const other of words.slice(i + 1)) {
        if (overlap(one.box, other.box)) yield `“${one.text}” and “${other.text}” overlap in a figure`;
      }
    }
  }
}

// ---------------------------------------------------------------- elements

/** Elements as they are laid out, those in shadow roots too, but nothing inside a drawing. */
function* elements(root) {
  for (const element of root.children) {
    if (element instanceof SVGElement || element.matches("script, style, template, .katex")) continue;
    yield element;
    yield* elements(element);
    if (element.shadowRoot) yield* elements(element.shadowRoot);
  }
}

function shown(element) {
  if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })) {
    return false;
  }
  const { width, height } = element.getBoundingClientRect();
  return width > 1 && height > 1; // less is meant for screen readers
}

function flows(element) {
  const { position, float, display } = getComputedStyle(element);
  return position !== "absolute" && position !== "fixed" && float === "none" && !display.startsWith("inline")
    && display !== "contents";
}

/** Whether a box that scrolls lies around the element: there it may be wider than the window. */
function scrolls(element) {
  for (let box = element; box; box = box.parentElement ?? box.getRootNode().host) {
    if (/auto|scroll/.test(getComputedStyle(box).overflowX)) return true;
  }
  return false;
}

function* elementFaults(root) {
  for (const element of elements(root)) {
    if (!shown(element)) continue;
    const { overflowX, textOverflow } = getComputedStyle(element);
    if (/hidden|clip/.test(overflowX) && element.scrollWidth > element.clientWidth + SLACK && hasText(element)) {
      yield `the text of ${name(element)} is cut off (${textOverflow})`;
    }
    const { right, left } = element.getBoundingClientRect();
    const leaves = right > innerWidth + SLACK || left < -SLACK;
    if (leaves && hasInk(element) && !scrolls(element)) yield `${name(element)} leaves the window`;
    const children = [...element.children, ...(element.shadowRoot?.children ?? [])].filter(
      (child) => !(child instanceof SVGElement) && shown(child) && flows(child),
    );
    for (const [i, one] of children.entries()) {
      for (const other of children.slice(i + 1)) {
        if (overlap(one.getBoundingClientRect(), other.getBoundingClientRect())) {
          yield `${name(one)} and ${name(other)} overlap`;
        }
      }
    }
  }
}

/** BokehJS keeps empty elements at places of its own, to which nothing can be seen. */
function hasInk(element) {
  return hasText(element) || element.matches("canvas, img, svg, input, select, button, table");
}

function hasText(element) {
  return [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim() !== "");
}

// ---------------------------------------------------------------- drawings of wirings

/** Every name within its box; also in the drawings that belong to another state than the present one. */
function* drawingFaults(root) {
  const others = [...root.querySelectorAll("[data-when][hidden]")].filter((it) => it.querySelector("svg.diagram"));
  for (const other of others) other.hidden = false;
  for (const text of root.querySelectorAll("svg.diagram text:is(.name, .note)")) {
    let box = text.previousElementSibling;
    while (!box.matches(".stage")) box = box.previousElementSibling;
    const [own, around] = [text.getBoundingClientRect(), box.getBoundingClientRect()];
    if (own.left < around.left + SLACK || own.right > around.right - SLACK) yield `${name(text)} leaves its box`;
  }
  for (const other of others) other.hidden = true;
}

// ---------------------------------------------------------------- all

/** Everything that overlaps or is cut off, in words. */
function faults() {
  const found = [...elementFaults(document.body), ...drawingFaults(document.body)];
  for (const section of document.querySelectorAll("section[data-experiment]")) {
    for (const fault of canvasFaults(section)) found.push(`${section.dataset.experiment}: ${fault}`);
  }
  return found;
}

/** How much the figures of a page have written: none would mean that nothing was looked at. */
window.layout.words = () => [...canvases(document.body)].flatMap((canvas) => written.get(canvas) ?? []).length;

function overlap(one, other) {
  return (
    one.left < other.right - SLACK && other.left < one.right - SLACK &&
    one.top < other.bottom - SLACK && other.top < one.bottom - SLACK
  );
}

function describe({ left, top, right, bottom }) {
  return [left, top, right, bottom].map(Math.round).join(" ");
}

function name(element) {
  const section = element.closest?.("section[data-experiment]") ?? element.getRootNode().host?.closest?.("section");
  const own = element.id ? `#${element.id}` : [...element.classList].map((each) => `.${each}`).join("");
  const words = (element.textContent ?? "").trim().replace(/\s+/g, " ").slice(0, 40);
  return `${section?.dataset.experiment ?? "page"}: ${element.localName}${own} “${words}”`;
}
