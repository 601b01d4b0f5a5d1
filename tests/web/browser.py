"""Debian's Chromium under Playwright: where it is, how it is started, and what must never happen in it."""

import os
import shutil
import subprocess
from collections.abc import Iterator
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
