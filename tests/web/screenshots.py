"""Take the pictures of docs/page.md: `python -m tests.web.screenshots` (needs Chromium: `make browser`)."""

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, Page

from tests.server import ROOT, running
from tests.web.browser import Window, running_browser
from tests.web.scene import Scene, suzuki, worked_study

FOLDER = ROOT / "docs" / "screenshots"
DESKTOP = {"viewport": {"width": 1280, "height": 860}}
TABLET = {"viewport": {"width": 820, "height": 1180}, "has_touch": True}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
WALL = {"viewport": {"width": 1920, "height": 1080}}
DARK = {"color_scheme": "dark"}


def prepare(scene: Scene) -> None:
    truth = worked_study(scene, "suzuki-coupling")
    scene.measure("suzuki-coupling", scene.ask("suzuki-coupling", "bench-1", min_size=6, max_size=6), truth, leave=3)
    scene.measure("suzuki-coupling", scene.ask("suzuki-coupling", "bench-2", min_size=5, max_size=5), truth, leave=5)
    scene.send(
        "POST",
        "/v1/studies/suzuki-coupling/observations/14/corrections",
        json={"value": 31.4, "reason": "read the wrong vial"},
        headers={"If-Match": "*"},
    )
    worked_study(scene, "photocatalyst-screen", rounds=4)
    two_objectives(scene, "yield-and-price")
    text, _ = suzuki(120)
    scene.study("alloy-hardness", text, objective="hardness", unit="HV", description="Ti–Al–V samples from the press.")


def two_objectives(scene: Scene, name: str) -> None:
    """Yield against price, pure enough; four batches, and one with a value on the bench."""
    text, truth = suzuki(240)
    rows = {row[0]: row for row in (line.split(",") for line in text.splitlines()[1:])}
    scene.study(
        name,
        text,
        description="Much yield at a low price, and pure enough.",
        objectives=[
            {"name": "yield", "unit": "%", "direction": "maximize", "limits": {"low": 0, "high": 100}},
            {"name": "price", "unit": "EUR", "direction": "minimize"},
        ],
        constraints=[{"name": "purity", "unit": "%", "at_least": 90}],
    )

    def values(key: str) -> dict[str, float]:
        temperature, hours, loading = map(float, rows[key][1:4])
        price, purity = 20 + 60 * loading + 2 * hours, 99 - max(0.0, temperature - 80) / 3
        return {"yield": round(truth[key], 1), "price": round(price, 1), "purity": round(purity, 1)}

    for _ in range(4):
        for suggestion in scene.ask(name, "bench-1", min_size=6, max_size=6)["suggestions"]:
            outcomes = [values(suggestion["key"])] * suggestion["replicates"]
            scene.report(name, {"suggestion": suggestion["suggestion"], "replicates": outcomes})
    first = scene.ask(name, "bench-1", min_size=4, max_size=4)["suggestions"][0]
    scene.report(name, {"suggestion": first["suggestion"], "values": {"yield": values(first["key"])["yield"]}})


def take(page: Page, name: str, wait_for: str, full: bool = False) -> None:
    page.locator(wait_for).first.wait_for()
    page.wait_for_function("document.fonts.ready.then(() => true)")
    page.wait_for_timeout(500)
    page.screenshot(path=FOLDER / f"{name}.png", full_page=full)
    sys.stdout.write(f"{name}\n")


STUDY = "/studies/suzuki-coupling"


def pictures(browser: Browser, address: str, key: str, csv: Path) -> None:
    for suffix, options in (("", DESKTOP), ("-dark", DESKTOP | DARK)):
        window = Window(browser, address, **options)
        window.page.goto("/")
        take(window.page, f"signin{suffix}", ".signin")
        page = window.sign_in(key)
        take(page, f"studies{suffix}", ".study-card .spark")
        understand(page, suffix)
        several(page, suffix)
        ask_first(page, suffix)
        follow_up(page, suffix)
        page.goto("/create")
        page.locator("input[type=file]").set_input_files(csv)
        take(page, f"create{suffix}", ".verdict .note.good", full=True)
        page.goto(f"{STUDY}/bench/bench-1")
        take(page, f"bench-desktop{suffix}", ".bench-row")
        page.goto("/docs")
        page.locator("summary", has_text="Ask for the next batch").click()
        take(page, f"docs{suffix}", ".operation[open]")
        window.close()
    small_and_large(browser, address, key)


