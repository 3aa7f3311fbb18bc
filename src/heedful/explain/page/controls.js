// The few kinds of controls the views share. Each has an id, so that a view which draws itself
// anew can give the focus back to where it was.

import { make } from "./elements.js";
import { attentionOf, attentionsOf, kindsOf } from "./trace.js";
import { called, say } from "./words.js";

export function controls(...children) {
  return make("div", { class: "controls", "data-unsaved": true }, ...children);
}

export function selection(id, label, options, value, change) {
  const select = make("select", { id, onchange: () => change(select.value) },
    options.map(([each, text]) => make("option", { value: each }, text)));
  select.value = String(value);
  return make("label", { class: "field" }, make("span", {}, label), select);
}

// A few choices side by side: radio buttons, so that arrow keys work as everybody expects.
export function segments(id, label, options, value, change) {
  return make("fieldset", { class: "segments" },
    make("legend", {}, label),
    make("div", {}, options.map(([each, text]) => make("label", {},
      make("input", { type: "radio", name: id, id: `${id}-${each}`, value: each,
        checked: each === value, onchange: () => change(each) }),
      make("span", {}, text)))));
}

export function slider(id, label, { min, max, step = 1, value }, shown, change) {
  const output = make("output", { for: id }, shown(value));
  const input = make("input", { type: "range", id, min, max, step, value,
    "aria-valuetext": shown(value),
    oninput: () => {
      const text = shown(Number(input.value));
      output.textContent = text;
      input.setAttribute("aria-valuetext", text);
      change(Number(input.value));
    } });
  return make("label", { class: "field slider" },
    make("span", {}, label, " ", output), input);
}

export function button(id, text, click, attributes = {}) {
  return make("button", { type: "button", id, onclick: click, ...attributes }, text);
}

// Which attention, and which layer of it: the same two choices in three views.
export function kindControl(name, trace, choice, change) {
  const options = kindsOf(trace).map((kind) => [kind, called("attention", kind)]);
  return segments(`${name}-kind`, say("attention"), options, choice.kind, (kind) => {
    const layer = attentionOf(trace, kind, choice.layer).layer;
    change({ kind, layer, pinned: null, enlarged: null, query: 0 });
  });
}

export function layerControl(name, trace, choice, change) {
  const options = attentionsOf(trace, choice.kind)
    .map(({ layer }) => [layer, say("layerNumber", layer + 1)]);
  return selection(`${name}-layer`, say("layer"), options, choice.layer,
    (layer) => change({ layer: Number(layer) }));
}
