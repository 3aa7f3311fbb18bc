// Decoding: what comes out, a step at a time, and what else could have come. A text that is
// written grows piece by piece; other answers are given at their places in what was read.

import { drawBeam } from "./beam.js";
import { colour } from "./colours.js";
import { button, controls, slider } from "./controls.js";
import { draw, fitted, FONTS, make, scroller, table, textWidth } from "./elements.js";
import { inText, visible } from "./items.js";
import { percent, sample, shown } from "./numbers.js";
import { namesOf, outputOf, streamOf } from "./trace.js";
import { say } from "./words.js";

const PACE = 900;
let playing = null;

export function drawDecoding(place, { trace, choice }) {
  stop();
  const output = outputOf(trace);
  const { steps } = output;
  const writes = output.kind === "next-piece";
  const stream = streamOf(trace, output.stream);
  const names = namesOf(trace, output.stream);
  const causal = trace.attentions.some((each) => each.causal && each.from === output.stream);
  const last = steps.length - 1;
  choice.step = Math.min(choice.step, last);
  const temperatures = Object.keys(steps[0].rest).sort((a, b) => a - b);
  choice.temperature ??= temperatures.find((each) => Number(each) === 1) ?? temperatures[0];

  const written = make("p", { id: "decoding-output", class: "written", lang: stream.lang,
    "aria-live": "polite" });
  const bars = make("ol", { id: "decoding-bars", class: "bars" });
  const told = make("p", { id: "decoding-told", class: "soft", "aria-live": "polite" });
  const mask = make("div", { class: "scroll" });
  const lens = make("div", {});
  const beam = output.beam ? drawBeam(output.beam) : null;

  function update() {
    const step = steps[choice.step];
    if (writes) write(written, steps.slice(0, choice.step + 1).map(({ taken }) => taken),
      choice.step);
    else write(written, stream.items.map(inText), step.at);
    showBars(bars, told, step, choice, writes);
    if (causal) mask.replaceChildren(triangle(names, step.at ?? names.length - 1));
    if (output.lens) lens.replaceChildren(lensTable(output, choice.step));
    beam?.mark(choice.step);
  }
  const setting = (name) => (value) => {
    choice[name] = value;
    update();
  };
  const sliders = !writes ? null : make("div", { class: "sliders", "data-unsaved": true },
    slider("temperature", say("temperature"), { min: 0, max: temperatures.length - 1,
      value: temperatures.indexOf(choice.temperature) }, (at) => temperatures[at],
    (at) => setting("temperature")(temperatures[at])),
    slider("top-k", say("topK"), { min: 1, max: 11, value: choice.topK || 11 },
      (k) => (k > 10 ? say("all") : String(k)), (k) => setting("topK")(k > 10 ? 0 : k)),
    slider("top-p", say("topP"), { min: 0.05, max: 1, step: 0.05, value: choice.topP },
      (p) => p.toFixed(2), setting("topP")));
  const card = (title, ...children) => make("section", { class: "card" },
    make("h3", {}, say(title)), children);
  const chances = card(writes ? "nextTitle" : "answersTitle", sliders, bars, told);
  const beside = [
    causal && card("maskTitle", make("p", {}, say("triangleWords")), mask),
    output.lens && card("lensTitle", make("p", {}, say("lensWords")), lens),
  ].filter(Boolean);
  place.replaceChildren(
    ...(last ? [player(last, choice, update, writes)] : []),
    make("div", { class: "picture" },
      card(writes ? "writtenTitle" : "readTitle", written),
      beside.length
        ? make("div", { class: "pair" }, chances, make("div", { class: "stack" }, beside))
        : chances,
      beam || output.given ? card("beamTitle", beam ? beam.element
        : make("p", { class: "soft" }, say("noBeam"))) : null));
  update();
  return () => {
    const drawn = sample(steps[choice.step], choice.temperature, choice.topK, choice.topP);
    return { step: choice.step, temperature: Number(choice.temperature), top_k: choice.topK,
      top_p: choice.topP, shares: drawn.shares, steps, beam: output.beam ?? null };
  };
}

function stop() {
  clearInterval(playing);
  playing = null;
}

