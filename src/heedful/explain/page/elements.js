// Making elements. Text only ever becomes text and styles go through the CSSOM, so nothing that
// anybody typed can become markup, and the strictest Content-Security-Policy holds.

const SVG = "http://www.w3.org/2000/svg";

export const FONTS =
  "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans KR', " +
  "'Apple SD Gothic Neo', 'Malgun Gothic', NanumGothic, sans-serif";

export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

// `onclick: f` listens, `style: {width: "3px"}` sets properties, null and false leave out.
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") {
      for (const [property, wanted] of Object.entries(value)) {
        element.style.setProperty(property, wanted);
      }
    } else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(2).filter((child) => child !== null && child !== undefined));
  return element;
}

export function find(id) {
  return document.getElementById(id);
}

const ruler = document.createElement("canvas").getContext("2d");

export function textWidth(text, size, weight = 400) {
  ruler.font = `${weight} ${size}px ${FONTS}`;
  return ruler.measureText(text).width;
}

// Cut a text to a width; the caller must show the whole text somewhere else.
export function fitted(text, size, room) {
  if (textWidth(text, size) <= room) return text;
  const letters = [...text];
  let [fits, tooLong] = [1, letters.length];
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (textWidth(`${letters.slice(0, middle).join("")}…`, size) <= room) fits = middle;
    else tooLong = middle;
  }
  return `${letters.slice(0, fits).join("")}…`;
}

// A box that scrolls by itself, so that the page never does sideways; the keyboard reaches it.
export function scroller(label, ...children) {
  return make("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": label },
    ...children);
}

// Every table of the page: the first column names the row; a head given as a list, ["q · k"],
// stands above numbers and is aligned to the right.
export function table(caption, heads, rows) {
  return make("table", {},
    make("caption", { class: "unseen" }, caption),
    make("thead", {}, make("tr", {}, heads.map((head) =>
      make("th", { scope: "col", class: Array.isArray(head) ? "number" : null }, head)))),
    make("tbody", {}, rows.map(([first, ...rest]) => make("tr", {},
      make("th", { scope: "row" }, first),
      rest.map((cell) => (cell instanceof HTMLTableCellElement ? cell : make("td", {}, cell)))))),
  );
}

// The facts of a picture as a table, for screen readers and whoever prefers it; built when opened.
export function asTable(id, words, build) {
  const details = make("details", { class: "words", "data-unsaved": true },
    make("summary", { id, onclick: () => {
      if (details.childElementCount < 2) details.append(scroller(words, build()));
    } }, words));
  return details;
}

// A roving tabindex: one element is in the tab order, the arrow keys move to the others. `groups`
// are lists side by side; the keys `along` move within a list, `across` to the next one.
export function arrows(groups, along, across) {
  const all = groups.flat();
  const home = all.find((each) => each.getAttribute("aria-selected") === "true") ?? all[0];
  for (const each of all) each.setAttribute("tabindex", each === home ? 0 : -1);
  groups.forEach((group, g) => group.forEach((element, i) => {
    element.addEventListener("keydown", (event) => {
      const step = along.indexOf(event.key) * 2 - 1;
      const side = across.indexOf(event.key) * 2 - 1;
      let next = null;
      if (along.includes(event.key)) next = group[i + step];
      else if (across.includes(event.key)) {
        const other = groups[g + side];
        next = other?.[Math.min(i, other.length - 1)];
      } else if (event.key === "Home") next = group[0];
      else if (event.key === "End") next = group.at(-1);
      else return;
      event.preventDefault();
      if (!next) return;
      for (const each of all) each.setAttribute("tabindex", each === next ? 0 : -1);
      next.focus();
    });
  }));
}
