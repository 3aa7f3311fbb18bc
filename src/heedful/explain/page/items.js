// How an item of a stream is written where there is room for a word: one way a kind.

const WAYS = {
  piece: ({ text }) => visible(text),
};

// A piece as people read it: sentencepiece marks a word's beginning with a low line.
export function visible(piece) {
  return piece.replaceAll("▁", " ").trim() || "␣";
}

export function joined(pieces) {
  return pieces.join("").replaceAll("▁", " ").trim();
}

// An item of a kind that this page does not know is called by its place.
export function nameOf(item, index) {
  return Object.hasOwn(WAYS, item.kind) ? WAYS[item.kind](item) : String(index);
}

// The same in running text, where a piece brings its own spaces.
export function inText(item, index) {
  return item.kind === "piece" ? item.text : `▁${nameOf(item, index)}`;
}
