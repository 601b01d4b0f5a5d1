"""Take the pictures of docs/page.md: `python -m tests.web.screenshots` (needs Chromium: `make browser`)."""

import sys
import tempfile
from pathlib import Path
from time import sleep

from playwright.sync_api import Browser, Page

from tests.server import ROOT, running
from tests.web.browser import Window, running_browser
from tests.web.other_days import DAYS
from tests.web.scene import Scene, alloys, suzuki, worked_study

FOLDER = ROOT / "docs" / "screenshots"
DESKTOP = {"viewport": {"width": 1280, "height": 860}}
TABLET = {"viewport": {"width": 820, "height": 1180}, "has_touch": True}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
WALL = {"viewport": {"width": 1920, "height": 1080}}
DARK = {"color_scheme": "dark"}
ADA = "Dr. Ada Weber"


def prepare(scene: Scene) -> None:
    scene.set_day(22)
    truth = worked_study(scene, "suzuki-coupling")
    on_the_benches(scene, "suzuki-coupling", truth)
    plan = {"batch_sizes": [1, 8], "seeds": 8, "measurements": 30}
    scene.send("POST", "/v1/studies/suzuki-coupling/backtests", json=plan)
    screen = "The same coupling with a photocatalyst: does light replace heat?"
    worked_study(
        scene, "photocatalyst-screen", rounds=4, description=screen, seed=11, people=("Maya Lind", "Jonas Beck")
    )
    for name, tags in (("suzuki-coupling", ["suzuki", "2026-Q4"]), ("photocatalyst-screen", ["photoredox"])):
        scene.send("PATCH", f"/v1/studies/{name}", json={"tags": tags}, headers={"If-Match": "*"})
    scene.send("PUT", "/v1/studies/photocatalyst-screen/borrowed", json={"from": ["suzuki-coupling"]})
    two_objectives(scene, "yield-and-price")
    text, hardness = alloys()
    scene.study("alloy-hardness", text, objective="hardness", unit="HV", description="Ti–Al–V samples from the press.")
    scene.measure("alloy-hardness", scene.ask("alloy-hardness", "press", min_size=8, max_size=8), hardness, noise=3)
    scene.ask("alloy-hardness", "press", min_size=4, max_size=4)
    while scene.send("GET", "/v1/studies/suzuki-coupling/backtests/1")["state"] != "finished":
        sleep(1)


def on_the_benches(scene: Scene, name: str, truth: dict[str, float]) -> None:
    """What is going on today: one batch half done, one just issued, a value corrected."""
    scene.set_minutes(95)
    scene.measure(name, scene.ask(name, "bench-1", min_size=6, max_size=6), truth, leave=3)
    scene.ask(name, "bench-2", min_size=5, max_size=5)
    correction = {"value": 31.4, "reason": "read the wrong vial"}
    path = f"/v1/studies/{name}/observations/14/corrections"
    scene.send("POST", path, json=correction, headers={"If-Match": "*"})
    scene.set_day(0)


def two_objectives(scene: Scene, name: str) -> None:
    """Yield against price, pure enough; four batches, and one with a value on the bench."""
    text, truth = suzuki(240)
    rows = {row[0]: row for row in (line.split(",") for line in text.splitlines()[1:])}
    scene.set_day(9)
    scene.study(
        name,
        text,
        description="A high yield at a low price, and pure enough.",
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

    for day in (8, 6, 4, 2):
        scene.set_day(day)
        for suggestion in scene.ask(name, "bench-1", min_size=6, max_size=6)["suggestions"]:
            outcomes = [values(suggestion["key"])] * suggestion["replicates"]
            scene.report(name, {"suggestion": suggestion["suggestion"], "replicates": outcomes})
    scene.set_minutes(40)
    first = scene.ask(name, "bench-1", min_size=4, max_size=4)["suggestions"][0]
    scene.report(name, {"suggestion": first["suggestion"], "values": {"yield": values(first["key"])["yield"]}})
    scene.set_day(0)


def take(page: Page, name: str, wait_for: str, full: bool = False) -> None:
    page.locator(wait_for).first.wait_for()
    page.evaluate("document.fonts.ready.then(() => true)")
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
        page.locator(".entry input").first.fill("785")
        page.keyboard.press("Enter")
        page.get_by_text("Save 785 % anyway?").wait_for()
        take(page, f"save-anyway{suffix}", ".slot.doubt")
        page.get_by_role("button", name="Type it again").click()
        around(page, suffix)
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
    page.goto(f"{STUDY}/map?x=temperature+(°C)&y=solvent")
    take(page, f"map{suffix}", ".chart canvas")


def around(page: Page, suffix: str) -> None:
    """What lies around the studies: comparing them, people, help, and a batch on paper."""
    page.goto("/compare?study=suzuki-coupling&study=photocatalyst-screen")
    take(page, f"compare{suffix}", ".chart svg")
    page.goto("/people")
    take(page, f"people{suffix}", "table.people td")
    page.goto("/help")
    take(page, f"help{suffix}", ".help-steps li")
    page.goto(f"{STUDY}/bench/bench-1?show=plate")
    take(page, f"plate{suffix}", ".plate td.filled")
    page.goto(f"{STUDY}/bench/bench-1?show=labels")
    take(page, f"labels{suffix}", ".label .qr path")


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
    page.get_by_text("bit for bit").wait_for()
    take(page, f"batches{suffix}", ".why")
    page.goto(f"{STUDY}/events")
    take(page, f"timeline{suffix}", ".timeline li")
    page.goto(f"{STUDY}/forecast")
    take(page, f"forecast{suffix}", ".big-words", full=True)
    page.goto(f"{STUDY}/settings")
    take(page, f"settings{suffix}", ".facts")
    page.goto(f"{STUDY}/audit")
    page.get_by_role("button", name="Verify the ledger").click()
    take(page, f"audit{suffix}", ".chip.accent >> text=intact")


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
    page.goto("/?wall")
    take(page, "wall-studies", ".study-card .spark")
    window.close()


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, running_browser() as browser:
        days = Path(folder) / "days"
        days.write_text("23")
        program = [sys.executable, "-m", "tests.web.other_days"]
        with running(Path(folder) / "data", program=program, **{DAYS: str(days)}) as server:
            assert server.key
            with Scene(server.address, server.key, days=days) as scene, scene.somebody(ADA, "admin") as ada:
                prepare(ada)
            pictures(browser, server.address, ada.key, _file(Path(folder)))


def _file(folder: Path) -> Path:
    """A list of candidates with a row that repeats the one before."""
    lines = suzuki(96)[0].splitlines()
    lines[3] = lines[2].replace(lines[2].split(",")[0], "A1-02-zz")
    path = folder / "photoredox.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


if __name__ == "__main__":
    main()
