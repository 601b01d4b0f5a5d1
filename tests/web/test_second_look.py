"""What a second look at the page found: words, distributions, notes, descriptors, and studies that come back."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.web.conftest import CSV, Open
from tests.web.scene import Scene

LIGANDS = "solvent,dipole,boiling point\nDMF,3.8,153\nTHF,-1.7,66\nMeCN,3.9,82\n"


def test_a_target_has_a_best_value_and_no_front(window: Open, scene: Scene, study: str) -> None:
    scene.send(
        "PUT", f"/v1/studies/{study}-ph", json={"objectives": [{"name": "pH", "direction": "target", "target": 7}]}
    )
    scene.send("PUT", f"/v1/studies/{study}-ph/candidates", content=CSV, headers={"Content-Type": "text/csv"})
    scene.report(f"{study}-ph", {"key": "A1", "value": 7.1}, {"key": "A2", "value": 2})
    page = window().sign_in(scene.key, f"/studies/{study}-ph")
    expect(page.locator(".headline .best")).to_contain_text("Best so far: A1, pH 7.1.")
    expect(page.locator(".stat", has_text="Best pH")).to_contain_text("7.1")
    expect(page.get_by_role("heading", name="All results and the best so far")).to_be_visible()
    for name in ("The front", "Volume under the front"):
        expect(page.get_by_role("heading", name=name)).to_have_count(0)


@pytest.mark.parametrize(("locale", "number"), [("en-US", "158,258"), ("de-DE", "158.258")])
def test_the_sentences_of_the_server_have_the_reader_s_numbers(
    window: Open, scene: Scene, study: str, locale: str, number: str
) -> None:
    scene.report(study, {"key": "A1", "value": 158_258.0}, {"key": "A2", "value": 4.5})
    page = window(locale=locale).sign_in(scene.key, f"/studies/{study}")
    expect(page.locator(".headline .best")).to_contain_text(f"A1, {number} %")
    page.goto("/")
    expect(page.locator(".study-card", has_text=study)).to_contain_text(f"{number} %")


def test_the_list_says_what_the_overview_says_of_the_gain_left(window: Open, scene: Scene, study: str) -> None:
    scene.report(study, *({"candidate": f"A{n}", "value": 20.0 + 3 * n} for n in range(1, 9)))
    left = scene.send("GET", f"/v1/studies/{study}/summary")["outlook"]["remaining_gain"]["upper"]
    page = window().sign_in(scene.key, "/")
    expect(page.locator(".study-card", has_text=study)).to_contain_text(f"≤ {float(f'{left:.3g}'):g}")


def test_the_distribution_of_several_studies_is_compared(window: Open, scene: Scene, study: str) -> None:
    scene.report(study, *({"candidate": f"A{n}", "value": 10.0 * n} for n in range(1, 5)))
    for number in range(5):  # most studies measure something else
        scene.study(f"{study[:40]}-{number}", "key,t\nA,1\nB,2\n", objective="elsewhere")
        scene.report(f"{study[:40]}-{number}", {"candidate": "A", "value": 1.0})
    page = window().sign_in(scene.key, f"/compare?study={study}")
    page.get_by_text("Distribution", exact=True).click()
    expect(page.get_by_role("heading", name="Distribution of the results")).to_be_visible()
    page.get_by_role("application", name="Distribution of the results").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".chart [role=status]")).to_contain_text("100 % of 4 results are at most 40 %")
    page.reload()
    expect(page.get_by_role("radio", name="Distribution")).to_be_checked()
    expect(page.locator("tr", has_text=study)).to_contain_text("40 %")


def test_a_note_is_saved_with_its_value(window: Open, scene: Scene, study: str) -> None:
    key = scene.ask(study, "b", min_size=1, max_size=1)["suggestions"][0]["key"]
    page = window().sign_in(scene.key, f"/studies/{study}/bench/b")
    page.get_by_role("button", name=f"Note on {key}").click()
    page.get_by_label(f"Note on yield of {key}").fill("colour unusually dark")
    page.get_by_label(f"yield of {key}", exact=True).fill("42,5")
    page.keyboard.press("Enter")
    expect(page.locator(".slot.saved")).to_contain_text("colour unusually dark")
    stored = scene.send("GET", f"/v1/studies/{study}/observations")["observations"]
    assert [(one["value"], one["note"]) for one in stored] == [(42.5, "colour unusually dark")]
    page.goto(f"/studies/{study}/results?which=noted")
    expect(page.get_by_role("row", name=key)).to_contain_text("colour unusually dark")


def test_a_deleted_study_is_restored(window: Open, scene: Scene, study: str) -> None:
    scene.report(study, {"key": "A1", "value": 12.5})
    scene.send("DELETE", f"/v1/studies/{study}", params={"confirm": study})
    page = window().sign_in(scene.key, f"/studies/{study}")
    page.get_by_role("link", name="Deleted studies").click()
    page.get_by_role("button", name=f"Restore {study}", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("deleted by mistake")
    dialog.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("heading", name=study, level=1)).to_be_visible()
    expect(page.locator(".headline .best")).to_contain_text("12.5 %")
    events = scene.send("GET", f"/v1/studies/{study}/events")["events"]
    assert "deleted by mistake" in str(events[-1])


def test_only_those_who_manage_studies_see_the_deleted_ones(window: Open, scene: Scene, study: str) -> None:
    page = window().sign_in(scene.new_key("technician", study), "/")
    expect(page.get_by_role("link", name=study)).to_be_visible()
    expect(page.get_by_role("radio", name="Deleted")).to_have_count(0)


def test_descriptors_of_a_column_become_features(
    window: Open, scene: Scene, study: str, candidates_file: Path, tmp_path: Path
) -> None:
    table = tmp_path / "solvents.csv"
    page = window().sign_in(scene.key, "/create")
    page.get_by_label("Drop a CSV or Excel file here").set_input_files(candidates_file)
    expect(page.locator(".verdict .note.good")).to_contain_text("20 candidates, 3 features")
    add = page.get_by_label("Add descriptors of a column's levels")
    table.write_text(LIGANDS.replace("THF,-1.7,66\n", ""))
    add.set_input_files(table)
    expect(page.get_by_role("alert")).to_contain_text("There are no descriptors of THF.")
    table.write_text(LIGANDS)
    add.set_input_files(table)
    expect(page.get_by_text("2 descriptors of solvent: dipole, boiling point.")).to_be_visible()
    expect(page.locator(".verdict .note.good")).to_contain_text("20 candidates, 5 features")
    page.get_by_label("Name").fill(f"{study}-described")
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_role("heading", name=f"{study}-described")).to_be_visible()
    stored = scene.send("GET", f"/v1/studies/{study}-described/candidates/A1")["features"]
    assert (stored["solvent"], stored["dipole"], stored["boiling point"]) == ("THF", -1.7, 66)


def test_of_very_many_columns_a_bench_shows_some_and_says_so(window: Open, scene: Scene, study: str) -> None:
    names = [f"d{n}" for n in range(60)]
    text = "\n".join(
        [",".join(["key", *names]), *(",".join([f"K{row}", *(str(row * n) for n in range(60))]) for row in (1, 2))]
    )
    scene.study(f"{study}-wide", text)
    scene.ask(f"{study}-wide", "b", min_size=1, max_size=1)
    page = window().sign_in(scene.key, f"/studies/{study}-wide/bench/b")
    row = page.locator(".bench-row")
    expect(row.get_by_role("term").get_by_text("d11", exact=True)).to_be_visible()
    expect(row.get_by_role("term", include_hidden=True).get_by_text("d59", exact=True)).to_be_hidden()
    row.get_by_text("48 more columns").click()
    expect(row.get_by_role("term", include_hidden=True).get_by_text("d59", exact=True)).to_be_visible()
