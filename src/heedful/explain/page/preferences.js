// What a reader chose and wants to find again: the language of the page, and light or dark.

import { forgetColours } from "./colours.js";
import { find } from "./elements.js";
import { language, say, setLanguage } from "./words.js";

const dark = window.matchMedia("(prefers-color-scheme: dark)");

// A file opened from a disk may have no storage; then a choice lasts as long as the page.
function remember(name, value) {
  try {
    localStorage.setItem(`heedful.${name}`, value);
  } catch { /* not kept */ }
}

function remembered(name) {
  try {
    return localStorage.getItem(`heedful.${name}`);
  } catch {
    return null;
  }
}

function theme() {
  return document.documentElement.dataset.theme;
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  forgetColours();
}

// Every element that has `data-say` is given its words; labels and placeholders likewise.
export function sayEverything() {
  document.documentElement.lang = language();
  for (const each of document.querySelectorAll("[data-say]")) {
    each.textContent = say(each.dataset.say);
  }
  for (const each of document.querySelectorAll("[data-say-label]")) {
    each.setAttribute("aria-label", say(each.dataset.sayLabel));
  }
  for (const each of document.querySelectorAll("[data-say-placeholder]")) {
    each.placeholder = say(each.dataset.sayPlaceholder);
  }
  const button = find("language");
  button.textContent = say("otherLanguage");
  button.lang = language() === "ko" ? "en" : "ko";
  find("theme").setAttribute("aria-pressed", String(theme() === "dark"));
}

export function startPreferences(changed) {
  const wanted = remembered("language") ?? navigator.language;
  setLanguage(wanted.startsWith("ko") ? "ko" : "en");
  setTheme(remembered("theme") ?? (dark.matches ? "dark" : "light"));
  const everything = () => {
    sayEverything();
    changed();
  };
  find("language").addEventListener("click", () => {
    setLanguage(language() === "ko" ? "en" : "ko");
    remember("language", language());
    everything();
  });
  find("theme").addEventListener("click", () => {
    setTheme(theme() === "dark" ? "light" : "dark");
    remember("theme", theme());
    everything();
  });
  dark.addEventListener("change", () => {
    if (remembered("theme")) return;
    setTheme(dark.matches ? "dark" : "light");
    everything();
  });
  sayEverything();
}
