"""What every test of a page watches for."""

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
