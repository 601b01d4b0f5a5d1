"""Running studies: creating one with its history, asking, comparing, people, help, and the page below a path prefix."""

import re
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import httpx
import pytest
from playwright.sync_api import expect

from tests.server import Server, running
from tests.web.conftest import CSV, Open
from tests.web.scene import Scene


def test_a_file_with_past_results_becomes_a_study_with_a_history(window: Open, scene: Scene, tmp_path: Path) -> None:
    """With semicolons and decimal commas, as spreadsheets of many countries save it; the yield is never a feature."""
    file = tmp_path / "old screen.csv"
    rows = [f"R{n};{40 + n},5;{'DMF' if n % 2 else 'THF'};{f'{50 + n},25' if n < 4 else ''};ok" for n in range(12)]
    file.write_text("\n".join(["key;temperature (°C);solvent;yield (%);comment", *rows]))
    page = window().sign_in(scene.key, "/create")
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_label("Role of yield (%)")).to_have_value("result")
    expect(page.get_by_label("Role of comment")).to_have_value("attribute")
    expect(page.get_by_text("12 candidates, 2 features")).to_be_visible()
    expect(page.get_by_label("Measured quantity")).to_have_value("yield")
    expect(page.get_by_label("Unit")).to_have_value("%")
    page.get_by_role("button", name="Create the study").click()
    expect(page.locator(".headline")).to_contain_text("53.25 %")
    kept = scene.send("GET", "/v1/studies/old-screen/observations")["observations"]
    assert [(one["key"], one["value"]) for one in kept] == [(f"R{n}", 50.25 + n) for n in range(4)]


def test_a_name_that_is_taken_is_said_at_once(window: Open, scene: Scene, study: str, candidates_file: Path) -> None:
    page = window().sign_in(scene.key, "/create")
    page.locator("input[type=file]").set_input_files(candidates_file)
    expect(page.get_by_role("button", name="Create the study")).to_be_enabled()
    page.get_by_label("Name").fill(study)
    expect(page.get_by_role("alert")).to_contain_text("This name is taken")
    expect(page.get_by_role("button", name="Create the study")).to_be_disabled()
    page.get_by_label("Name").fill(f"{study}-2")
    expect(page.get_by_role("button", name="Create the study")).to_be_enabled()


def test_an_empty_study_takes_its_candidates_later(window: Open, scene: Scene, candidates_file: Path) -> None:
    scene.send("PUT", "/v1/studies/empty-at-first", json={})
    page = window().sign_in(scene.key, "/studies/empty-at-first")
    page.get_by_role("button", name="Upload candidates").click()
    page.locator("dialog input[type=file]").set_input_files(candidates_file)
    expect(page.get_by_text("20 new candidates")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_text("Ask for the first batch")).to_be_visible()


@pytest.mark.parametrize(("how", "sizes"), [("exactly", {4}), ("least", set(range(4, 21)))])
def test_a_batch_of_exactly_or_at_least_so_many(
    window: Open, scene: Scene, study: str, how: str, sizes: set[int]
) -> None:
    name = f"{study}-{how}"
    scene.study(name, CSV)
    page = window().sign_in(scene.key, f"/studies/{name}")
    page.get_by_role("button", name="Ask for a batch").click()
    page.get_by_label("How many measurements").select_option(how)
    page.get_by_label("Number").fill("4")
    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator(".bench-row").first.wait_for()
    assert scene.send("GET", f"/v1/studies/{name}/batches/1")["size"] in sizes


def test_what_next_is_said_and_done(window: Open, scene: Scene, study: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{study}")
    step = page.get_by_role("region", name="What next")
    expect(step).to_contain_text("Ask for the first batch")
    batch = scene.ask(study, "bench-7", min_size=1, max_size=1)
    expect(step.get_by_role("link", name="Open bench-7")).to_be_visible()
    scene.report(study, {"suggestion": batch["suggestions"][0]["suggestion"], "value": 61.5})
    expect(step).to_contain_text("Ask for the next batch")
    expect(step).to_contain_text("Too few candidates are measured")
    scene.report(study, *({"candidate": f"A{n}", "value": 20.0 + n} for n in range(1, 7)))
    expect(step).to_contain_text("percentage points")


def test_studies_are_found_and_compared(window: Open, scene: Scene, study: str) -> None:
    other = f"{study}-other"
    scene.study(other, CSV, objective="yield", unit="%")
    for name in (study, other):
        scene.report(name, *({"candidate": f"A{n}", "value": 20.0 + n} for n in range(1, 4)))
    page = window().sign_in(scene.key)
    page.get_by_label("Find a study").fill(other)
    expect(page.locator(".study-card")).to_have_count(1)
    page.goto(f"/compare?study={study}&study={other}")
    expect(page.get_by_role("figure", name="Best so far of several studies").locator(".catch")).to_contain_text(other)
    page.get_by_label(f"Show {other}", exact=True).uncheck()
    expect(page.get_by_role("figure").locator(".catch")).not_to_contain_text(other)


def test_a_key_is_made_granted_and_revoked(window: Open, scene: Scene, study: str) -> None:
    page = window().sign_in(scene.key, "/people")
    page.get_by_role("button", name="New key").click()
    page.get_by_placeholder("Dr. Ada Weber").fill("Bench tablet")
    page.get_by_role("button", name="Create").click()
    made = page.get_by_label("The new key").input_value()
    page.get_by_role("button", name="Done").click()
    page.goto(f"/studies/{study}/settings")
    page.get_by_label("Bench tablet").check()
    expect(page.get_by_text(f"Bench tablet can now see {study}.")).to_be_visible()
    tablet = window().sign_in(made, f"/studies/{study}")
    expect(tablet.get_by_role("heading", name=study)).to_be_visible()
    page.goto("/people")
    page.get_by_role("button", name="Revoke the key of Bench tablet").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("The key of Bench tablet is revoked.")).to_be_visible()
    tablet.reload()
    expect(tablet.get_by_label("Your key")).to_be_visible()


