// Heads: two columns of words, and a line wherever one looks at another.

import { colour, headColour, headDash } from "./colours.js";
import { button, controls, kindControl, layerControl } from "./controls.js";
import { arrows, asTable, draw, fitted, FONTS, make, table, textWidth }
  from "./elements.js";
import { shown } from "./numbers.js";
import { attentionOf, attentionsOf, finds, keysOf, queriesOf } from "./trace.js";
import { called, say } from "./words.js";

const LINES = 3000;

export function drawHeads(place, { trace, choice, change, open }) {
  const attention = attentionOf(trace, choice.kind, choice.layer);
  const there = attention.heads.map((each) => each.head);
  const chosen = attention.heads.filter((each) => choice.heads.includes(each.head));
  const queries = queriesOf(trace, choice.kind);
  const keys = keysOf(trace, choice.kind);
  const readout = make("output", { id: "heads-readout", class: "readout", "aria-live": "polite" });
  const { svg, show } = twoColumns({ queries, keys, chosen, readout, choice,
    width: Math.max(280, place.clientWidth - 42), pin: (pinned) => {
      const query = pinned?.side === "query" ? pinned.index : choice.query;
      change({ pinned, query, head: chosen[0]?.head ?? choice.head });
    } });
  const caption = [called("attention", choice.kind), say("layerNumber", attention.layer + 1),
    say(chosen.length === 1 ? "headNumber" : "headNumbers",
      chosen.map((each) => each.head + 1).join(", ") || "–")].join(" · ");
  place.replaceChildren(
    controls(
      kindControl("heads", trace, choice, change),
      layerControl("heads", trace, choice, change),
      toggles(there, choice, change)),
    ...bestNote(trace, choice),
    make("div", { class: "picture card" },
      make("p", { class: "caption" }, caption),
      make("div", { class: "scroll" }, svg),
      readout),
    make("div", { class: "after" },
      button("heads-arithmetic", say("seeArithmetic"), () => open("steps")),
      choice.pinned ? button("heads-unpin", say("unpin"), () => change({ pinned: null })) : null),
    ...(choice.pinned ? [weightsTable(queries, keys, chosen, choice.pinned)] : []),
  );
  show(choice.pinned);
  return () => ({ kind: choice.kind, layer: attention.layer, queries, keys,
    heads: chosen.map(({ head, weights }) => ({ head, weights })) });
}

// What was measured of a stack's heads, always beside its baseline: with the head that finds what
// "it" stands for or, where none does, with all of them.
function bestNote(trace, { kind, layer, heads }) {
  const best = trace.best_head;
  if (!best || kind !== best.kind) return [];
  const there = attentionsOf(trace, kind).some((each) => each.layer === best.layer);
  if (finds(best) && !(there && layer === best.layer && heads.includes(best.head))) return [];
  return [make("p", { id: "best-head", class: "note" }, say(finds(best) ? "bestHead" : "noBestHead",
    best.layer + 1, best.head + 1, Math.round(best.accuracy * 100), best.sentences,
    best.distance, Math.round(best.baseline * 100)))];
}

// One button a head, in its colour, plus all of them at once.
function toggles(there, { heads }, change) {
  const all = there.every((head) => heads.includes(head));
  const flip = (head) => {
    const next = heads.includes(head) ? heads.filter((each) => each !== head) : [...heads, head];
    change({ heads: next.sort((a, b) => a - b) });
  };
  return make("div", { class: "toggles", role: "group", "aria-label": say("heads") },
    make("span", { class: "name", "aria-hidden": "true" }, say("heads")),
    make("div", {},
      there.map((head) => make("button", { type: "button", id: `head-${head}`, class: "toggle",
        "aria-pressed": String(heads.includes(head)), "aria-label": say("headNumber", head + 1),
        onclick: () => flip(head) },
      make("i", { style: { background: headColour(head) }, "aria-hidden": "true" }),
      String(head + 1))),
      button("heads-all", say(all ? "onlyFirst" : "allHeads"),
        () => change({ heads: all ? there.slice(0, 1) : there }), { class: "quiet" })));
}

