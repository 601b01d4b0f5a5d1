"""How light the page is, and how soon it can be used on a slow line.

    python -m benchmarks.page [--runs 5]    # writes docs/benchmarks/page.md; needs Chromium

Sizes are those of the built files, compressed. Times are from the navigation to the first thing a person can do, in
Chromium with an empty cache, at 400 ms latency and 50 kB/s. The map of a long list is opened on a fast line: how much
it reads, when it is drawn, and the longest pause between two frames while it is zoomed.
"""

import argparse
import gzip
import os
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page

from benchmarks.pages import DOCS, markdown
from tests.server import ROOT, running
from tests.web.browser import Window, running_browser
from tests.web.scene import Scene, worked_study

BUILT = ROOT / "app" / "web"
REPORT = DOCS / "page.md"
LATENCY, THROUGHPUT = 400, 50_000  # milliseconds, bytes per second
MOST_BYTES, MOST_SECONDS = 150_000, 3.0
STUDY = "/studies/suzuki-coupling"
BENCH = f"{STUDY}/bench/bench-1"
FORGET = "localStorage.removeItem('nextbatch:bench:suzuki-coupling:bench-1')"  # as on a device that never saw the bench
# What a person waits for in each view.
VIEWS = {
    "sign in": ("/", ".signin input"),
    "studies": ("/", ".study-card strong"),
    "bench, on a new device": (BENCH, ".entry input"),
    "bench": (BENCH, ".entry input"),
    "overview": (STUDY, ".headline .best"),
    "overview with its chart": (STUDY, ".chart .catch svg"),
}


def compressed(names: set[str]) -> int:
    return sum(len(gzip.compress((BUILT / name).read_bytes(), mtime=0)) for name in names)


def first_load() -> set[str]:
    """The files that the document names."""
    named = re.findall(r"web/([\w.-]+)", (BUILT / "index.html").read_text())
    return {name for name in named if (BUILT / name).is_file()}


def parts() -> dict[str, int]:
    """Compressed bytes of what is read first, and of each part that is read later."""
    later = {path.name for path in BUILT.glob("*.js")} - first_load()
    titled = {name.rpartition("-")[0]: compressed({name}) for name in sorted(later) if not name.startswith("chunk")}
    return {"first load: bench, studies, signing in": compressed(first_load())} | titled