def test_an_explanation_closes_however_soon_escape_follows(window: Open, scene: Scene, study: str) -> None:
    scene.report(study, *({"candidate": f"A{n}", "value": 20.0 + n} for n in range(1, 7)))
    page = window().sign_in(scene.key, f"/studies/{study}")
    term = page.get_by_role("button", name="What is meant by “still to gain”?").first
    shown = term.evaluate(
        """async (button) => {
            button.click();
            while (button.ariaExpanded !== "true") await Promise.resolve();
            const escape = new KeyboardEvent("keydown", { key: "Escape", bubbles: true });
            button.dispatchEvent(escape);
            return document.querySelectorAll("[role=note]").length;
        }"""
    )
    assert shown == 1
    expect(page.get_by_role("note")).to_have_count(0)


def test_every_term_is_explained_one_tap_away(window: Open, scene: Scene, study: str) -> None:
    scene.report(study, *({"candidate": f"A{n}", "value": 20.0 + n} for n in range(1, 7)))
    page = window(has_touch=True).sign_in(scene.key, f"/studies/{study}")
    page.get_by_role("button", name="What is meant by “still to gain”?").first.tap()
    expect(page.get_by_role("note")).to_contain_text("How much better than the best so far")
    page.keyboard.press("Escape")
    expect(page.get_by_role("note")).to_have_count(0)
    page.get_by_role("link", name="Help").tap()
    page.get_by_label("Find a word").fill("lasso")
    expect(page.get_by_text("No word contains that.")).to_be_visible()
    page.get_by_label("Find a word").fill("fingerprint")
    expect(page.locator(".words dt").filter(has_text="Check the history")).to_be_visible()


def test_a_deleted_study_needs_its_name_typed(window: Open, scene: Scene, study: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{study}/settings")
    page.get_by_role("button", name="Delete …").click()
    page.get_by_label(f"Type {study} to confirm").fill("something else")
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("Type the name exactly")
    page.get_by_label(f"Type {study} to confirm").fill(study)
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("heading", name="Studies", exact=True)).to_be_visible()
    assert scene.http.get(f"/v1/studies/{study}").status_code == 410


def test_a_study_is_exported_and_imported_elsewhere(window: Open, scene: Scene, study: str, tmp_path: Path) -> None:
    """An archive that no trusted server has signed needs a second word."""
    scene.report(study, {"candidate": "A4", "value": 47.5})
    page = window().sign_in(scene.key, f"/studies/{study}/settings")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download everything").click()
    with running(tmp_path / "elsewhere") as elsewhere:
        assert elsewhere.key
        there = window(elsewhere.address).sign_in(elsewhere.key)
        there.get_by_role("button", name="Import").click()
        there.locator("dialog input[type=file]").set_input_files(download.value.path())
        there.get_by_role("button", name="Import it anyway").click()
        expect(there.locator(".headline")).to_contain_text("47.5 %")
        there.goto("about:blank")


@pytest.fixture
def prefixed(server: Server) -> Iterator[str]:
    """The server behind a proxy that offers it below /lab/nb and removes the prefix; streams are refused."""

    class Proxy(BaseHTTPRequestHandler):
        def answer(self) -> None:
            if not self.path.startswith("/lab/nb/") or "/events/live" in self.path:
                self.send_error(503 if "/events/live" in self.path else 404)
                return
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {
                name: value for name, value in self.headers.items() if name.lower() not in ("host", "connection")
            }
            with httpx.Client(trust_env=False, timeout=60) as client:
                passed = headers | {"Host": server.address.removeprefix("http://"), "X-Forwarded-Prefix": "/lab/nb"}
                path = server.address + self.path.removeprefix("/lab/nb")
                answer = client.request(self.command, path, content=body, headers=passed)
            self.send_response(answer.status_code)
            for name, value in answer.headers.multi_items():
                if name.lower() not in ("content-length", "content-encoding", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    proxy = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    Thread(target=proxy.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{proxy.server_port}/lab/nb/"
    proxy.shutdown()
    proxy.server_close()


def test_the_page_works_below_a_path_prefix(window: Open, scene: Scene, study: str, prefixed: str) -> None:
    batch = scene.ask(study, "b", min_size=1, max_size=1)
    key = batch["suggestions"][0]["key"]
    page = window(prefixed).sign_in(scene.new_key("technician", study), f"{prefixed}studies/{study}/bench/b")
    page.get_by_label(f"yield of {key}", exact=True).fill("44.5")
    page.keyboard.press("Enter")
    expect(page.locator(".slot.saved")).to_contain_text("44.5")
    page.get_by_role("link", name=study).click()
    expect(page.locator(".headline")).to_contain_text("44.5 %")
    expect(page.locator("figure[aria-label^='Results'] .catch svg")).to_be_visible()
    page.get_by_role("link", name="Candidates").click()
    expect(page.get_by_text("20 candidates", exact=True)).to_be_visible()
    assert page.url == f"{prefixed}studies/{study}/candidates"
    page.reload()
    expect(page.get_by_text("20 candidates", exact=True)).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Your key")).to_be_visible()
    page.goto(f"{prefixed}docs")
    expect(page.locator(".operation").filter(has_text=re.compile("Ask for the next batch"))).to_be_visible()
