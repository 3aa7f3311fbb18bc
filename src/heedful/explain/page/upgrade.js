// A trace of version 1 as one of version 2: it knew the encoder-decoder alone, and its two sides.

const WAYS = {
  encoder: { stack: "encoder", from: "source", to: "source", causal: false },
  decoder: { stack: "decoder", from: "target", to: "target", causal: true },
  cross: { stack: "decoder", from: "target", to: "source", causal: false },
};

export function upgrade(trace) {
  const { source, target, chosen } = trace;
  const { source: from, target: to, encoder_layers: read, decoder_layers: written, positions,
    ...model } = trace.model;
  const { word, ...best } = trace.best_head ?? {};
  return {
    schema: "heedful.trace/2",
    model: { ...model, task: "translation" },
    stacks: [{ name: "encoder", stream: "source", layers: read },
      { name: "decoder", stream: "target", layers: written }],
    streams: [
      { name: "source", reads: "text", text: source.text, items: items(source.pieces), lang: from,
        words: source.words },
      { name: "target", reads: "text", text: target.text, items: items(target.pieces), lang: to }],
    chosen: { layers: { encoder: chosen.encoder_layers, decoder: chosen.decoder_layers },
      heads: chosen.heads, values: chosen.values, ...leftOut(chosen) },
    positions: [{ streams: ["source", "target"], kind: positions, rows: trace.positions.rows }],
    embeddings: trace.embeddings,
    attentions: trace.attentions.map((each) => ({ ...each, ...WAYS[each.kind] })),
    sublayers: trace.sublayers.map(({ part, ...each }) => ({ ...each, stack: part })),
    outputs: [{ kind: "next-piece", stream: "target", stack: "decoder", words: target.words,
      given: target.given, beam: trace.beam, steps: trace.steps.map(stepOf),
      lens: trace.lens.map((layer) => layer.map((row) => row.map(named))),
      saliency: trace.saliency }],
    alignment: { ...trace.alignment, kind: "cross",
      words: trace.alignment.words.map(({ target: index, source: seen, confidence }) =>
        ({ word: index, to: seen, confidence })) },
    best_head: trace.best_head && { ...best, kind: "encoder", item: word },
  };
}

function items(pieces) {
  return pieces.map((text) => ({ kind: "piece", text }));
}

function named({ piece, ...each }) {
  return { ...each, name: piece };
}

function stepOf({ piece, top, ...step }, at) {
  return { ...step, at, taken: piece, top: top.map(named) };
}

// What was said of the pieces of both sides at once is said of each.
function leftOut({ left_out: texts, left_out_kinds: kinds = [] }) {
  const all = texts.flatMap((text, i) => {
    const [kind, s, t, first, second] = kinds[i] ?? [];
    if (kind !== "pieces") return [[text, kinds[i] ?? []]];
    const sides = [["source", s, first], ["target", t, second]];
    return sides.filter(([, size, shown]) => size > shown).map((side) => [text, ["items", ...side]]);
  });
  return { left_out: all.map(([text]) => text), left_out_kinds: all.map(([, kind]) => kind) };
}
