"""What every test of a page watches for."""

from collections.abc import Callable

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
