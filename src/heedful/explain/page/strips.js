// A vector as a strip of coloured cells with their numbers; of a long one the first coordinates.
// Every cell has its exact number as data, for tests.

import { inkOn, signed } from "./colours.js";
import { make } from "./elements.js";
import { shown } from "./numbers.js";
import { say } from "./words.js";

export function largest(vectors) {
  let found = 0;
  for (const vector of vectors) {
    for (const value of vector) found = Math.max(found, Math.abs(value));
  }
  return found;
}

// `step` names what the numbers are, `part` = [first, end] marks the coordinates of one head,
// `more` is called by the button that stands for the coordinates not shown.
export function strip(values, { step, limit, count, more = null, part = null, id = null }) {
  const from = part && part[0] >= count ? part[0] : 0;
  const end = Math.min(values.length, from + count);
  const cells = values.slice(from, end).map((value, i) => {
    const back = signed(value, limit);
    const inside = part && from + i >= part[0] && from + i < part[1];
    return make("span", { class: part ? (inside ? "cell part" : "cell other") : "cell",
      "data-step": step, "data-index": from + i, "data-value": value,
      style: { background: back, color: inkOn(back) } }, shown(value));
  });
  const left = values.length - (end - from);
  if (left > 0) {
    cells.push(more
      ? make("button", { type: "button", class: "more", id, onclick: more,
        "aria-label": say("moreCoordinates", left) }, `… +${left}`)
      : make("span", { class: "dots" }, "…"));
  }
  if (from > 0) cells.unshift(make("span", { class: "dots" }, "…"));
  return make("span", { class: "strip" }, cells);
}

// One number that a step gives.
export function figure(step, value, decimals = 4) {
  return make("span", { class: "figure", "data-step": step, "data-value": value },
    shown(value, decimals));
}
