// Step by step: what attention does for one word, computed here from the vectors of the trace.

import { controls, button, kindControl, layerControl, selection } from "./controls.js";
import { make, scroller, table } from "./elements.js";
import { add, attend, layerNorm, shown } from "./numbers.js";
import { figure, largest, strip } from "./strips.js";
import { attentionOf, headOf, keysOf, queriesOf } from "./trace.js";
import { called, say } from "./words.js";

export function drawSteps(place, context) {
  const { trace, choice, change } = context;
  const attention = attentionOf(trace, choice.kind, choice.layer);
  const head = headOf(attention, choice.head);
  const queries = queriesOf(trace, choice.kind);
  const query = Math.min(choice.query, queries.length - 1);
  const pick = [
    kindControl("steps", trace, choice, change),
    layerControl("steps", trace, choice, change),
    selection("steps-head", say("head"), attention.heads.map((each) =>
      [each.head, say("headNumber", each.head + 1)]), head.head, (to) =>
      change({ head: Number(to) })),
    selection("steps-query", say("word"), queries.map((name, i) => [i, `${i} · ${name}`]), query,
      (to) => change({ query: Number(to), pinned: null })),
  ];
  if (!head.q) {
    place.replaceChildren(controls(...pick), make("p", { class: "note" }, say("noVectors")));
    return () => ({ kind: choice.kind, layer: attention.layer, head: head.head, query,
      weights: head.weights[query] });
  }
  const pass = passOf(trace, attention, head, query);
  const keys = keysOf(trace, choice.kind);
  const count = choice.wide ? Infinity : place.clientWidth < 620 ? 3 : 8;
  const more = () => change({ wide: true }, "steps-wide");
  const view = { trace, attention, head, query, pass, keys, count, more, name: queries[query] };
  pick.push(button("steps-wide", say(choice.wide ? "fewerCoordinates" : "allCoordinates"),
    () => change({ wide: !choice.wide }), { "aria-pressed": String(choice.wide) }));
  place.replaceChildren(controls(...pick),
    make("div", { class: "picture stages" },
      compareStage(view), mixStage(view), joinStage(view), normStage(view),
      sizesStage(view)));
  return () => ({ kind: choice.kind, layer: attention.layer, head: head.head, query,
    word: queries[query], keys, ...pass });
}

// One query, from its dot products to the input of the next sublayer. Of heads that are not in
// the trace, and of W^O, only the results are known.
export function passOf(trace, attention, head, query) {
  const { model } = trace;
  const run = (each) => attend({ query: each.q[query], keys: each.k, values: each.v,
    scale: model.scale, kept: attention.keep?.[query],
    given: model.attention === "additive" ? each.scores[query] : null });
  const own = run(head);
  const concatenated = [...attention.concatenated[query]];
  for (const each of attention.heads) {
    const { output } = each.head === head.head ? own : run(each);
    concatenated.splice(each.head * output.length, output.length, ...output);
  }
  const projected = attention.projected[query];
  const residual = add(attention.residual_in[query], projected);
  return { ...own, concatenated, projected, residual, ...layerNorm(residual, attention.norm) };
}

function stage(number, title, ...children) {
  return make("section", { class: "card stage" },
    make("h3", {}, make("span", { class: "number" }, String(number)), title), ...children);
}

function named(name, content) {
  return make("div", { class: "named" }, make("span", { class: "name" }, name), content);
}

function compareStage({ trace, attention, head, query, pass, keys, count, more, name }) {
  const { model } = trace;
  const limit = largest([head.q[query], ...head.k]);
  const kept = attention.keep?.[query];
  const scaled = model.attention === "additive" ? say("additiveScore")
    : model.attention === "dot" || model.scale === 1 ? say("noScaling")
      : say("scaling", model.d_head, shown(1 / model.scale, 3), shown(model.scale, 4));
  const rows = keys.map((key, j) => {
    const masked = kept && !kept[j];
    const number = (step, value, decimals) => make("td", { class: "number", "data-step": step,
      "data-key": j, "data-value": value },
    masked && step !== "weight" ? make("s", {}, shown(value, decimals)) : shown(value, decimals));
    return [key, strip(head.k[j], { limit, count, step: "key" }),
      ...(pass.dots ? [number("dot", pass.dots[j], 4)] : []),
      number("scaled", pass.scaled[j], 4),
      make("td", { class: "number", "data-step": "masked", "data-key": j,
        "data-value": pass.masked[j] }, masked ? `−∞ ${say("masked")}` : shown(pass.masked[j], 4)),
      number("exp", pass.exps[j], 4),
      make("td", { class: "number share", "data-step": "weight", "data-key": j,
        "data-value": pass.shares[j] },
      make("i", { class: "bar", "aria-hidden": "true",
        style: { width: `${(pass.shares[j] * 72).toFixed(1)}px` } }), shown(pass.shares[j], 4))];
  });
  const heads = [say("key"), "k", ...(pass.dots ? [["q · k"]] : []), [scaleColumn(model)],
    [say("mask")], [say("expColumn")], say("share")];
  return stage(1, say("compareTitle"),
    make("p", {}, say("compareWords", name, model.d_head)),
    model.norm === "pre" ? make("p", { class: "note", id: "norm-first" }, say("normFirst")) : null,
    named("q", strip(head.q[query], { step: "query", limit, count, more, id: "more-q" })),
    make("p", {}, scaled, " ", kept ? say("maskWords") : say("noMask"), " ", say("softmaxWords")),
    scroller(say("compareTitle"), table(say("compareTitle"), heads, rows)),
    make("p", { class: "formula" }, say("softmaxSum", shown(pass.largest, 4),
      shown(pass.total, 4))));
}

