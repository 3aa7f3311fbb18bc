// Positions: the encoding added at each, and the dot products between them.

import { colour, signed } from "./colours.js";
import { controls, segments, selection } from "./controls.js";
import { asTable, draw, FONTS, make, table } from "./elements.js";
import { heatMap, legend } from "./heat.js";
import { dot, shown } from "./numbers.js";
import { largest } from "./strips.js";
import { namesOf } from "./trace.js";
import { called, hasWords, say } from "./words.js";

const FURTHER = [100, 200, 500];
const SINUSOIDS = ["interleaved", "concatenated"];

export function drawPositions(place, { trace, choice, change }) {
  const { kind, rows: given, streams } = trace.positions[choice.encoding];
  const counts = SINUSOIDS.includes(kind) ? FURTHER.filter((count) => count > given.length) : [];
  const count = counts.includes(choice.positions) ? choice.positions : given.length;
  const rows = count > given.length
    ? [...given, ...sinusoids(given.length, count, given[0].length, kind)] : given;
  const far = byDistance(rows);
  const pick = [];
  if (trace.positions.length > 1) {
    pick.push(segments("positions-of", say("encodingOf"), trace.positions.map((each, i) =>
      [i, each.streams.map((name) => called("stream", name)).join(", ")]), choice.encoding,
    (encoding) => change({ encoding })));
  }
  if (counts.length) {
    pick.push(selection("positions-count", say("positionsDrawn"),
      [given.length, ...counts].map((each) => [each, String(each)]), count,
      (to) => change({ positions: Number(to) })));
  }
  const key = `positions-${kind}`;
  place.replaceChildren(
    ...(pick.length ? [controls(...pick)] : []),
    ...(hasWords(key) ? [make("p", { class: "lead" }, say(key))] : []),
    make("div", { class: "picture" },
      encoding(namesOf(trace, streams[0]), rows, place.clientWidth),
      distances(far, place.clientWidth),
      Object.keys(trace.embeddings).map((stream) => sizes(trace, stream))),
    asTable("positions-table", say("distanceTable"), () => table(say("distanceTable"),
      [say("distance"), say("average"), say("least"), say("most")],
      far.map(({ distance, mean, least, most }) => [String(distance), shown(mean, 3),
        shown(least, 3), shown(most, 3)]))),
  );
  return () => ({ positions: rows, distances: far });
}

function encoding(items, rows, room) {
  const names = rows.map((_, i) => [String(i), items[i]].filter(Boolean).join("  "));
  const dimensions = rows[0].map((_, d) => String(d));
  const width = Math.max(3, Math.min(26, (room - 190) / dimensions.length));
  const height = rows.length <= 24 ? 22 : rows.length <= 80 ? 14 : 11;
  const limit = largest(rows);
  const output = make("output", { id: "positions-readout", class: "readout",
    "aria-live": "polite", "data-unsaved": true }, say("pointAtCell"));
  const label = `${say("encodingTitle")}. ${say("arrowsRead")}`;
  const every = Math.max(1, 2 ** Math.ceil(Math.log2(26 / width)));
  return make("section", { class: "card" },
    make("h3", {}, say("encodingTitle")),
    make("p", {}, say("encodingWords", rows.length, dimensions.length)),
    make("div", { class: "scroll" }, heatMap({ id: "positions-map", label, rows: names,
      columns: dimensions, cell: { width, height }, every, slanted: false,
      paint: (i, d) => signed(rows[i][d], limit), output,
      tell: (i, d) => say("positionCell", i, d, shown(rows[i][d], 4)) })),
    output,
    legend((value) => signed(value, 1), [[-1, shown(-limit, 1)], [0, "0"], [1, shown(limit, 1)]]));
}

