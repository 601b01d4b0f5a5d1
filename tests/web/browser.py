"""Debian's Chromium under Playwright: where it is, how it is started, and what must never happen in it."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect, sync_playwright

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 30_000  # for a busy machine; nothing is measured by it
PAUSE = 50  # between two looks, in milliseconds, too
MISSING = "The page's tests need Chromium: run `make browser` as root (Debian: apt-get install chromium)."


def chromium() -> str:
    """Where it is; on a fresh Debian machine it is installed first."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        lock = ["-o", "DPkg::Lock::Timeout=300"]
        subprocess.run(["apt-get", "update"], check=False, **quiet)
        subprocess.run(["apt-get", *lock, "install", "-y", "--no-install-recommends", "chromium"], check=False, **quiet)
        found = shutil.which("chromium")
    if found is None:
        raise RuntimeError(MISSING)
    return found


@contextmanager
def running_browser() -> Iterator[Browser]:
    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield browser
        browser.close()


def eventually(page: Page, read: Callable[[], Any]) -> Any:
    """The first value that is not None. The driver's own way to wait evaluates text, which the page forbids."""
    for _ in range(PATIENCE // PAUSE):
        if (value := read()) is not None:
            return value
        page.wait_for_timeout(PAUSE)
    raise TimeoutError("the page never had that value")


class Window:
    """A browser window of its own (its own cookies), signed in; remembers everything that went wrong in it."""

    def __init__(self, browser: Browser, address: str, **options: Any) -> None:
        self.address = address
        self.context: BrowserContext = browser.new_context(base_url=address, **options)
        self.page: Page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.complaints: list[str] = []
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        self.page.on("request", self._on_request)
        self.offline = False

    def sign_in(self, key: str, path: str = "/") -> Page:
        self.page.goto(path)
        self.page.get_by_label("Your key").fill(key)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.locator(".signin").wait_for(state="detached")
        return self.page

    def lose_connection(self) -> None:
        self.offline = True
        self.context.set_offline(True)

    def regain_connection(self) -> None:
        self.context.set_offline(False)
        self.offline = False

    def close(self) -> None:
        """Also answers that a test changes and that are under way: they would fail in the next test."""
        self.page.unroute_all(behavior="ignoreErrors")
        self.context.close()

    def _on_console(self, message: ConsoleMessage) -> None:
        expected = self.offline or "ERR_INTERNET_DISCONNECTED" in message.text
        refused = message.text.startswith("Failed to load resource") and "/v1" in str(message.location.get("url"))
        if message.type in ("error", "warning") and not expected and not refused:
            self.complaints.append(f"{message.type}: {message.text} ({message.location.get('url')})")

    def _on_request(self, request: Request) -> None:
        ours = urlsplit(request.url).netloc == urlsplit(self.address).netloc
        if not ours and not request.url.startswith(("data:", "blob:", "about:")):
            self.complaints.append(f"foreign request: {request.url}")


STICKING_OUT = """() => {
    const width = document.documentElement.clientWidth
    const cuts = (element) => getComputedStyle(element).overflowX !== 'visible'
    const isCut = (element) => {
        for (let around = element.parentElement; around !== document.body; around = around.parentElement)
            if (cuts(around)) return true
        return false
    }
    const textEnds = (text) => {
        const range = document.createRange()
        range.selectNodeContents(text)
        return range.getBoundingClientRect().right
    }
    const ends = (element) => {
        const texts = cuts(element) ? [] : [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE)
        return Math.round(Math.max(element.getBoundingClientRect().right, ...texts.map(textEnds)) + scrollX)
    }
    const wide = [...document.body.querySelectorAll('body *')].filter((one) => ends(one) > width && !isCut(one))
    const innermost = wide.filter((element) => !wide.some((other) => other !== element && element.contains(other)))
    return innermost.slice(0, 8).map((element) => {
        const path = [element.parentElement, element].map((one) => [one.localName, ...one.classList].join('.'))
        return `${path.join(' > ')} ends at ${ends(element)} px: ${element.textContent.slice(0, 60)}`
    })
}"""


def sticking_out(page: Page) -> list[str]:
    """What makes the page wider than its window: the innermost elements that end beyond it, each with its text."""
    if not page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
        return []
    return page.evaluate(STICKING_OUT) or ["nothing that can be named"]
