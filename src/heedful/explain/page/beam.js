// The beam as a tree: every step a column, every hypothesis a node tied to the one it grew from.

import { colour } from "./colours.js";
import { asTable, draw, fitted, FONTS, make, scroller, table, textWidth } from "./elements.js";
import { visible } from "./items.js";
import { shown } from "./numbers.js";
import { say } from "./words.js";

const [COLUMN, ROW, NODES] = [132, 32, 2000];

export function drawBeam(beam) {
  const many = beam.steps.reduce((sum, step) => sum + step.length, 0) > NODES;
  const wanted = ({ fate }, step, id) => !many || fate !== "dropped" || beam.best[step] === id;
  const layout = laidOut(beam, wanted);
  const tall = Math.max(...layout.map((step) => step.length)) * ROW + 44;
  const width = layout.length * COLUMN + 20;
  const band = draw("rect", { y: 0, width: COLUMN - 12, height: tall, rx: 8,
    fill: colour("mark"), "fill-opacity": 0.55 });
  const svg = draw("svg", { id: "beam-svg", width, height: tall, viewBox: `0 0 ${width} ${tall}`,
    role: "img", "aria-label": say("beamLabel", beam.width), "font-family": FONTS,
    "font-size": 13, fill: colour("ink") }, band,
  layout.map((_, step) => draw("text", { x: step * COLUMN + 14, y: 18, "font-size": 11,
    fill: colour("soft") }, String(step + 1))),
  edges(layout), layout.flat().map(nodeOf));
  const box = scroller(say("beamTitle"), svg);
  const element = make("div", {},
    make("p", {}, say("beamWords", beam.width, shown(beam.length_penalty, 2)), " ",
      many ? say("beamMany") : ""),
    key(), box,
    asTable("beam-table", say("asTable"), () => table(say("beamTitle"),
      [say("step"), say("piece"), say("logp"), say("fate")],
      beam.steps.flatMap((step, s) => step.map((each) => [String(s + 1), visible(each.piece),
        shown(each.logp, 3), say(each.fate) + (beam.best[s] === each.id ? ` · ${say("best")}`
          : "")])))));
  const mark = (step) => {
    band.setAttribute("x", Math.min(step, layout.length - 1) * COLUMN + 6);
    box.scrollLeft = step * COLUMN - box.clientWidth / 2 + COLUMN / 2;
  };
  return { element, mark };
}

// Children stand in the order of their parents, so that few lines cross.
function laidOut(beam, wanted) {
  const placed = [];
  beam.steps.forEach((step, s) => {
    const above = new Map((placed[s - 1] ?? []).map((node) => [node.id, node]));
    const nodes = step.filter((each) => wanted(each, s, each.id)).map((each) => ({ ...each,
      step: s, from: above.get(each.parent) ?? null, won: beam.best[s] === each.id }));
    nodes.sort((a, b) => (a.from?.slot ?? 0) - (b.from?.slot ?? 0) || b.logp - a.logp);
    nodes.forEach((node, slot) => {
      const text = fitted(visible(node.piece), 13, COLUMN - 62);
      const wide = textWidth(text, 13, node.won ? 650 : 400) + 20;
      Object.assign(node, { slot, text, wide, x: s * COLUMN + 12, y: 30 + slot * ROW + ROW / 2 });
    });
    placed.push(nodes);
  });
  return placed;
}

const strokeOf = ({ fate, won }) => (won
  ? { stroke: colour("accent"), "stroke-width": 3 }
  : fate === "dropped"
    ? { stroke: colour("faint"), "stroke-width": 1, "stroke-dasharray": "3 3" }
    : { stroke: colour("soft"), "stroke-width": 1.4 });

function edges(layout) {
  const tied = layout.flat().filter((node) => node.from);
  tied.sort((a, b) => a.won - b.won);
  return tied.map((node) => {
    const { from } = node;
    const [x1, x2] = [from.x + from.wide, node.x];
    const bend = (x1 + x2) / 2;
    return draw("path", { d: `M${x1} ${from.y}C${bend} ${from.y} ${bend} ${node.y} ${x2} ${node.y}`,
      fill: "none", ...strokeOf(node) });
  });
}

function nodeOf(node) {
  const { x, y, wide, fate, won, text } = node;
  const score = fate === "ended" && node.score !== undefined
    ? ` · ${say("score")} ${shown(node.score, 3)}` : "";
  return draw("g", { "data-fate": fate, "data-won": won ? "" : null },
    draw("title", {}, `${visible(node.piece)} · ${say(fate)} · ${shown(node.logp, 3)}${score}`),
    fate === "ended" ? draw("rect", { x: x - 3, y: y - 15, width: wide + 6, height: 30, rx: 15,
      fill: "none", ...strokeOf({ ...node, won: false }) }) : null,
    draw("rect", { x, y: y - 12, width: wide, height: 24, rx: 12, fill: colour("card"),
      ...strokeOf(node) }),
    draw("text", { x: x + wide / 2, y: y + 4.5, "text-anchor": "middle",
      "font-weight": won ? 650 : 400, fill: colour(fate === "dropped" ? "soft" : "ink") }, text),
    draw("text", { x: x + wide + 6, y: y - 6, "font-size": 9.5, fill: colour("soft") },
      shown(node.logp, 1)));
}

function key() {
  const sample = (fate, won, text) => make("span", { class: "sample" },
    draw("svg", { width: 34, height: 18, viewBox: "0 0 34 18", "aria-hidden": "true" },
      fate === "ended" ? draw("rect", { x: 1, y: 1, width: 32, height: 16, rx: 8, fill: "none",
        ...strokeOf({ fate, won }) }) : null,
      draw("rect", { x: 4, y: 4, width: 26, height: 10, rx: 5, fill: "none",
        ...strokeOf({ fate, won }) })), text);
  return make("p", { class: "key" }, sample("kept", true, say("best")),
    sample("kept", false, say("kept")), sample("ended", false, say("ended")),
    sample("dropped", false, say("dropped")));
}
