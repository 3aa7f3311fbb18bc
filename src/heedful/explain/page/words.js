// Saying things in the language of the page; the phrases themselves are next door.

import { PHRASES } from "./phrases.js";

let current = "en";

export function language() {
  return current;
}

export function setLanguage(name) {
  current = name;
}

// A language by its name in the language of the page; what the browser does not know keeps its own.
export function languageName(code, name = code) {
  try {
    const said = new Intl.DisplayNames([current], { type: "language" }).of(code);
    return said && said !== code ? said : name;
  } catch {
    return name;
  }
}

export function hasWords(key) {
  return Object.hasOwn(PHRASES, key);
}

export function say(key, ...values) {
  const pair = hasWords(key) && PHRASES[key];
  if (!pair) throw new Error(`no words for ${key}`);
  return pair[current === "ko" ? 1 : 0].replace(/\{(\d)\}/g, (_, at) => String(values[at]));
}

// What people call something that has a name in the trace; a name nobody knows stays as it is.
export function called(what, name) {
  const key = `${what}-${name}`;
  return hasWords(key) ? say(key) : name;
}