def slow_down(page: Page) -> None:
    """A slow line and an empty cache for a page that is open: a new process would not know of them."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.setCacheDisabled", {"cacheDisabled": True})
    line = {"offline": False, "latency": LATENCY, "downloadThroughput": THROUGHPUT, "uploadThroughput": THROUGHPUT}
    session.send("Network.emulateNetworkConditions", line)


def seconds_until(page: Page, path: str, selector: str, first: str = "0") -> float:
    """From the navigation until something is there; `first` is a script that runs before."""
    page.evaluate(first)
    page.goto(path, wait_until="commit")
    page.locator(selector).first.wait_for()
    return float(page.evaluate("performance.now()")) / 1000


def times(browser: Browser, address: str, key: str, runs: int) -> Iterator[tuple[str, float]]:
    for view, (path, selector) in VIEWS.items():
        window = Window(browser, address, viewport={"width": 820, "height": 1180})
        if view == "sign in":
            window.page.goto("/")
        else:
            window.sign_in(key)
        if view == "bench":
            seconds_until(window.page, path, selector)
        slow_down(window.page)
        forget = FORGET if "new device" in view else "0"
        yield view, median(seconds_until(window.page, path, selector, forget) for _ in range(runs))
        window.close()


LONG = 100_000
PAGE = 10_000  # candidates in the longest page
WATCH_FRAMES = """() => {
    window.longest = 0
    let last = performance.now()
    const frame = () => {
        const now = performance.now()
        window.longest = Math.max(window.longest, now - last)
        last = now
        requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
}"""


def long_list(scene: Scene) -> None:
    """A study with a long list of six features, and a few results."""
    dice = random.Random(9)  # noqa: S311
    lines = ["key,temperature,time,loading,pressure,solvent,base"]
    for number in range(LONG):
        numbers = ",".join(f"{dice.uniform(0, 100):.2f}" for _ in range(4))
        lines.append(f"K{number},{numbers},S{dice.randrange(12)},B{dice.randrange(8)}")
    scene.http.timeout = 300
    scene.study("long", "\n".join(lines) + "\n")
    scene.report("long", *({"key": f"K{97 * n}", "value": float(n)} for n in range(20)))


def map_bytes(scene: Scene) -> dict[str, int]:
    """What the map of the long list reads, as whole candidates and as it does."""
    path = "/v1/studies/long"
    pages = [
        scene.http.get(f"{path}/candidates", params={"posterior": True, "offset": offset, "limit": PAGE}).content
        for offset in range(0, LONG, PAGE)
    ]
    arrays: dict[str, Any] = {"posterior": ["mean", "counts", "pending"], "limit": LONG}
    by_similarity = scene.http.get(f"{path}/arrays", params={**arrays, "similarity": True}).content
    by_columns = scene.http.get(f"{path}/arrays", params={**arrays, "column": ["temperature", "solvent"]}).content
    return {
        "whole candidates, as JSON": sum(map(len, pages)),
        "whole candidates, compressed": sum(len(gzip.compress(page, 5)) for page in pages),
        "packed, by similarity": len(by_similarity),
        "packed, by similarity, compressed": len(gzip.compress(by_similarity, 5)),
        "packed, by two columns, compressed": len(gzip.compress(by_columns, 5)),
    }


def map_times(browser: Browser, address: str, key: str) -> dict[str, float]:
    """Seconds until the map of the long list is drawn, and the longest pause between two frames while it is zoomed."""
    window = Window(browser, address, viewport={"width": 1280, "height": 860})
    page = window.sign_in(key)
    drawn = seconds_until(page, "/studies/long/map?x=temperature&y=pressure", ".chart.map .save-picture")
    box = page.locator(".chart.map canvas").first.bounding_box()
    assert box
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.keyboard.down("Control")
    page.evaluate(WATCH_FRAMES)
    for _ in range(10):
        page.mouse.wheel(0, -60)
        page.wait_for_timeout(100)
    longest = float(page.evaluate("window.longest")) / 1000
    window.close()
    return {"drawn after": drawn, "longest pause while zooming": longest}


@dataclass(frozen=True)
class LongMap:
    sizes: dict[str, int]
    times: dict[str, float]

    def told(self) -> str:
        sizes = markdown(["the map reads", "kB"], [[name, f"{size / 1000:,.0f}"] for name, size in self.sizes.items()])
        times = markdown(["the map is", "seconds"], [[name, f"{value:.2f}"] for name, value in self.times.items()])
        return f"## The map of {LONG:,} candidates\n\n{sizes}\n\n{times}\n"


def report(sizes: dict[str, int], found: dict[str, float], runs: int, loads: tuple[float, float]) -> str:
    times_table = markdown(["view", "seconds"], [[view, f"{seconds:.1f}"] for view, seconds in found.items()])
    sizes_table = markdown(["read", "kB, compressed"], [[part, f"{size / 1000:.1f}"] for part, size in sizes.items()])
    return f"""# The page on a slow line

`python -m benchmarks.page` opens the page in Chromium with an empty cache, at {LATENCY} ms latency and
{THROUGHPUT // 1000} kB/s, and waits for the first thing that a person can do.

The aim: usable within {MOST_SECONDS:.0f} s. Charts may come later. These are medians of {runs} runs on {os.cpu_count()}
cores. The load of the machine was {loads[0]:.1f} at the start and {loads[1]:.1f} at the end; a busy machine is slower.

{times_table}

The aim: a first load below {MOST_BYTES // 1000} kB. Everything else is read when it is first opened.

{sizes_table}
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as server, running_browser() as browser:
        assert server.key
        with Scene(server.address, server.key) as scene:
            worked_study(scene, "suzuki-coupling", rounds=2)
            scene.ask("suzuki-coupling", "bench-1", min_size=6, max_size=6)
            load = os.getloadavg()[0]
            found = dict(times(browser, server.address, server.key, runs))
            load_after = os.getloadavg()[0]
            long_list(scene)
            long_map = LongMap(map_bytes(scene), map_times(browser, server.address, server.key))
    sizes = parts()
    text = f"{report(sizes, found, runs, (load, load_after))}\n{long_map.told()}"
    REPORT.write_text(text)
    sys.stdout.write(text)
    light = next(iter(sizes.values())) < MOST_BYTES
    soon = all(seconds < MOST_SECONDS for view, seconds in found.items() if "chart" not in view)
    return 0 if light and soon else 1


if __name__ == "__main__":
    sys.exit(main())
