// Reading a trace: what is in it, under the names of docs/trace.md.

import { inText, joined, nameOf } from "./items.js";
import { upgrade } from "./upgrade.js";
import { say } from "./words.js";

const SCHEMA = "heedful.trace/2";

export function readTrace(found) {
  const trace = found?.schema === "heedful.trace/1" ? upgrade(found) : found;
  if (trace?.schema !== SCHEMA) throw new Error(say("wrongSchema", trace?.schema, SCHEMA));
  return trace;
}

export function streamOf(trace, name) {
  return trace.streams.find((each) => each.name === name);
}

// The items of a stream, as they are written where there is room for a word.
export function namesOf(trace, stream) {
  return streamOf(trace, stream).items.map(nameOf);
}

export function kindsOf(trace) {
  return [...new Set(trace.attentions.map((each) => each.kind))];
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
  return namesOf(trace, attentionOf(trace, kind, null).from);
}

export function keysOf(trace, kind) {
  return namesOf(trace, attentionOf(trace, kind, null).to);
}

// What came out as choices, a step each; a forecast has none.
export function outputOf(trace) {
  return trace.outputs.find((each) => each.steps?.length);
}

export function readWords(trace, stream) {
  const { items, words } = streamOf(trace, stream);
  return inWords(items.map(inText), words);
}

export function writtenWords(output) {
  return inWords(output.steps.map((each) => each.taken), output.words);
}

function inWords(pieces, words) {
  return words.map(([first, end]) => joined(pieces.slice(first, end)) || "␣");
}

// Whether the most accurate head is right more often than pointing a fixed distance back.
export function finds(best) {
  return Boolean(best) && best.accuracy > best.baseline;
}

// Where the page opens: on the head that finds what "it" stands for, with that word pinned; where
// none does, on the last layer of the first stack, with all its heads where few items are read.
export function firstChoice(trace) {
  const best = trace.best_head;
  const kind = kindsOf(trace)[0];
  const last = attentionOf(trace, kind, null);
  const there = last.heads.map((each) => each.head);
  const few = streamOf(trace, last.from).items.length <= 24;
  const choice = {
    kind, layer: last.layer, heads: few ? there : there.slice(0, 1),
    head: last.heads[0].head, query: 0, pinned: null, enlarged: null, wide: false,
    step: 0, temperature: null, topK: 0, topP: 1, ties: "attention", tied: null,
    positions: null, encoding: 0,
  };
  const found = attentionsOf(trace, best?.kind).find((each) => each.layer === best?.layer);
  if (finds(best) && found?.heads.some((each) => each.head === best.head)) {
    Object.assign(choice, { kind: best.kind, layer: best.layer, heads: [best.head],
      head: best.head, query: best.item, pinned: { side: "query", index: best.item } });
  }
  return choice;
}
