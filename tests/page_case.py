"""What every test of a page watches for."""

import re
from collections.abc import Callable, Iterable

from playwright.sync_api import Page


def watch(page: Page, wrong: list[str], own: tuple[str, ...], console: bool = True) -> None:
    """Note errors, what the page says on the console, and requests to any address but its own."""

    def ask(url: str) -> None:
        if not url.startswith((*own, "data:", "blob:")):
            wrong.append(url)

    if console:
        page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: ask(request.url))


def reload_until(page: Page, remembers: Callable[[], bool]) -> None:
    """Load the page again until it remembers: a browser writes down what to keep a moment later."""
    for _ in range(20):
        page.reload()
        if remembers():
            return
        page.wait_for_timeout(100)
    raise AssertionError("the page does not remember")


SAID = """() => {
  const seen = (element) => element.checkVisibility({ visibilityProperty: true })
    || element.closest("svg, select, option, title");
  const foreign = (element) => {
    const marked = element.closest("[lang]");
    return element.closest("code") || (marked && marked.lang !== "ko");
  };
  const found = [document.title];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { parentElement: of, data } = texts.currentNode;
    if (!of.closest("script, style, noscript") && seen(of) && !foreign(of)) found.push(data);
  }
  for (const element of document.querySelectorAll("*")) {
    if (foreign(element) || element.closest("[hidden]")) continue;
    for (const name of ["aria-label", "aria-valuetext", "title", "placeholder", "alt"]) {
      if (element.hasAttribute(name)) found.push(element.getAttribute(name));
    }
  }
  return found.filter((text) => text.trim());
}"""


def latin_words(page: Page, allowed: Iterable[str]) -> set[str]:
    """Give the words in Latin letters a Korean page says in any way, the allowed ones left out.

    Text, labels and tooltips are read, but nothing that is marked as being in another language or
    as code, which is written as in a file. A single letter is a symbol of a formula.
    """
    known = sorted(allowed, key=len, reverse=True)
    names = re.compile("|".join(rf"(?<![A-Za-z]){re.escape(each)}(?![A-Za-z])" for each in known))
    said = [names.sub(" ", text) for text in page.evaluate(SAID)]
    return {word for text in said for word in re.findall(r"[A-Za-zÀ-ɏ]{2,}", text)}