// Forward, back, play and pause. Playing ends by itself when the view is left.
function player(last, choice, update, plays) {
  const go = (to) => {
    choice.step = Math.max(0, Math.min(last, to));
    where.querySelector("input").value = choice.step;
    where.querySelector("input").dispatchEvent(new Event("input"));
  };
  const where = slider("step", say("step"), { min: 0, max: last, value: choice.step },
    (at) => say("stepOf", at + 1, last + 1), (at) => {
      choice.step = at;
      update();
    });
  const play = button("play", "", () => {
    if (playing) stop();
    else {
      if (choice.step >= last) go(0);
      playing = setInterval(() => {
        if (!play.isConnected || play.closest("[hidden]")) stop();
        else go(choice.step + 1);
        if (choice.step >= last) stop();
        label();
      }, PACE);
    }
    label();
  }, { class: "primary" });
  const label = () => {
    play.textContent = say(playing ? "pause" : "play");
    play.dataset.state = playing ? "playing" : "paused";
  };
  label();
  return controls(
    button("step-back", "←", () => { stop(); label(); go(choice.step - 1); },
      { "aria-label": say("stepBack") }),
    plays ? play : null,
    button("step-on", "→", () => { stop(); label(); go(choice.step + 1); },
      { "aria-label": say("stepOn") }),
    where);
}

// Pieces as the text they are, one of them marked.
function write(place, pieces, marked) {
  place.replaceChildren(...pieces.map((piece, i) => {
    const text = piece.replaceAll("▁", " ");
    const gap = text.startsWith(" ") || piece.startsWith("<") ? " " : "";
    return make("span", {}, gap, make(i === marked ? "mark" : "span", {}, text.trim() || "␣"));
  }));
}

function showBars(list, told, step, { temperature, topK, topP }, writes) {
  const { shares, other, open } = sample(step, temperature, topK, topP);
  const most = Math.max(...shares, other);
  const bar = (name, share, taken) => make("li", { class: taken ? "taken" : share ? "" : "out",
    "data-piece": name, "data-share": share },
  make("span", { class: "piece" }, name),
  make("span", { class: "track", "aria-hidden": "true" },
    make("i", { style: { width: `${most > 0 ? (100 * share) / most : 0}%` } })),
  make("span", { class: "value" }, share ? percent(share) : "–"));
  list.replaceChildren(
    ...step.top.map(({ name }, i) => bar(visible(name), shares[i], name === step.taken)),
    ...(step.rest[temperature] === null ? [] : [bar(say("others"), other, false)]));
  told.textContent = [
    say(writes ? "taken" : "answered", visible(step.taken), percent(Math.exp(step.logp)), shown(step.entropy, 2)),
    open ? say("beyondTen") : "",
  ].join(" ");
}

// The look-ahead (causal) mask: row i may attend to the pieces up to i.
function triangle(names, step) {
  const count = names.length;
  const cell = Math.max(2, Math.min(30, 340 / count));
  const named = count <= 24;
  const size = Math.min(12, cell * 0.75);
  const left = named ? Math.min(90, Math.max(...names.map((n) => textWidth(n, size)))) + 10 : 2;
  const [width, height] = [left + count * cell + 2, count * cell + 4];
  const stairs = (rows) => Array.from({ length: rows }, (_, i) =>
    `M${left} ${2 + i * cell}h${(i + 1) * cell}v${cell}h${-(i + 1) * cell}z`).join("");
  const lines = named ? Array.from({ length: count + 1 }, (_, i) =>
    `M${left} ${2 + i * cell}h${count * cell}M${left + i * cell} 2v${count * cell}`).join("") : "";
  return draw("svg", { id: "mask-svg", width, height, viewBox: `0 0 ${width} ${height}`,
    role: "img", "aria-label": say("triangleLabel", step + 1, count), "font-family": FONTS,
    "font-size": size, fill: colour("soft"), "data-filled": step + 1 },
  draw("rect", { x: left, y: 2, width: count * cell, height: count * cell, fill: colour("zero") }),
  draw("path", { d: stairs(step), fill: colour("heat-mid") }),
  draw("rect", { x: left, y: 2 + step * cell, width: (step + 1) * cell, height: cell,
    fill: colour("accent") }),
  draw("path", { d: lines, fill: "none", stroke: colour("card"), "stroke-width": 1.5 }),
  named ? names.map((name, i) => draw("text", { x: left - 6, y: 2 + (i + 0.5) * cell + size * 0.35,
    "text-anchor": "end", "font-weight": i === step ? 650 : 400,
    fill: colour(i === step ? "ink" : "soft") }, fitted(name, size, 90))) : []);
}

function lensTable({ lens, steps }, step) {
  const rows = lens.map((layer, i) => [say("layerNumber", i + 1),
    ...layer[step].map(({ name, p }) => make("td", { class: name === steps[step].taken
      ? "taken" : "" }, make("span", {}, visible(name)), " ",
    make("span", { class: "soft" }, percent(p))))]);
  return scroller(say("lensTitle"), table(say("lensTitle"), [say("layer"), ...lens[0][step].map((_, i) => String(i + 1))], rows));
}
