// Alignment: the words of both sentences in two rows, tied where one looked at the other.

import { colour } from "./colours.js";
import { button, controls, segments } from "./controls.js";
import { arrows, draw, fitted, FONTS, make, scroller, table, textWidth } from "./elements.js";
import { shown } from "./numbers.js";
import { attentionOf, outputOf, readWords, streamOf, writtenWords } from "./trace.js";
import { called, say } from "./words.js";

const SIZE = 17;

// The target is what was written, the source what the aligned attention looks at.
export function drawAlignment(place, { trace, choice, change }) {
  const output = outputOf(trace);
  const names = sidesOf(trace);
  const words = { source: readWords(trace, names.source), target: writtenWords(output) };
  const salient = choice.ties === "saliency" && output.saliency;
  const matrix = salient ? saliencyByWords(trace) : trace.alignment.matrix;
  const best = salient ? strongest(matrix) : trace.alignment.words;
  const pick = output.saliency ? [segments("ties", say("tiesFrom"),
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
          : make("div", { class: "scroll" }, tiedRows({ words, names, matrix, best, salient, choice, change,
            readout, room: Math.max(260, place.clientWidth - 42) })), readout),
      make("section", { class: "card" }, make("h3", {}, say("shareTitle")),
        sharesTable(trace, names, words, best, salient))));
  return () => ({ source: words.source, target: words.target, by: salient ? "saliency"
    : "attention", matrix, words: best });
}

export function sidesOf(trace) {
  const { kind, layer } = trace.alignment;
  const { to } = attentionOf(trace, kind, layer) ?? {};
  const { stream } = outputOf(trace);
  return { source: to ?? trace.streams.find((each) => each.name !== stream).name, target: stream };
}

// Saliency of pieces as saliency of words: averaged over the pieces written, summed over the
// pieces read.
export function saliencyByWords(trace) {
  const { source } = sidesOf(trace);
  const { words, saliency } = outputOf(trace);
  return words.map(([top, bottom]) => streamOf(trace, source).words.map(([first, end]) => {
    let sum = 0;
    for (let t = top; t < bottom; t += 1) {
      for (let s = first; s < end; s += 1) sum += saliency[source][t][s];
    }
    return sum / (bottom - top);
  }));
}

// A trace calls the largest share `confidence`.
function strongest(matrix) {
  return matrix.map((row, word) => {
    const confidence = row.length ? Math.max(...row) : 0;
    return { word, to: row.length ? row.indexOf(confidence) : null, confidence };
  });
}

// Where the words stand: two rows side by side with the reading direction or, where these do not
// fit (long sentences, narrow screens), two columns.
function laidOut(words, room) {
  const wide = Object.fromEntries(["source", "target"].map((side) =>
    [side, words[side].map((word) => Math.max(34, textWidth(word, SIZE, 650)))]));
  const bare = (side) => wide[side].reduce((a, b) => a + b, 0);
  const longest = Math.max(...["source", "target"].map((side) => bare(side)
    + 22 * words[side].length));
  const upright = longest > room;
  const most = Math.max(words.source.length, words.target.length);
  const pitch = most > 60 ? 22 : 32;
  const places = {};
  for (const side of ["source", "target"]) {
    const count = words[side].length;
    const spread = Math.min(2 * pitch, (most * pitch) / count);
    const gap = Math.min(90, (room - bare(side)) / count);
    let x = (room - bare(side) - gap * count) / 2 + gap / 2;
    places[side] = wide[side].map((width, i) => {
      if (upright) return 10 + (most * pitch - count * spread) / 2 + (i + 0.5) * spread;
      const centre = x + width / 2;
      x += width + gap;
      return centre;
    });
  }
  const column = (side) => Math.min(room * 0.36, Math.max(...wide[side]));
  return { wide, upright, places, width: room, height: upright ? most * pitch + 20 : 250,
    left: upright ? column("source") + 14 : 0, right: room - column("target") - 52 };
}

