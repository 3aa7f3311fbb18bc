// A heat map with names on both sides, as one SVG. Few cells are rectangles; many are one small
// picture, a dot a cell, so that 200 x 200 stay as quick as 5 x 5.

import { colour } from "./colours.js";
import { draw, fitted, FONTS, make, textWidth } from "./elements.js";

const RECTANGLES = 1600;

// Paint a grid of colours, a pixel a cell, and give it as a data URL.
export function pixels(rows, columns, paint) {
  const canvas = make("canvas", { width: columns, height: rows });
  const context = canvas.getContext("2d");
  for (let i = 0; i < rows; i += 1) {
    for (let j = 0; j < columns; j += 1) {
      context.fillStyle = paint(i, j);
      context.fillRect(j, i, 1, 1);
    }
  }
  return canvas.toDataURL();
}

export function image(href, x, y, width, height) {
  return draw("image", { href, x, y, width, height, preserveAspectRatio: "none",
    "image-rendering": "pixelated" });
}

// `every` names only each n-th column. `tell(i, j)` gives the words for a cell, shown in `output`
// when one points at it, or goes there with the arrow keys.
export function heatMap({ id, label, rows, columns, cell, paint, tell, output, every = 1,
  slanted = true }) {
  const size = Math.max(9, Math.min(13, cell.height * 0.8));
  const room = 130;
  const wide = Math.min(room, Math.max(...rows.map((each) => textWidth(each, size))));
  const high = slanted
    ? Math.min(room, Math.max(...columns.map((each) => textWidth(each, size))) * 0.72 + 16) : 20;
  const [left, top] = [Math.ceil(wide) + 14, Math.ceil(high) + 4];
  const [across, down] = [columns.length * cell.width, rows.length * cell.height];
  const lean = slanted ? Math.min(room, textWidth(columns.at(-1), size)) * 0.72 : 16;
  const width = Math.ceil(left + across + Math.max(6, lean - cell.width / 2));
  const height = top + down + 4;
  const cells = draw("g");
  if (rows.length * columns.length <= RECTANGLES) {
    const gap = Math.min(cell.width, cell.height) > 14 ? 1.5 : 0;
    rows.forEach((_, i) => columns.forEach((__, j) => cells.append(draw("rect", {
      x: left + j * cell.width, y: top + i * cell.height, width: cell.width - gap,
      height: cell.height - gap, rx: gap ? 3 : 0, fill: paint(i, j) }))));
  } else {
    cells.append(image(pixels(rows.length, columns.length, paint), left, top, across, down));
  }
  const mark = draw("rect", { width: cell.width, height: cell.height, fill: "none", rx: 2,
    stroke: colour("focus"), "stroke-width": 2, visibility: "hidden", "pointer-events": "none" });
  const names = [
    ...rows.map((name, i) => draw("text", { x: left - 8, y: top + (i + 0.5) * cell.height + size
      * 0.35, "text-anchor": "end" }, fitted(name, size, room))),
    ...columns.map((name, j) => (j % every ? null : columnName(name, j))),
  ];
  function columnName(name, j) {
    const [x, y] = [left + (j + 0.5) * cell.width, top - 8];
    return draw("text", slanted ? { transform: `translate(${x} ${y}) rotate(-45)` }
      : { x, y, "text-anchor": "middle" }, fitted(name, size, room));
  }
  const svg = draw("svg", { id, width, height, viewBox: `0 0 ${width} ${height}`,
    role: "application", tabindex: 0, "aria-label": label, "font-family": FONTS,
    "font-size": size, fill: colour("soft") }, cells, names, mark);
  point(svg, { left, top, cell, rows: rows.length, columns: columns.length, mark, tell, output });
  return svg;
}

function point(svg, { left, top, cell, rows, columns, mark, tell, output }) {
  let here = [0, 0];
  const show = (i, j) => {
    here = [Math.min(rows - 1, Math.max(0, i)), Math.min(columns - 1, Math.max(0, j))];
    mark.setAttribute("x", left + here[1] * cell.width);
    mark.setAttribute("y", top + here[0] * cell.height);
    mark.setAttribute("visibility", "visible");
    output.textContent = tell(...here);
    output.removeAttribute("data-unsaved");
  };
  const hide = () => mark.setAttribute("visibility", "hidden");
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const i = Math.floor((event.clientY - box.top - top) / cell.height);
    const j = Math.floor((event.clientX - box.left - left) / cell.width);
    if (i >= 0 && i < rows && j >= 0 && j < columns) show(i, j);
    else hide();
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("focus", () => { if (svg.matches(":focus-visible")) show(...here); });
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const [down, right] = step[event.key] ?? [0, 0];
    if (!(event.key in step)) return;
    event.preventDefault();
    show(here[0] + down, here[1] + right);
  });
}

// What the colours mean: a strip from nothing to all, with the shares written beneath.
export function legend(paint, marks) {
  const [width, height, bars] = [220, 12, 44];
  const [first, last] = [marks[0][0], marks.at(-1)[0]];
  const svg = draw("svg", { class: "legend", width: width + 40, height: 34, role: "img",
    viewBox: `0 0 ${width + 40} 34`, "aria-label": marks.map(([, text]) => text).join(", "),
    "font-family": FONTS, "font-size": 11, fill: colour("soft") });
  for (let i = 0; i < bars; i += 1) {
    const value = first + ((i + 0.5) / bars) * (last - first);
    svg.append(draw("rect", { x: 20 + (i * width) / bars, y: 2, width: width / bars + 0.5, height,
      fill: paint(value) }));
  }
  for (const [at, text] of marks) {
    const x = 20 + ((at - first) / (last - first)) * width;
    svg.append(draw("text", { x, y: 29, "text-anchor": "middle" }, text));
  }
  return svg;
}
