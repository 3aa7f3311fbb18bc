// The page: from a trace, in the document or from the server, to the views. A view is a function
// from the trace and the reader's choices to elements; whatever changes, it is drawn anew. A view
// of something that a trace does not have is not offered.

import { drawAlignment } from "./alignment.js";
import { button } from "./controls.js";
import { drawDecoding } from "./decoding.js";
import { find, make } from "./elements.js";
import { drawHeads } from "./heads.js";
import { drawMap } from "./map.js";
import { drawPositions } from "./positions.js";
import { sayEverything, startPreferences } from "./preferences.js";
import { saveJSON, savePNG, saveSVG } from "./save.js";
import { drawSteps } from "./steps.js";
import { startTabs } from "./tabs.js";
import { firstChoice, outputOf, readTrace } from "./trace.js";
import { sayTranslator, startTranslator } from "./translator.js";
import { called, hasWords, language, languageName, say } from "./words.js";

const VIEWS = {
  heads: drawHeads, map: drawMap, steps: drawSteps, positions: drawPositions,
  decoding: drawDecoding, alignment: drawAlignment,
};

const FITS = {
  positions: ({ positions }) => positions.length,
  decoding: outputOf,
  alignment: (found) => found.alignment,
};

let trace = null;
let choice = null;
let current = "heads";
let data = () => null;

function panelOf(view) {
  const save = (kind, act) => button(`${view}-save-${kind}`, kind.toUpperCase(), act,
    { class: "quiet", "data-kind": kind });
  const picture = () => find(`${view}-place`).querySelector(".picture");
  const name = `heedful-${view}`;
  return make("section", { id: `view-${view}`, role: "tabpanel", "aria-labelledby": `tab-${view}`,
    hidden: true },
  make("div", { class: "head" },
    make("div", {}, make("h2", { "data-say": `${view}Title` }),
      make("p", { class: "lead", "data-say": `${view}Lead` })),
    make("div", { class: "saves", role: "group", "data-say-label": "save" },
      make("span", { class: "soft", "data-say": "save" }),
      save("svg", () => picture() && saveSVG(picture(), name)),
      save("png", () => picture() && savePNG(picture(), name)),
      save("json", () => saveJSON({ view, model: trace.model.name, ...data() }, name)))),
  make("div", { id: `${view}-place` }));
}

function tabOf(view) {
  return make("button", { type: "button", role: "tab", id: `tab-${view}`, "data-view": view,
    "aria-controls": `view-${view}`, "data-say": `${view}Tab` });
}

// Draw the current view; the focus and what was scrolled stay where they were.
function show(focus = null) {
  if (!trace) return;
  const wanted = focus ?? document.activeElement?.id;
  const place = find(`${current}-place`);
  const boxes = () => [...place.querySelectorAll(".scroll")];
  const moved = boxes().map((box) => [box.scrollLeft, box.scrollTop]);
  data = VIEWS[current](place, { trace, choice, change, open });
  boxes().forEach((box, i) => {
    if (moved[i]) [box.scrollLeft, box.scrollTop] = moved[i];
  });
  if (wanted && document.activeElement?.id !== wanted) {
    find(wanted)?.focus({ preventScroll: true });
  }
}

function change(changes, focus = null) {
  Object.assign(choice, changes);
  show(focus);
}

function open(view) {
  openTab(view, true);
}

function summary() {
  if (!trace) return;
  const { model, stacks, streams, chosen } = trace;
  const languages = streams.map(({ lang }) => lang).filter(Boolean);
  const fact = (name, value) => make("span", { class: "fact" },
    make("b", {}, Number.isFinite(value) ? value.toLocaleString(language()) : value), ` ${name}`);
  find("facts").replaceChildren(
    make("span", { class: "fact" }, make("b", {}, model.name)),
    languages.length ? make("span", { class: "fact" }, languages
      .map((code) => languageName(code)).join(" → ")) : "",
    fact(say("layers"), stacks.map(({ layers }) => layers).join(" + ")),
    fact(say("headsEach"), model.n_heads), fact("d_model", model.d_model),
    fact(say("parameters"), model.parameters));
  find("sentence").classList.toggle("long", streams[0].text.length > 160);
  find("sentence").replaceChildren(...streams.flatMap(({ text, lang }, i) => [
    ...(i ? [make("p", { class: "arrow", "aria-hidden": "true" }, "→")] : []),
    make("p", { lang }, text)]));
  find("left-out").hidden = !chosen.left_out.length;
  find("left-out-list").replaceChildren(...chosen.left_out.map((text, i) => {
    const [kind, ...values] = chosen.left_out_kinds?.[i] ?? [];
    if (kind === "items") values[0] = called("stream", values[0]);
    const key = `leftOut-${kind}`;
    return hasWords(key) ? make("li", {}, say(key, ...values)) : make("li", { lang: "en" }, text);
  }));
}

function arrive(found) {
  trace = readTrace(found);
  choice = firstChoice(trace);
  find("invite").hidden = true;
  find("inside").hidden = false;
  summary();
  offer();
}

// Offer the views that fit the trace; one whose words depend on what came out is given them.
function offer() {
  const other = outputOf(trace)?.kind !== "next-piece" ? "-choice" : "";
  find("tab-decoding").dataset.say = `decodingTab${other}`;
  for (const [part, tag] of [["Title", "h2"], ["Lead", ".lead"]]) {
    find("view-decoding").querySelector(tag).dataset.say = `decoding${part}${other}`;
  }
  for (const view of Object.keys(VIEWS)) {
    find(`tab-${view}`).hidden = !(FITS[view] ?? (() => true))(trace);
  }
  sayEverything();
  openTab(find(`tab-${current}`).hidden ? "heads" : current, false);
}

find("tabs").append(...Object.keys(VIEWS).map(tabOf));
find("panels").append(...Object.keys(VIEWS).map(panelOf));
const openTab = startTabs(find("tabs"), (view) => {
  current = view;
  show();
});
startPreferences(() => {
  sayTranslator();
  summary();
  show();
});
openTab(current, false);
find("save-trace").addEventListener("click", () => saveJSON(trace, "heedful-trace"));

let width = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === width) return;
  width = window.innerWidth;
  show();
});

const inDocument = find("trace");
if (inDocument) {
  document.documentElement.dataset.mode = "file";
  try {
    arrive(JSON.parse(inDocument.textContent));
  } catch (error) {
    find("error").textContent = error.message;
  }
} else startTranslator(arrive);
sayEverything();