function tiedRows({ words, names, matrix, best, salient, choice, change, readout, room }) {
  const { wide, upright, places, width, height, left, right } = laidOut(words, room);
  const [above, below] = [34, 196];
  const ties = [];
  matrix.forEach((row, t) => row.forEach((weight, s) => {
    const first = best[t]?.to === s;
    if (weight >= 0.05 || first) ties.push({ t, s, weight, first });
  }));
  ties.sort((a, b) => a.first - b.first || a.weight - b.weight);
  const lines = draw("g", { fill: "none", "stroke-linecap": "round" });
  const all = [];

  function wayOf(s, t) {
    const [from, to] = [places.source[s], places.target[t]];
    const middle = (left + right) / 2;
    return upright ? `M${left + 4} ${from}C${middle} ${from} ${middle} ${to} ${right - 10} ${to}`
      : `M${from} ${above + 14}C${from} ${above + 84} ${to} ${below - 92} ${to} ${below - 22}`;
  }

  function show(focus) {
    const kept = ties.filter(({ t, s }) => !focus || (focus.side === "target" ? t : s)
      === focus.index);
    lines.replaceChildren(...kept.map(({ t, s, weight, first }) => draw("path", { d: wayOf(s, t),
      stroke: colour(first ? "accent" : "soft"), "stroke-width": (0.8 + 7 * weight).toFixed(2),
      "stroke-opacity": (first ? 0.35 + 0.65 * weight : 0.12 + 0.5 * weight).toFixed(3),
      "data-weight": weight })));
    for (const each of all) {
      const one = focus?.side === each.side && focus.index === each.index;
      each.text.setAttribute("font-weight", one ? 650 : 400);
      each.back.setAttribute("fill-opacity", one ? 1 : 0);
    }
    readout.toggleAttribute("data-unsaved", !focus);
    readout.textContent = focus ? inWords(words, matrix, salient, focus) : say("pointAtWord");
  }

  function wordOf(side, name, index) {
    const pinned = choice.tied?.side === side && choice.tied.index === index;
    const at = places[side][index];
    const target = side === "target";
    const [x, y] = upright ? [target ? right : left - 4, at + 6] : [at, target ? below : above];
    const anchor = upright ? (target ? "start" : "end") : "middle";
    const box = Math.min(wide[side][index], upright ? room * 0.36 : Infinity) + 14;
    const begin = { start: x - 7, end: x - box + 7, middle: x - box / 2 }[anchor];
    const back = draw("rect", { x: begin, y: y - 20, width: box, height: 28, rx: 7,
      fill: colour("mark"), "fill-opacity": 0 });
    const text = draw("text", { x, y, "text-anchor": anchor }, fitted(name, SIZE, box - 13));
    const toggle = () => change({ tied: pinned ? null : { side, index } });
    const group = draw("g", { id: `${side}-word-${index}`, class: "word", role: "option",
      "aria-selected": String(pinned),
      onpointerenter: () => show({ side, index }), onpointerleave: () => show(choice.tied),
      onfocus: () => show({ side, index }), onblur: () => show(choice.tied), onclick: toggle,
      onkeydown: (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        toggle();
      } }, back, text,
    target ? draw("text", { x: upright ? width - 4 : x, y: upright ? y : y + 26, "font-size": 12,
      "text-anchor": upright ? "end" : "middle", fill: colour("soft") },
    shown(best[index].confidence, 2)) : null);
    all.push({ side, index, text, back });
    return group;
  }
  const groups = ["source", "target"].map((side) => words[side].map((name, i) =>
    wordOf(side, name, i)));
  const keys = [["ArrowLeft", "ArrowRight"], ["ArrowUp", "ArrowDown"]];
  arrows(groups, keys[upright ? 1 : 0], keys[upright ? 0 : 1]);
  show(choice.tied);
  return draw("svg", { id: "alignment-svg", width, height, viewBox: `0 0 ${width} ${height}`,
    role: "group", "aria-label": say("alignmentTitle"), "font-family": FONTS,
    "font-size": SIZE, fill: colour("ink") }, lines,
  groups.map((group, i) => draw("g", { role: "listbox", "aria-label":
    called("stream", i ? names.target : names.source), "aria-orientation": upright ? "vertical" : "horizontal",
  }, group)));
}

function inWords(words, matrix, salient, { side, index }) {
  const other = side === "target" ? "source" : "target";
  const found = words[other].map((name, i) => [name,
    side === "target" ? matrix[index][i] : matrix[i][index]]);
  found.sort((a, b) => b[1] - a[1]);
  const list = found.slice(0, 3).map(([name, weight]) => `${name} ${shown(weight, 3)}`).join(", ");
  const key = salient ? ["movedMostBy", "movedMost"] : ["lookedMostAt", "wasLookedAtBy"];
  return say(key[side === "target" ? 0 : 1], words[side][index], list);
}

function sharesTable(trace, names, words, best, salient) {
  const [from, to] = [names.source, names.target].map((name) => streamOf(trace, name).lang);
  const rows = best.map(({ word, to: seen, confidence: share }) => [
    make("span", { lang: to }, words.target[word]),
    make("td", { lang: from }, seen === null ? "–" : words.source[seen]),
    make("td", { class: "number share", "data-share": share },
      make("i", { class: "bar", "aria-hidden": "true",
        style: { width: `${(share * 72).toFixed(1)}px` } }), shown(share, 2))]);
  return scroller(say("shareTitle"), table(say("shareTitle"),
    [called("stream", names.target), say(salient ? "movedBy" : "mostLookedAt"), say("share")], rows));
}
