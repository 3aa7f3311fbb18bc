// Saving what is on the screen: SVG that needs nothing else, PNG made from it, and its numbers.

import { colour } from "./colours.js";
import { draw, FONTS, make } from "./elements.js";

const MARGIN = 20;
const PIXELS = 8192;

// Draw a part of the page again as one SVG: boxes as rectangles, lines of text where they stand,
// pictures as they are. All colours are attributes, so it looks the same without our style sheet.
export function asSVG(root) {
  root.classList.add("saving"); // boxes that scroll open up while they are measured
  const origin = root.getBoundingClientRect();
  const width = Math.max(origin.width, root.scrollWidth);
  const height = Math.max(origin.height, root.scrollHeight);
  const [right, down] = [MARGIN - origin.left, MARGIN - origin.top];
  const body = draw("g", { transform: `translate(${right} ${down})` });
  copy(root, body);
  root.classList.remove("saving");
  const [wide, high] = [Math.ceil(width + 2 * MARGIN), Math.ceil(height + 2 * MARGIN)];
  return draw("svg", { width: wide, height: high, viewBox: `0 0 ${wide} ${high}`,
    "font-family": FONTS },
  draw("rect", { width: wide, height: high, fill: colour("paper") }), body);
}

function copy(element, into) {
  const style = getComputedStyle(element);
  if (style.display === "none" || style.visibility === "hidden") return;
  if (element.matches("[data-unsaved], .unseen")) return;
  if (element instanceof SVGSVGElement) into.append(pictureOf(element));
  else {
    boxOf(element, style, into);
    for (const child of element.childNodes) {
      if (child instanceof Text) textOf(child, style, into);
      else if (child instanceof Element) copy(child, into);
    }
  }
}

function pictureOf(svg) {
  const box = svg.getBoundingClientRect();
  const twin = svg.cloneNode(true);
  for (const each of [twin, ...twin.querySelectorAll("*")]) {
    for (const name of ["id", "class", "tabindex", "role"]) each.removeAttribute(name);
  }
  twin.setAttribute("x", box.left);
  twin.setAttribute("y", box.top);
  return twin;
}

function boxOf(element, style, into) {
  const box = element.getBoundingClientRect();
  const filled = !/^(transparent|rgba\(.*, 0\))$/.test(style.backgroundColor);
  const bordered = parseFloat(style.borderTopWidth) > 0 && parseFloat(style.borderLeftWidth) > 0;
  const size = { x: box.left, y: box.top, width: box.width, height: box.height };
  if (box.width && box.height && (filled || bordered)) {
    into.append(draw("rect", { ...size, rx: parseFloat(style.borderTopLeftRadius) || 0,
      fill: filled ? style.backgroundColor : "none",
      stroke: bordered ? style.borderTopColor : null }));
  }
  if (!bordered && parseFloat(style.borderBottomWidth) > 0) {
    into.append(draw("line", { x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom,
      stroke: style.borderBottomColor }));
  }
}

const ruler = make("canvas").getContext("2d");

// A text that runs over several lines is cut into them by asking where each word stands.
function textOf(node, style, into) {
  if (!node.data.trim()) return;
  const size = parseFloat(style.fontSize);
  ruler.font = `${style.fontWeight} ${size}px ${FONTS}`;
  const { fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = ruler.measureText("가");
  const range = document.createRange();
  const lines = [];
  for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const box = range.getBoundingClientRect();
    const line = lines.at(-1);
    if (line && Math.abs(line.top - box.top) < 2) line.words.push(word);
    else lines.push({ top: box.top, height: box.height, left: box.left, words: [word] });
  }
  for (const { top, height, left, words } of lines) {
    into.append(draw("text", { x: left, y: (top + (height + ascent - descent) / 2).toFixed(2),
      fill: style.color, "font-size": size,
      "font-weight": style.fontWeight === "400" ? null : style.fontWeight,
      "text-decoration": style.textDecorationLine === "line-through" ? "line-through" : null },
    words.join(" ")));
  }
}

// XML knows fewer characters than a text may hold.
export function asXML(svg) {
  return new XMLSerializer().serializeToString(svg)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
}

export function saveSVG(root, name) {
  keep(new Blob([asXML(asSVG(root))], { type: "image/svg+xml" }), `${name}.svg`);
}

export function saveJSON(data, name) {
  keep(new Blob([JSON.stringify(data, null, 1)], { type: "application/json" }), `${name}.json`);
}

export async function savePNG(root, name) {
  const svg = asSVG(root);
  const [width, height] = ["width", "height"].map((each) => Number(svg.getAttribute(each)));
  const scale = Math.min(2, PIXELS / width, PIXELS / height);
  const address = URL.createObjectURL(new Blob([asXML(svg)], { type: "image/svg+xml" }));
  const picture = new Image();
  picture.src = address;
  await picture.decode();
  const canvas = make("canvas", { width: Math.ceil(width * scale),
    height: Math.ceil(height * scale) });
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  const blob = await new Promise((done) => { canvas.toBlob(done, "image/png"); });
  keep(blob, `${name}.png`);
}

function keep(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