def understand(page: Page, suffix: str) -> None:
    """The parts of a study that tell what is known."""
    page.goto(STUDY)
    take(page, f"study{suffix}", ".chart svg", full=True)
    page.goto(f"{STUDY}/results")
    take(page, f"results{suffix}", ".tr .key")
    page.locator(".tr .key").first.click()
    take(page, f"candidate{suffix}", ".drawer .neighbours li")
    page.goto(f"{STUDY}/insights")
    take(page, f"insights{suffix}", ".chart svg", full=True)
    page.goto(f"{STUDY}/candidates")
    take(page, f"candidates{suffix}", ".belief")
    page.goto(f"{STUDY}/map?x=temperature&y=solvent")
    take(page, f"map{suffix}", ".chart canvas")


def several(page: Page, suffix: str) -> None:
    """A study with two objectives and a constraint."""
    page.goto("/studies/yield-and-price")
    take(page, f"front{suffix}", ".chart svg")
    page.goto("/studies/yield-and-price/bench/bench-1")
    take(page, f"bench-several{suffix}", ".bench-row")


def ask_first(page: Page, suffix: str) -> None:
    """The dialog of an ask with its preview."""
    page.goto(STUDY)
    page.get_by_role("button", name="Ask for a batch").click()
    page.get_by_label("Worker").fill("bench-3")
    page.get_by_label("How many measurements").select_option("exactly")
    page.get_by_label("Number").fill("6")
    page.get_by_text("Which candidates").click()
    page.get_by_label("Column", exact=True).select_option("solvent")
    for solvent in ("DMF", "Dioxane"):
        page.get_by_label(solvent).check()
    page.get_by_role("button", name="Add condition").click()
    page.get_by_label("Include a candidate", exact=True).fill("A1-01-000")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Preview").click()
    page.get_by_label("Candidates of the preview").wait_for()
    page.locator("dialog").evaluate("dialog => dialog.scrollTo(0, 0)")
    take(page, f"ask{suffix}", ".prices")


def follow_up(page: Page, suffix: str) -> None:
    """The parts of a study that tell what happened."""
    page.goto(f"{STUDY}/batches")
    page.get_by_role("button", name="Batch 3, show").click()
    page.get_by_role("button", name="Compute batch 10 again").click()
    page.get_by_role("button", name="Verify the ledger").click()
    page.get_by_text("bit for bit").wait_for()
    take(page, f"batches{suffix}", ".why")
    page.goto(f"{STUDY}/events")
    take(page, f"timeline{suffix}", ".timeline li")
    page.goto(f"{STUDY}/settings")
    take(page, f"settings{suffix}", ".facts")


def small_and_large(browser: Browser, address: str, key: str) -> None:
    for name, options in (("tablet", TABLET), ("phone", PHONE), ("phone-dark", PHONE | DARK)):
        window = Window(browser, address, **options)
        page = window.sign_in(key)
        take(page, f"studies-{name}", ".study-card .spark")
        page.goto(STUDY)
        take(page, f"study-{name}", ".chart svg")
        page.goto(f"{STUDY}/bench/bench-1")
        page.locator(".bench-row").first.wait_for()
        if name == "tablet":
            window.lose_connection()
            page.locator(".bench-row .entry input").first.fill("78.4")
            page.keyboard.press("Enter")
            page.get_by_text("1 value not yet saved").wait_for()
        take(page, f"bench-{name}", ".bench-row")
        window.close()
    window = Window(browser, address, **WALL)
    page = window.sign_in(key, f"{STUDY}?wall")
    take(page, "wall", ".chart svg")
    window.close()


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, running(Path(folder)) as server, running_browser() as browser:
        assert server.key
        with Scene(server.address, server.key) as scene:
            prepare(scene)
            key = scene.new_key("scientist", *_all(scene), name="Dr. Ada Weber")
        csv = Path(folder) / "photoredox.csv"
        lines = suzuki(96)[0].splitlines()
        lines[3] = lines[2].replace(lines[2].split(",")[0], "A1-02-zz")
        csv.write_text("\n".join(lines) + "\n")
        pictures(browser, server.address, key, csv)


def _all(scene: Scene) -> list[str]:
    return [study["name"] for study in scene.send("GET", "/v1/studies")["studies"]]


if __name__ == "__main__":
    main()
