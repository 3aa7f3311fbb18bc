// Map: every layer and head of one kind of attention at a glance, and any of them enlarged.

import { colour, heat } from "./colours.js";
import { button, controls, kindControl } from "./controls.js";
import { arrows, asTable, draw, FONTS, make, table } from "./elements.js";
import { heatMap, image, legend, pixels } from "./heat.js";
import { shown } from "./numbers.js";
import { attentionOf, attentionsOf, headOf, keysOf, queriesOf } from "./trace.js";
import { called, say } from "./words.js";

export function drawMap(place, context) {
  const { trace, choice, change } = context;
  const controlRow = controls(kindControl("map", trace, choice, change));
  const picture = make("div", { class: "picture card" });
  place.replaceChildren(controlRow, picture);
  if (!choice.enlarged) return drawAll(picture, context);
  controlRow.append(button("map-back", say("allMaps"), () => {
    const { layer, head } = choice.enlarged;
    change({ enlarged: null }, `map-${layer}-${head}`);
  }));
  return drawOne(place, picture, context);
}

function shares() {
  const marks = [0, 0.05, 0.25, 0.5, 1].map((share) => [Math.sqrt(share), String(share)]);
  return make("div", { class: "legends" },
    make("span", { class: "soft" }, say("share")), legend((depth) => heat(depth * depth), marks));
}

// The small maps: one picture each, laid out layer by layer in one SVG.
function drawAll(picture, { trace, choice, change }) {
  const layers = attentionsOf(trace, choice.kind);
  const [queries, keys] = [queriesOf(trace, choice.kind), keysOf(trace, choice.kind)];
  // A map keeps the shape of its table: as wide as what is looked at, as high as what looks.
  const side = Math.max(64, Math.min(230, (picture.clientWidth - 110) / layers[0].heads.length
    - 14));
  const scale = side / Math.max(queries.length, keys.length);
  const [wide, high] = [keys.length * scale, queries.length * scale];
  const [left, top, gap] = [64, 26, 14];
  const cell = Math.max(wide, 40) + gap;
  const heads = layers[0].heads;
  const width = left + heads.length * cell + 4;
  const height = top + layers.length * (high + gap) + 4;
  const enlarge = (layer, head) => change(
    { enlarged: { layer, head }, layer, head, heads: [head] }, "map-large");
  const small = layers.map((attention, r) => attention.heads.map(({ head, weights }, c) => {
    const [x, y] = [left + c * cell, top + r * (high + gap)];
    const dots = pixels(queries.length, keys.length, (i, j) => heat(weights[i][j]));
    return draw("g", { id: `map-${attention.layer}-${head}`, class: "cell", role: "button",
      "aria-label": say("enlarge", attention.layer + 1, head + 1),
      onclick: () => enlarge(attention.layer, head),
      onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        enlarge(attention.layer, head);
      } },
    image(dots, x, y, wide, high),
    draw("rect", { x: x - 1, y: y - 1, width: wide + 2, height: high + 2, rx: 4, fill: "none",
      stroke: colour("line"), "stroke-width": 2 }));
  }));
  arrows(small, ["ArrowLeft", "ArrowRight"], ["ArrowUp", "ArrowDown"]);
  const svg = draw("svg", { id: "map-svg", width, height, viewBox: `0 0 ${width} ${height}`,
    role: "group", "aria-label": say("mapTitle"), "font-family": FONTS, "font-size": 12,
    fill: colour("soft") },
  heads.map(({ head }, c) => draw("text", { x: left + c * cell + wide / 2, y: 16,
    "text-anchor": "middle" }, say(cell > 70 ? "headNumber" : "plain", head + 1))),
  layers.map(({ layer }, r) => draw("text", { x: 0, y: top + r * (high + gap) + high / 2 + 4 },
    say("layerNumber", layer + 1))),
  small);
  picture.append(
    make("p", { class: "caption" }, `${called("attention", choice.kind)} · ${queries.length} × ${keys.length}`),
    make("div", { class: "scroll" }, svg), shares());
  return () => ({ kind: choice.kind, queries, keys, layers: layers.map(({ layer, heads: each }) =>
    ({ layer, heads: each.map(({ head, weights }) => ({ head, weights })) })) });
}

function drawOne(place, picture, { trace, choice }) {
  const { layer, head } = choice.enlarged;
  const attention = attentionOf(trace, choice.kind, layer);
  const { weights } = headOf(attention, head);
  const [queries, keys] = [queriesOf(trace, choice.kind), keysOf(trace, choice.kind)];
  const most = Math.max(queries.length, keys.length);
  const size = most <= 16 ? 34 : most <= 40 ? 24 : most <= 90 ? 16 : 12;
  const output = make("output", { id: "map-readout", class: "readout", "aria-live": "polite",
    "data-unsaved": true }, say("pointAtCell"));
  const name = [called("attention", choice.kind), say("layerNumber", layer + 1), say("headNumber", head + 1)]
    .join(" · ");
  const svg = heatMap({ id: "map-large", label: `${name}. ${say("arrowsRead")}`, rows: queries,
    columns: keys, cell: { width: size, height: size }, paint: (i, j) => heat(weights[i][j]),
    tell: (i, j) => `${queries[i]} → ${keys[j]}: ${shown(weights[i][j], 4)}`, output });
  picture.append(make("p", { class: "caption" }, name), make("div", { class: "scroll" }, svg),
    output, shares());
  place.append(asTable("map-table", say("asTable"), () => table(name, [say("looks"), ...keys],
    queries.map((query, i) => [query, ...weights[i].map((w) => shown(w, 3))]))));
  return () => ({ kind: choice.kind, layer, head, queries, keys, weights });
}