// Positions past those of the trace: sinusoids are a formula, a learned table ends where it ends.
export function sinusoids(first, end, width, kind) {
  const half = width / 2;
  return Array.from({ length: end - first }, (_, i) => Array.from({ length: width }, (__, d) => {
    const [pair, cosine] = kind === "concatenated" ? [d % half, d >= half]
      : [Math.floor(d / 2), d % 2 === 1];
    const angle = (first + i) * 10_000 ** (-pair / half);
    return cosine ? Math.cos(angle) : Math.sin(angle);
  }));
}

// For every distance the dot products of all pairs that far apart: a sinusoid gives the same for
// each pair, learned positions need not.
export function byDistance(rows) {
  return rows.map((_, distance) => {
    const found = [];
    for (let i = 0; i + distance < rows.length; i += 1) {
      found.push(dot(rows[i], rows[i + distance]));
    }
    const mean = found.reduce((a, b) => a + b, 0) / found.length;
    return { distance, mean, least: Math.min(...found), most: Math.max(...found) };
  });
}

function distances(far, room) {
  const width = Math.max(280, room - 50);
  const height = 260;
  const [left, right, top, bottom] = [52, 12, 14, 40];
  const high = Math.max(...far.map((each) => each.most), 0);
  const low = Math.min(...far.map((each) => each.least), 0);
  const last = Math.max(1, far.length - 1);
  const x = (distance) => left + (distance / last) * (width - left - right);
  const y = (value) => top + ((high - value) / (high - low || 1)) * (height - top - bottom);
  const line = (points) => points.map(([a, b], i) => `${i ? "L" : "M"}${a.toFixed(1)} ${
    b.toFixed(1)}`).join("");
  const edge = [...far.map((e) => [x(e.distance), y(e.most)]),
    ...[...far].reverse().map((e) => [x(e.distance), y(e.least)])];
  const marks = [low, 0, high / 2, high].filter((v, i, all) => all.indexOf(v) === i);
  const step = Math.max(1, Math.ceil(far.length / (width / 56)));
  const svg = draw("svg", { id: "distance-svg", width, height, viewBox: `0 0 ${width} ${height}`,
    role: "img", "aria-label": say("distanceTitle"), "font-family": FONTS, "font-size": 12,
    fill: colour("soft") },
  marks.map((value) => draw("g", {},
    draw("line", { x1: left, x2: width - right, y1: y(value), y2: y(value),
      stroke: colour("line") }),
    draw("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, shown(value, 1)))),
  far.filter((each) => each.distance % step === 0).map((each) => draw("text",
    { x: x(each.distance), y: height - bottom + 18, "text-anchor": "middle" },
    String(each.distance))),
  draw("text", { x: (left + width) / 2, y: height - 4, "text-anchor": "middle" },
    say("distance")),
  draw("path", { d: `${line(edge)}Z`, fill: colour("accent"), "fill-opacity": 0.15 }),
  draw("path", { d: line(far.map((e) => [x(e.distance), y(e.mean)])), fill: "none",
    stroke: colour("accent"), "stroke-width": 2.5, "stroke-linejoin": "round" }),
  far.length <= 60 ? far.map((e) => draw("circle", { cx: x(e.distance), cy: y(e.mean), r: 3,
    fill: colour("accent") })) : []);
  return make("section", { class: "card" },
    make("h3", {}, say("distanceTitle")), make("p", {}, say("distanceWords")),
    make("div", { class: "scroll" }, svg));
}

// The norm of each embedding before and after its position was added.
function sizes(trace, stream) {
  const { before, after } = trace.embeddings[stream];
  const names = namesOf(trace, stream);
  const most = Math.max(...before, ...after);
  const bar = (value, name) => make("td", { class: "number share" },
    make("i", { class: `bar ${name}`, "aria-hidden": "true",
      style: { width: `${((value / most) * 64).toFixed(1)}px` } }), shown(value, 2));
  const title = say("embeddingTitle", called("stream", stream));
  return make("section", { class: "card half" },
    make("h3", {}, title),
    make("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": title },
      table(title, [say("word"), say("beforePosition"), say("afterPosition")],
        names.map((name, i) => [name, bar(before[i], "plain"), bar(after[i], "")]))));
}
