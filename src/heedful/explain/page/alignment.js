// Alignment: the words of both sentences in two rows, tied where one came from the other.

import { colour } from "./colours.js";
import { button, controls, segments } from "./controls.js";
import { arrows, draw, FONTS, make, scroller, table, textWidth } from "./elements.js";
import { shown } from "./numbers.js";
import { sourceWords, targetWords } from "./trace.js";
import { say } from "./words.js";

export function drawAlignment(place, { trace, choice, change }) {
  const words = { source: sourceWords(trace), target: targetWords(trace) };
  const salient = choice.ties === "saliency" && trace.saliency;
  const matrix = salient ? saliencyByWords(trace) : trace.alignment.matrix;
  const best = salient ? strongest(matrix) : trace.alignment.words;
  const pick = trace.saliency ? [segments("ties", say("tiesFrom"),
    [["attention", say("byAttention")], ["saliency", say("bySaliency")]], choice.ties,
    (ties) => change({ ties }))] : [];
  if (choice.tied) pick.push(button("unpin-word", say("unpin"), () => change({ tied: null })));
  const said = salient ? say("saliencyWords") : say("alignmentLayer", trace.alignment.layer + 1);
  const readout = make("output", { id: "alignment-readout", class: "readout",
    "aria-live": "polite" });
  const empty = !words.source.length || !words.target.length;
  place.replaceChildren(...(pick.length ? [controls(...pick)] : []),
    make("div", { class: "picture" },
      make("section", { class: "card" }, make("p", { class: "caption" }, said),
        empty ? make("p", {}, say("noWords"))
          : make("div", { class: "scroll" }, tiedRows({ words, matrix, best, choice, change,
            readout, room: place.clientWidth - 42 })), readout),
      make("section", { class: "card" }, make("h3", {}, say("confidenceTitle")),
        confidences(words, best, trace.model))));
  return () => ({ source: words.source, target: words.target, by: salient ? "saliency"
    : "attention", matrix, words: best });
}

// Saliency of pieces as saliency of words: averaged over the pieces written, summed over those read.
export function saliencyByWords(trace) {
  return trace.target.words.map(([top, bottom]) => trace.source.words.map(([first, end]) => {
    let sum = 0;
    for (let t = top; t < bottom; t += 1) {
      for (let s = first; s < end; s += 1) sum += trace.saliency.source[t][s];
    }
    return sum / (bottom - top);
  }));
}

function strongest(matrix) {
  return matrix.map((row, target) => {
    const confidence = row.length ? Math.max(...row) : 0;
    return { target, source: row.length ? row.indexOf(confidence) : null, confidence };
  });
}