function scaleColumn({ attention, scale, d_head: size }) {
  if (attention === "additive") return say("score");
  return Math.abs(scale - size ** -0.5) < 1e-6 ? `÷ √${size}` : `× ${shown(scale, 4)}`;
}

function mixStage({ trace, head, pass, keys, count, more, name }) {
  const limit = largest(head.v);
  const rows = keys.map((key, j) => [key, make("td", { class: "number" }, shown(pass.shares[j], 4)),
    "×", strip(head.v[j], { limit, count, step: "value" })]);
  return stage(2, say("mixTitle"),
    make("p", {}, say("mixWords", name, trace.model.d_value)),
    scroller(say("mixTitle"), table(say("mixTitle"), [say("key"), [say("share")], "", "v"], rows)),
    named(say("sum"), strip(pass.output, { step: "output", limit, count, more, id: "more-sum" })));
}

function joinStage({ trace, head, pass, count, more }) {
  const { n_heads: heads, d_value: wide, d_model: size } = trace.model;
  const part = [head.head * wide, (head.head + 1) * wide];
  return stage(3, say("joinTitle"),
    make("p", {}, say("joinWords", heads, heads * wide, head.head + 1)),
    named(say("joined"), strip(pass.concatenated, { step: "concatenated", count, more, part,
      limit: largest([pass.concatenated]), id: "more-joined" })),
    make("p", {}, say("projectWords", heads * wide, size)),
    named(make("span", {}, "× W", make("sup", {}, "O")), strip(pass.projected,
      { step: "projected", count, more, limit: largest([pass.projected]), id: "more-projected" })));
}

function normStage({ trace, attention, query, pass, count, more, name }) {
  const before = attention.residual_in[query];
  const limit = largest([before, pass.residual]);
  const pre = trace.model.norm === "pre";
  return stage(4, say("normTitle"),
    make("p", {}, say("residualWords", name)),
    named(say("before"), strip(before, { step: "before", limit, count, more, id: "more-before" })),
    named(say("added"), strip(pass.residual, { step: "residual", limit, count, more,
      id: "more-residual" })),
    make("p", {}, say(pre ? "preWords" : "postWords")),
    make("p", { class: "formula" }, say("mean"), " ", figure("mean", pass.mean), " · ",
      say("variance"), " ", figure("variance", pass.variance), " · √ ",
      figure("deviation", pass.deviation)),
    named(say("normed"), strip(pass.normed, { step: "normed", limit: largest([pass.normed]), count,
      more, id: "more-normed" })));
}

// The norm of what each sublayer added to the word's vector, and of the sum.
function sizesStage({ trace, attention, query, name }) {
  const { stack } = attention;
  const found = trace.sublayers.filter((each) => each.stack === stack);
  if (!found.length) return null;
  const most = Math.max(...found.map((each) => each.residual[query]));
  const bar = (value) => make("td", { class: "number share" }, make("i", { class: "bar",
    "aria-hidden": "true", style: { width: `${((value / most) * 72).toFixed(1)}px` } }),
  shown(value, 2));
  const rows = found.map((each) => [say("layerNumber", each.layer + 1), called("sublayer", each.name),
    bar(each.change[query]), bar(each.residual[query]),
    make("td", { class: "number" }, each.active
      ? `${Math.round(100 * each.active[query])}%` : "–")]);
  return stage(5, say("sizesTitle"),
    make("p", {}, say("sizesWords", name, called("stack", stack))),
    scroller(say("sizesTitle"), table(say("sizesTitle"),
      [say("layer"), say("sublayer"), say("change"), say("afterwards"),
        [say("active")]], rows)));
}
