// Reading a trace: what is in it, under the names of docs/trace.md, and how pieces are shown.

import { say } from "./words.js";

const SCHEMA = "heedful.trace/1";

export function readTrace(trace) {
  if (trace?.schema !== SCHEMA) throw new Error(say("wrongSchema", trace?.schema, SCHEMA));
  return trace;
}

// A piece as people read it: sentencepiece marks a word's beginning with a low line.
export function visible(piece) {
  return piece.replaceAll("▁", " ").trim() || "␣";
}

export function joined(pieces) {
  return pieces.join("").replaceAll("▁", " ").trim();
}

export function kindsOf(trace) {
  const there = new Set(trace.attentions.map((each) => each.kind));
  return ["encoder", "decoder", "cross"].filter((kind) => there.has(kind));
}

export function attentionsOf(trace, kind) {
  return trace.attentions.filter((each) => each.kind === kind).sort((a, b) => a.layer - b.layer);
}

export function attentionOf(trace, kind, layer) {
  const all = attentionsOf(trace, kind);
  return all.find((each) => each.layer === layer) ?? all.at(-1);
}

export function headOf(attention, head) {
  return attention.heads.find((each) => each.head === head) ?? attention.heads[0];
}

export function queriesOf(trace, kind) {
  return (kind === "encoder" ? trace.source : trace.target).pieces.map(visible);
}

export function keysOf(trace, kind) {
  return (kind === "decoder" ? trace.target : trace.source).pieces.map(visible);
}

export function sourceWords(trace) {
  const { pieces, words } = trace.source;
  return words.map(([first, end]) => joined(pieces.slice(first, end)) || "␣");
}

export function targetWords(trace) {
  const { next, words } = trace.target;
  return words.map(([first, end]) => joined(next.slice(first, end)) || "␣");
}

// Whether the most accurate head is right more often than pointing a fixed distance back.
export function finds(best) {
  return Boolean(best) && best.accuracy > best.baseline;
}

// Where the page opens: on the head that finds what "it" stands for, with that word pinned; where
// none does, on the last encoder layer, with all its heads where the sentence is short.
export function firstChoice(trace) {
  const best = trace.best_head;
  const kind = kindsOf(trace)[0];
  const last = attentionOf(trace, kind, null);
  const there = last.heads.map((each) => each.head);
  const choice = {
    kind, layer: last.layer, heads: trace.source.pieces.length <= 24 ? there : there.slice(0, 1),
    head: last.heads[0].head, query: 0, pinned: null, enlarged: null, wide: false,
    step: 0, temperature: null, topK: 0, topP: 1, ties: "attention", tied: null,
    positions: null,
  };
  const found = attentionsOf(trace, "encoder").find((each) => each.layer === best?.layer);
  if (finds(best) && found?.heads.some((each) => each.head === best.head)) {
    Object.assign(choice, { kind: "encoder", layer: best.layer, heads: [best.head],
      head: best.head, query: best.word, pinned: { side: "query", index: best.word } });
  }
  return choice;
}
