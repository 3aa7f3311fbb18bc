// The translator: the page as the server shows it. Every address is relative, so that it works
// under any prefix; in a saved file nothing of this runs.

import { button } from "./controls.js";
import { find, make } from "./elements.js";
import { languageName, say } from "./words.js";

const EXAMPLES = {
  en: ["I am a student.", "The animal didn't cross the street because it was too tired."],
  ko: ["동물은 너무 피곤해서 길을 건너지 않았다."],
};

let languages = [];
let limit = -1;
let running = null;
let arrived = () => {};

export async function startTranslator(onTrace) {
  arrived = onTrace;
  find("translator").hidden = false;
  find("invite").hidden = false;
  find("translate").addEventListener("click", translate);
  find("source-text").addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) translate();
  });
  find("source-text").addEventListener("input", count);
  find("source-language").addEventListener("change", () => listTargets());
  find("swap").addEventListener("click", swap);
  find("copy").addEventListener("click", copy);
  try {
    const [listed, settings] = await Promise.all([get("languages"), get("frontend/settings")]);
    languages = listed;
    limit = settings.charLimit ?? -1;
    find("key-field").hidden = !settings.apiKeys;
    const first = languages.find((each) => each.targets.some((code) => code !== each.code));
    sayTranslator();
    find("source-language").value = first?.code ?? "auto";
    listTargets();
  } catch (error) {
    complain(error);
  }
}

// Everything here that is not in index.html, in the language of the page.
export function sayTranslator() {
  if (find("translator").hidden) return;
  const select = find("source-language");
  const chosen = select.value;
  select.replaceChildren(make("option", { value: "auto" }, say("detect")),
    ...languages.map(({ code, name }) => make("option", { value: code }, languageName(code, name))));
  select.value = chosen || "auto";
  listTargets();
  find("examples").replaceChildren(...languages.filter(({ code }) => EXAMPLES[code])
    .flatMap(({ code }) => EXAMPLES[code].map((text, i) => button(`example-${code}-${i}`, text,
      () => tryExample(code, text), { class: "chip", lang: code }))));
  count();
}

// Only what can be reached from the chosen source is offered.
function listTargets() {
  const source = find("source-language").value;
  const select = find("target-language");
  const kept = select.value;
  const from = source === "auto" ? languages : languages.filter(({ code }) => code === source);
  const reached = new Set(from.flatMap(({ targets }) => targets));
  if (source !== "auto" && reached.size > 1) reached.delete(source);
  const offered = [...reached];
  select.replaceChildren(...offered.map((code) => make("option", { value: code },
    languageName(code, languages.find((each) => each.code === code)?.name ?? code))));
  select.value = offered.includes(kept) ? kept : offered[0] ?? "";
  const back = languages.find(({ code }) => code === select.value);
  find("swap").disabled = source === "auto" || !back?.targets.includes(source);
}

function count() {
  const { length } = find("source-text").value;
  find("count").textContent = limit > 0 ? `${length} / ${limit}` : length ? String(length) : "";
}

function tryExample(code, text) {
  find("source-language").value = code;
  listTargets();
  find("source-text").value = text;
  count();
  translate();
}

function swap() {
  const [source, target] = [find("source-language"), find("target-language")];
  const [from, to] = [source.value, target.value];
  const text = find("result").textContent;
  source.value = to;
  listTargets();
  target.value = from;
  listTargets();
  if (text) find("source-text").value = text;
  count();
}

async function copy() {
  try {
    await navigator.clipboard.writeText(find("result").textContent);
    find("status").textContent = say("copied");
  } catch {
    // Without a secure address there is no clipboard: the text is selected for the reader to copy.
    getSelection().selectAllChildren(find("result"));
    find("status").textContent = say("selected");
  }
}

// First the translation, then its trace; a newer request aborts an older one.
async function translate() {
  const q = find("source-text").value;
  if (!q.trim()) {
    find("source-text").focus();
    return;
  }
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  const [source, target] = [find("source-language").value, find("target-language").value];
  busy("translating");
  find("error").textContent = "";
  try {
    const answer = await post("translate", { q, source, target, format: "text", alternatives: 3 },
      signal);
    showAnswer(answer, target);
    const found = answer.detectedLanguage?.language ?? source;
    if (found === target || [answer.via ?? []].flat().length) {
      find("inside").hidden = true;
      busy(null);
      find("status").textContent = say("noSingleModel");
      return;
    }
    busy("lookingInside");
    arrived(await post("explain", { q, source: found, target }, signal));
    busy(null);
  } catch (error) {
    if (error.name === "AbortError") return;
    busy(null);
    complain(error);
  }
}

function busy(what) {
  find("translator").setAttribute("aria-busy", String(Boolean(what)));
  find("status").textContent = what ? say(what) : "";
}

function complain(error) {
  find("error").textContent = error instanceof TypeError ? say("noServer") : error.message;
}

function showAnswer({ translatedText, alternatives = [], detectedLanguage, via }, target) {
  find("result").textContent = translatedText;
  find("result").lang = target;
  find("copy").hidden = false;
  const others = [...new Set(alternatives)].filter((text) => text !== translatedText);
  find("alternatives").hidden = !others.length;
  find("alternatives-list").replaceChildren(...others.map((text) =>
    make("li", { lang: target }, text)));
  const told = [];
  if (detectedLanguage) told.push(say("detected", languageName(detectedLanguage.language),
    Math.round(detectedLanguage.confidence)));
  const stops = [via ?? []].flat();
  if (stops.length) told.push(say("via", stops.map((code) => languageName(code)).join(", ")));
  find("route").textContent = told.join(" · ");
}

async function get(path) {
  return answered(await fetch(path, { headers: { Accept: "application/json" } }));
}

async function post(path, body, signal) {
  const key = find("key-field").hidden ? {} : { api_key: find("api-key").value };
  return answered(await fetch(path, { method: "POST", signal,
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify({ ...body, ...key }) }));
}

async function answered(response) {
  const answer = await response.json().catch(() => null);
  if (response.ok && answer && !answer.error) return answer;
  throw new Error(answer?.error ?? say("serverSaid", response.status));
}
