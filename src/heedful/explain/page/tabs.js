// Tabs as in the ARIA Authoring Practices: one is in the tab order, arrow keys move and open. A
// hidden tab is not offered.

import { find } from "./elements.js";

export function startTabs(list, opened) {
  const tabs = [...list.querySelectorAll("[role=tab]")];
  const open = (tab, focus = false) => {
    for (const each of tabs) {
      const chosen = each === tab;
      each.setAttribute("aria-selected", String(chosen));
      each.tabIndex = chosen ? 0 : -1;
      find(each.getAttribute("aria-controls")).hidden = !chosen;
    }
    if (focus) tab.focus();
    // Only the strip of tabs moves, never the page under the reader.
    list.scrollLeft += tab.getBoundingClientRect().left - list.getBoundingClientRect().left - 40;
    opened(tab.dataset.view);
  };
  for (const tab of tabs) {
    tab.addEventListener("click", () => open(tab));
    tab.addEventListener("keydown", (event) => {
      const offered = tabs.filter((each) => !each.hidden);
      const [index, last] = [offered.indexOf(tab), offered.length - 1];
      const to = { ArrowRight: index === last ? 0 : index + 1, Home: 0, End: last,
        ArrowLeft: index === 0 ? last : index - 1 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      open(offered[to], true);
    });
  }
  return (view, focus) => open(tabs.find((tab) => tab.dataset.view === view) ?? tabs[0], focus);
}