function twoColumns({ queries, keys, chosen, readout, choice, width, pin }) {
  const most = Math.max(queries.length, keys.length);
  const row = most <= 24 ? 30 : most <= 60 ? 23 : most <= 120 ? 17 : 14;
  const size = Math.min(15, row * 0.68);
  const room = width * 0.34;
  const widest = (names) => Math.min(room, Math.max(...names.map((n) => textWidth(n, size))));
  const blocks = Math.min(chosen.length * 5, width * 0.05);
  const block = blocks / chosen.length;
  const left = Math.max(widest(queries), textWidth(say("looks"), 13)) + 22 + blocks;
  const right = width - Math.max(widest(keys), textWidth(say("lookedAt"), 13)) - 22 - blocks;
  const middle = (left + right) / 2;
  const top = 30;
  const height = top + most * row + 4;
  const y = (index) => top + (index + 0.5) * row;
  const lines = draw("g", { fill: "none", "stroke-linecap": "round" });
  const marks = draw("g");
  const strongest = strongestLines(chosen, keys.length);

  const lineOf = ({ head, i, j, weight }, faint) => draw("path", {
    d: `M${left} ${y(i)} C${middle} ${y(i)} ${middle} ${y(j)} ${right} ${y(j)}`,
    stroke: headColour(head), "stroke-width": (0.6 + 6 * weight).toFixed(2),
    "stroke-opacity": Math.min(1, (faint ? 0.1 : 0.2) + 0.85 * weight).toFixed(3),
    "stroke-dasharray": headDash(head) });

  // All lines, or those of one word with a block a head beside each word it touches.
  function show(focus) {
    const kept = focus ? linesOf(chosen, focus) : strongest;
    lines.replaceChildren(...kept.map((line) => lineOf(line, !focus)));
    marks.replaceChildren();
    if (focus) {
      for (const { head, i, j, weight } of kept) {
        const place = chosen.findIndex((each) => each.head === head);
        const end = focus.side === "query";
        marks.append(draw("rect", { y: y(end ? j : i) - row * 0.36,
          x: end ? right + 4 + place * block : left - 4 - (place + 1) * block, width: block * 0.8,
          height: row * 0.72, rx: 1.5,
          fill: headColour(head), "fill-opacity": Math.max(0.08, weight).toFixed(3) }));
      }
    }
    for (const word of [...leftSide.words, ...rightSide.words]) {
      const one = focus && word.side === focus.side && word.index === focus.index;
      word.back.setAttribute("fill-opacity", one ? 1 : 0);
      word.text.setAttribute("font-weight", one ? 650 : 400);
    }
    readout.toggleAttribute("data-unsaved", !focus);
    readout.textContent = focus ? inWords(queries, keys, chosen, focus)
      : strongest.length === LINES ? say("strongestOnly", LINES) : say("pointAtWord");
  }

  function column(side, names, x, anchor, label) {
    const words = names.map((name, index) => {
      const pinned = choice.pinned?.side === side && choice.pinned.index === index;
      const wide = Math.min(room, textWidth(name, size, 650)) + 12;
      const back = draw("rect", { x: anchor === "end" ? x - wide + 6 : x - 6, y: y(index) - row / 2
        + 1, width: wide, height: row - 2, rx: 5, fill: colour("mark"), "fill-opacity": 0 });
      const text = draw("text", { x, y: y(index) + size * 0.35, "text-anchor": anchor },
        fitted(name, size, room));
      const toggle = () => pin(pinned ? null : { side, index });
      const group = draw("g", { id: `${side}-${index}`, class: "word", role: "option",
        "aria-selected": String(pinned), "aria-label": name,
        onpointerenter: () => show({ side, index }), onpointerleave: () => show(choice.pinned),
        onfocus: () => show({ side, index }), onblur: () => show(choice.pinned), onclick: toggle,
        onkeydown: (event) => {
          if (event.key !== "Enter" && event.key !== " ") return;
          event.preventDefault();
          toggle();
        } }, draw("title", {}, name), back, text);
      return { side, index, back, text, group };
    });
    return { words, group: draw("g", { role: "listbox", "aria-label": label },
      words.map((word) => word.group)) };
  }
  const leftSide = column("query", queries, left - 8 - blocks, "end", say("looks"));
  const rightSide = column("key", keys, right + 8 + blocks, "start", say("lookedAt"));
  arrows([leftSide.words.map((w) => w.group), rightSide.words.map((w) => w.group)],
    ["ArrowUp", "ArrowDown"], ["ArrowLeft", "ArrowRight"]);
  const svg = draw("svg", { id: "heads-svg", width, height, viewBox: `0 0 ${width} ${height}`,
    role: "group", "aria-label": say("headsTitle"), "font-family": FONTS,
    "font-size": size, fill: colour("ink") }, lines, marks, leftSide.group, rightSide.group,
  [["end", left - 8 - blocks, "looks"], ["start", right + 8 + blocks, "lookedAt"]].map(
    ([anchor, x, words]) => draw("text", { x, y: 16, "text-anchor": anchor, "font-size": 13,
      fill: colour("soft"), "aria-hidden": "true" }, say(words))));
  return { svg, show };
}

// Of many lines only the strongest are drawn; the reader is told so.
function strongestLines(chosen, keys) {
  const least = Math.min(0.02, 1 / keys);
  const found = [];
  for (const { head, weights } of chosen) {
    weights.forEach((row, i) => row.forEach((weight, j) => {
      if (weight >= least) found.push({ head, i, j, weight });
    }));
  }
  return found.sort((a, b) => b.weight - a.weight).slice(0, LINES).reverse();
}

function linesOf(chosen, { side, index }) {
  const found = [];
  for (const { head, weights } of chosen) {
    if (side === "query") {
      weights[index]?.forEach((weight, j) => found.push({ head, i: index, j, weight }));
    } else weights.forEach((row, i) => found.push({ head, i, j: index, weight: row[index] }));
  }
  return found.filter((line) => line.weight > 0.002);
}

function inWords(queries, keys, chosen, focus) {
  if (!chosen.length) return say("noHead");
  const best = linesOf(chosen, focus).sort((a, b) => b.weight - a.weight).slice(0, 4);
  const query = focus.side === "query";
  const list = best.map(({ head, i, j, weight }) =>
    `${query ? keys[j] : queries[i]} ${shown(weight, 3)}`
    + (chosen.length > 1 ? ` (${say("headNumber", head + 1)})` : ""));
  const word = (query ? queries : keys)[focus.index];
  return say(query ? "looksMostAt" : "isLookedAtBy", word, list.join(", ") || "–");
}

function weightsTable(queries, keys, chosen, { side, index }) {
  const query = side === "query";
  const rows = (query ? keys : queries).map((name, other) => [name, ...chosen.map(({ weights }) =>
    shown(query ? weights[index][other] : weights[other][index], 4))]);
  const word = (query ? queries : keys)[index];
  const caption = say(query ? "weightsOf" : "weightsOn", word);
  return asTable("heads-table", caption, () => table(caption,
    [say("word"), ...chosen.map((each) => say("headNumber", each.head + 1))], rows));
}
