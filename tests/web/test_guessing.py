"""What the page takes the columns of a file for: results are never features, whatever they and the key are called."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.web.conftest import Open
from tests.web.scene import Scene


@pytest.fixture
def creating(window: Open, scene: Scene) -> Page:
    return window().sign_in(scene.key, "/create")


def choose(page: Page, folder: Path, header: str, rows: list[str]) -> None:
    """Drop a file with these columns; it is looked at from the beginning, whatever was chosen before."""
    page.goto("/create")
    file = folder / "list.csv"
    file.write_text("\n".join([header, *rows]) + "\n")
    page.locator("input[type=file]").set_input_files(file)


def roles(page: Page, *columns: str) -> list[str]:
    return [page.get_by_label(f"Role of {column}", exact=True).input_value() for column in columns]


@pytest.mark.parametrize("key", ["Entry", "Sample ID", "No.", "experiment", "Run", "reaction_no", "Compound ID"])
def test_a_key_is_known_by_the_names_that_labs_use(creating: Page, tmp_path: Path, key: str) -> None:
    choose(creating, tmp_path, f"{key},temperature,yield", ["7,90,12.5", "8,100,"])
    assert roles(creating, key, "temperature", "yield") == ["key", "feature", "result"]


@pytest.mark.parametrize(
    "result", ["yield_pct", "isolated yield", "purity", "Yield (%)", "productYield", "HPLC purity / %", "Ausbeute"]
)
def test_a_result_is_known_by_a_word_anywhere_in_its_name(creating: Page, tmp_path: Path, result: str) -> None:
    choose(creating, tmp_path, f"key,temperature,{result}", ["A1,90,12.5", "A2,100,"])
    assert roles(creating, result) == ["result"]


def test_a_setting_is_no_result_because_of_a_word_in_it(creating: Page, tmp_path: Path) -> None:
    names = ["ionic strength", "pH value", "yielding agent"]
    choose(creating, tmp_path, ",".join(["key", *names]), ["A1,1,7,2", "A2,2,8,3"])
    assert roles(creating, *names) == ["feature"] * 3


def test_a_result_column_that_begins_empty_or_has_words_in_it_is_no_feature(creating: Page, tmp_path: Path) -> None:
    late = [f"A{n},{n},{n if n > 60 else ''}" for n in range(80)]
    choose(creating, tmp_path, "key,temperature,yield", late)
    assert roles(creating, "yield") == ["result"]
    choose(creating, tmp_path, "key,temperature,yield", [*late[:79], "A79,79,n.d."])
    assert roles(creating, "yield") == ["attribute"]


def test_a_number_that_repeats_is_no_key(creating: Page, tmp_path: Path) -> None:
    choose(creating, tmp_path, "run,temperature", ["1,90", "1,100", "2,90"])
    assert roles(creating, "run", "temperature") == ["feature", "feature"]


def test_past_results_without_a_key_column_reach_the_rows_they_stand_in(
    creating: Page, scene: Scene, tmp_path: Path
) -> None:
    choose(creating, tmp_path, "temperature,isolated yield", ["90,", "100,52.5", "110,", "120,61"])
    creating.get_by_label("Name").fill("without-keys")
    creating.get_by_role("button", name="Create the study").click()
    expect(creating).to_have_url(f"{scene.address}/studies/without-keys")
    found = scene.send("GET", "/v1/studies/without-keys/observations")["observations"]
    assert [(one["key"], one["value"]) for one in found] == [("2", 52.5), ("4", 61.0)]
    [feature] = [
        column for column in scene.send("GET", "/v1/studies/without-keys")["columns"] if column["role"] == "feature"
    ]
    assert feature["name"] == "temperature"