function tiedRows({ words, matrix, best, choice, change, readout, room }) {
  const size = 17;
  const gap = 26;
  const widths = { source: words.source.map((w) => textWidth(w, size, 650)),
    target: words.target.map((w) => Math.max(34, textWidth(w, size, 650))) };
  const length = (side) => widths[side].reduce((a, b) => a + b + gap, 0);
  const width = Math.max(Math.min(room, 640), length("source"), length("target"));
  const [height, y] = [250, { source: 34, target: 196 }];
  const centres = {};
  for (const side of ["source", "target"]) {
    let x = (width - length(side)) / 2 + gap / 2;
    centres[side] = widths[side].map((wide) => {
      const centre = x + wide / 2;
      x += wide + gap;
      return centre;
    });
  }
  const ties = [];
  matrix.forEach((row, t) => row.forEach((weight, s) => {
    const first = best[t]?.source === s;
    if (weight >= 0.05 || first) ties.push({ t, s, weight, first });
  }));
  ties.sort((a, b) => a.first - b.first || a.weight - b.weight);
  const lines = draw("g", { fill: "none", "stroke-linecap": "round" });
  const all = [];

  function show(focus) {
    const kept = ties.filter(({ t, s }) => !focus || (focus.side === "target" ? t : s)
      === focus.index);
    lines.replaceChildren(...kept.map(({ t, s, weight, first }) => {
      const [from, to] = [centres.source[s], centres.target[t]];
      return draw("path", { d: `M${from} ${y.source + 14}C${from} ${y.source + 84} ${to} ${
        y.target - 92} ${to} ${y.target - 22}`, stroke: colour(first ? "accent" : "soft"),
      "stroke-width": (0.8 + 7 * weight).toFixed(2),
      "stroke-opacity": (first ? 0.35 + 0.65 * weight : 0.12 + 0.5 * weight).toFixed(3),
      "data-weight": weight });
    }));
    for (const each of all) {
      const one = focus?.side === each.side && focus.index === each.index;
      each.text.setAttribute("font-weight", one ? 650 : 400);
      each.back.setAttribute("fill-opacity", one ? 1 : 0);
    }
    readout.textContent = focus ? inWords(words, matrix, focus) : say("pointAtWord");
  }

  const row = (side, label) => {
    const groups = words[side].map((name, index) => {
      const pinned = choice.tied?.side === side && choice.tied.index === index;
      const x = centres[side][index];
      const wide = widths[side][index] + 14;
      const back = draw("rect", { x: x - wide / 2, y: y[side] - 21, width: wide, height: 30, rx: 7,
        fill: colour("mark"), "fill-opacity": 0 });
      const text = draw("text", { x, y: y[side], "text-anchor": "middle" }, name);
      const confidence = side === "target" ? best[index].confidence : null;
      const toggle = () => change({ tied: pinned ? null : { side, index } });
      const group = draw("g", { id: `${side}-word-${index}`, class: "word", role: "option",
        "aria-selected": String(pinned), "aria-label": name,
        onpointerenter: () => show({ side, index }), onpointerleave: () => show(choice.tied),
        onfocus: () => show({ side, index }), onblur: () => show(choice.tied), onclick: toggle,
        onkeydown: (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          toggle();
        } }, back, text, confidence === null ? null : draw("text", { x, y: y[side] + 26,
        "text-anchor": "middle", "font-size": 12, fill: colour("soft") }, shown(confidence, 2)));
      all.push({ side, index, text, back });
      return group;
    });
    return { groups, element: draw("g", { role: "listbox", "aria-label": label,
      "aria-orientation": "horizontal" }, groups) };
  };
  const rows = [row("source", say("sourceSide")), row("target", say("targetSide"))];
  arrows(rows.map((each) => each.groups), ["ArrowLeft", "ArrowRight"], ["ArrowUp", "ArrowDown"]);
  show(choice.tied);
  return draw("svg", { id: "alignment-svg", width, height, viewBox: `0 0 ${width} ${height}`,
    role: "group", "aria-label": say("alignmentTitle"), "font-family": FONTS,
    "font-size": size, fill: colour("ink") }, lines, rows.map((each) => each.element));
}

function inWords(words, matrix, { side, index }) {
  const other = side === "target" ? "source" : "target";
  const found = words[other].map((name, i) => [name,
    side === "target" ? matrix[index][i] : matrix[i][index]]);
  found.sort((a, b) => b[1] - a[1]);
  const list = found.slice(0, 3).map(([name, weight]) => `${name} ${shown(weight, 3)}`).join(", ");
  return say(side === "target" ? "comesFrom" : "goesTo", words[side][index], list);
}

function confidences(words, best, model) {
  const rows = best.map(({ target, source, confidence }) => [
    make("span", { lang: model.target }, words.target[target]),
    make("td", { lang: model.source }, source === null ? "–" : words.source[source]),
    make("td", { class: "number share", "data-confidence": confidence },
      make("i", { class: "bar", "aria-hidden": "true",
        style: { width: `${(confidence * 110).toFixed(1)}px` } }), shown(confidence, 2))]);
  return scroller(say("confidenceTitle"), table(say("confidenceTitle"),
    [say("targetSide"), say("sourceSide"), say("confidence")], rows));
}
