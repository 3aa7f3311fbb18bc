// Colours come from the style sheet, where light and dark are told apart, and are written into
// pictures as attributes, so that a saved picture looks the same anywhere.

let known = new Map();

export function forgetColours() {
  known = new Map();
}

export function colour(name) {
  if (!known.has(name)) {
    const style = getComputedStyle(document.documentElement);
    known.set(name, style.getPropertyValue(`--${name}`).trim());
  }
  return known.get(name);
}

// Eight that colour-blind eyes can tell apart; further heads repeat them with broken lines.
export const HUES = 8;

export function headColour(head) {
  return colour(`head-${head % HUES}`);
}

export function headDash(head) {
  return head < HUES ? null : `${3 + Math.floor(head / HUES) * 2} 3`;
}

function parts(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

function between(from, to, share) {
  const [a, b] = [parts(from), parts(to)];
  const mixed = a.map((value, i) => Math.round(value + (b[i] - value) * share));
  return `#${mixed.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}

// A share between 0 and 1. The square root makes small shares visible; the legend says so.
export function heat(share) {
  const depth = Math.sqrt(Math.min(1, Math.max(0, share)));
  if (depth < 0.5) return between(colour("heat-low"), colour("heat-mid"), depth * 2);
  return between(colour("heat-mid"), colour("heat-high"), depth * 2 - 1);
}

// A number of either sign, `limit` being the largest.
export function signed(value, limit) {
  const depth = limit > 0 ? Math.min(1, Math.abs(value) / limit) : 0;
  return between(colour("zero"), colour(value < 0 ? "minus" : "plus"), depth);
}

// Black or white, whichever can be read on a colour.
export function inkOn(hex) {
  const [r, g, b] = parts(hex).map((value) => {
    const c = value / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const light = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return light > 0.179 ? "#000000" : "#ffffff";
}
