"""Nothing a technician sends lands on the wrong candidate: it is understood with certainty, or refused with words."""

from io import BytesIO

import pytest
from openpyxl import Workbook, load_workbook

from tests.api.conftest import problem
from tests.api.lab import Lab
from tests.conftest import on_sqlite

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@pytest.fixture
def bench(lab: Lab) -> Lab:
    """A lab with an open batch of four, which measures a yield in %."""
    lab.begin(objective="yield", unit="%").batch(min_size=4, max_size=4)
    return lab


def keys_of(lab: Lab) -> list[str]:
    return [suggestion["key"] for suggestion in lab.get("batches/1")["suggestions"]]


def values(lab: Lab) -> list[float]:
    return [observation["value"] for observation in lab.observations()]


@on_sqlite
def test_a_key_of_another_candidate_than_the_suggestion_is_refused_and_both_are_named(bench: Lab) -> None:
    first, second, *_ = keys_of(bench)
    for key, named in ((second, second), ("ZZZ", "the key in row 2 is none of the study's")):
        [finding] = problem(bench.sheet(f"suggestion,key,value\nB1-S1,{key},83.1\n"), 422, "invalid-input")["errors"]
        assert (finding["row"], finding["code"]) == (2, "other-candidate")
        assert f"B1-S1 is {first}" in finding["message"]
        assert named in finding["message"]
    assert bench.observations() == []


@on_sqlite
def test_conditions_of_another_candidate_are_refused(bench: Lab) -> None:
    key = keys_of(bench)[0]
    solvent, _, temperature = key.partition("-")
    other = "THF" if solvent != "THF" else "DMF"
    for name, row in {"suggestion": "B1-S1", "key": key}.items():
        wrong = bench.sheet(f"{name},temperature,solvent,value\n{row},{temperature},{other},1\n")
        [finding] = problem(wrong, 422, "invalid-input")["errors"]
        assert (finding["row"], finding["column"], finding["code"]) == (2, "solvent", "other-conditions")
    spelled = bench.sheet(f'key,Temperature,solvent,value\n{key},"{temperature},0 °C",{solvent.lower()},1\n')
    assert spelled.status_code == 201, spelled.text


@pytest.mark.parametrize("date", ["01-Jan", "1/1/2026", "2026-01-01", "01.01.2026", "Jan-01", "46023"])
@on_sqlite
def test_an_id_that_became_a_date_is_matched_by_its_key_and_counts_once(bench: Lab, date: str) -> None:
    key = keys_of(bench)[0]
    text = f"suggestion,key,value\n{date},{key},83.1\n"
    answer = bench.sheet(text).json()
    assert [result["suggestion"] for result in answer["results"]] == ["B1-S1"]
    assert [finding["code"] for finding in answer["warnings"]] == ["id-became-date"]
    assert bench.sheet(text).json()["recorded"] == 0
    changed = bench.sheet(text.replace("83.1", "38.1"))
    assert "/observations/1/corrections" in problem(changed, 409, "already-observed")["errors"][0]["message"]
    problem(bench.sheet(f"suggestion,value\n{date},83.1\n"), 422, "invalid-input")


@pytest.mark.parametrize("written", ["B1-S1", "b1-s1", "B1 S1", "1-1", "B1–S1", " b1 - 1 "])
@on_sqlite
def test_an_id_is_understood_as_people_write_it(bench: Lab, written: str) -> None:
    answer = bench.sheet(f"suggestion,value\n{written},1\n").json()
    assert answer["results"][0]["suggestion"] == "B1-S1"


WRITTEN = {
    "83,1": 83.1,
    "83 %": 83.0,
    "83.1%": 83.1,
    "1 234.5": 1234.5,
    "1.234,5": 1234.5,
    "1'234.5": 1234.5,
    "−5": -5.0,
    "1,5E+01": 15.0,
    "0,123": 0.123,
}
REFUSED = {
    "n/a": "not-measured",
    "<0.1": "bound",
    "20 °C": "unit",
    "1,234": "ambiguous-number",
    "good": "number",
    "1_000": "unit",
    "5²": "unit",
}


@pytest.mark.parametrize("text", WRITTEN)
@on_sqlite
def test_a_value_is_understood_as_people_write_it_and_shown(bench: Lab, text: str) -> None:
    sheet = f'suggestion,value\nB1-S1,"{text}"\n'
    assert bench.sheet(sheet, dry_run="true").json()["results"][0]["value"] == WRITTEN[text]
    assert bench.sheet(sheet).json()["results"][0]["value"] == WRITTEN[text]
    assert values(bench) == [WRITTEN[text]]


@pytest.mark.parametrize("text", REFUSED)
@on_sqlite
def test_a_value_in_doubt_is_refused_with_its_row(bench: Lab, text: str) -> None:
    [finding] = problem(bench.sheet(f'suggestion,value\nB1-S1,"{text}"\n'), 422, "invalid-input")["errors"]
    assert (finding["row"], finding["column"], finding["code"]) == (2, "value", REFUSED[text])


@on_sqlite
def test_mixed_decimal_signs_in_one_file_are_refused(bench: Lab) -> None:
    mixed = bench.sheet('suggestion,value\nB1-S1,"83,1"\nB1-S2,70.2\nB1-S3,61.5\n')
    [finding] = problem(mixed, 422, "invalid-input")["errors"]
    assert (finding["row"], finding["code"]) == (2, "mixed-decimal-signs")


@pytest.mark.parametrize("header", ["Value", "Yield", "yield (%)", "YIELD [%]", "value (%)"])
@on_sqlite
def test_the_header_is_understood_as_people_write_it(bench: Lab, header: str) -> None:
    assert bench.sheet(f"Suggestion,{header}\nB1-S1,83.1\n").json()["recorded"] == 1
    problem(bench.sheet("suggestion,yield (g)\nB1-S2,83.1\n"), 422, "invalid-input")
    problem(bench.sheet("suggestion,value,Yield\nB1-S2,83.1,83.1\n"), 422, "invalid-input")


@pytest.mark.parametrize(
    ("header", "meant"), [("yeild", "yield"), ("Yields (%)", "yield"), ("valeu", "value"), ("notes", "note")]
)
@on_sqlite
def test_a_column_that_is_almost_one_of_ours_is_not_left_out_silently(bench: Lab, header: str, meant: str) -> None:
    key = keys_of(bench)[0]
    filled = f"suggestion,key,failed,value,{header}\nB1-S1,{key},,83.1,\nB1-S2,,,,\nB1-S3,,leaked,,5\n"
    [finding] = problem(bench.sheet(filled), 422, "invalid-input")["errors"]
    assert (finding["code"], finding["row"]) == ("header", 1)
    assert f"Did you mean `{meant}`?" in finding["message"]
    assert bench.observations() == []
    empty = filled.replace(",5\n", ",\n")
    assert bench.sheet(empty).status_code == 201


@on_sqlite
def test_history_comes_under_the_labs_own_column_names(bench: Lab) -> None:
    text = "Probe;Ausbeute in Prozent\nTHF-20;83,1\n"
    problem(bench.sheet(text), 422, "invalid-input")
    taken = bench.sheet(text, map=["Probe=key", "Ausbeute in Prozent=yield"])
    assert taken.json()["results"][0]["key"] == "THF-20"
    problem(bench.sheet(text, map=["Probe=key", "Ausbeute=yield"]), 422, "invalid-input")


@on_sqlite
def test_a_sheet_downloaded_again_shows_what_was_reported(bench: Lab) -> None:
    bench.report(suggestion="B1-S2", value=83.1, note="yellow")
    text = bench.client.get(f"{bench.path}/batches/1/sheet").text
    assert "83.1,,yellow" in text.splitlines()[2]
    assert bench.sheet(text).json()["recorded"] == 0


@on_sqlite
def test_the_same_file_counts_once_and_equal_rows_stay_as_many(lab: Lab) -> None:
    text = "key,value\nTHF-20,1\nTHF-20,1\nTHF-30,2\n"
    assert lab.begin().sheet(text).json()["recorded"] == 3
    again = lab.sheet(text).json()
    assert (again["recorded"], [result["observation"] for result in again["results"]]) == (0, [1, 2, 3])
    assert lab.sheet(text + "THF-20,1\n").json()["recorded"] == 1
    assert lab.sheet(text, duplicates="new").json()["recorded"] == 3


@on_sqlite
def test_a_file_sent_again_does_not_answer_a_later_suggestion(lab: Lab) -> None:
    history = "key,value\nA,1\n"
    lab.begin("key,t\nA,1\n", repeats="allowed").sheet(history)
    lab.batch(max_size=1)
    assert lab.sheet(history).json()["recorded"] == 0
    assert lab.sheet("key,value\nA,1\n\n").json()["results"][0]["suggestion"] == "B1-S1"


@on_sqlite
def test_one_upload_is_retracted_in_one_call(lab: Lab) -> None:
    lab.begin().report(candidate="THF-20", value=5)
    upload = lab.sheet("key,value\nTHF-30,1\nTHF-40,2\n").json()["upload"]
    path = f"{lab.path}/observations/retractions"
    problem(lab.client.post(path, json={"upload": upload}), 422, "invalid-input")
    problem(lab.client.post(path, json={"upload": 999, "reason": "?"}), 404, "observation-not-found")
    retracted = lab.client.post(path, json={"upload": upload, "reason": "the sheet of another study"})
    assert retracted.json()["retracted"] == [2, 3]
    assert [observation["state"] for observation in lab.observations()] == ["recorded", "retracted", "retracted"]
    assert lab.is_sound()


@on_sqlite
def test_an_implausible_value_is_a_warning_that_can_be_made_a_refusal(lab: Lab) -> None:
    lab.begin().sheet("key,value\n" + "".join(f"THF-{t},{80 + t / 10}\n" for t in range(20, 80, 10)))
    slipped = {"candidate": "DMF-20", "value": 831.0}
    refused = problem(lab.send(slipped, implausible="refuse"), 422, "invalid-input")
    assert [finding["code"] for finding in refused["errors"]] == ["implausible-value"]
    assert [finding["code"] for finding in lab.send(slipped).json()["warnings"]] == ["implausible-value"]
    assert lab.send({"candidate": "DMF-30", "value": 95.0}).json()["warnings"] == []


@on_sqlite
def test_a_sheet_goes_out_and_comes_back_as_xlsx(bench: Lab) -> None:
    downloaded = bench.client.get(f"{bench.path}/batches/1/sheet", params={"format": "xlsx"})
    assert downloaded.headers["Content-Type"] == XLSX
    workbook = load_workbook(BytesIO(downloaded.content))
    sheet = workbook.active
    column = [cell.value for cell in sheet[1]].index("value") + 1
    sheet.cell(2, column, 83.1)
    percentage = sheet.cell(3, column, 0.715)
    percentage.number_format = "0.0%"
    file = BytesIO()
    workbook.save(file)
    sent = bench.client.post(f"{bench.path}/observations", content=file.getvalue(), headers={"Content-Type": XLSX})
    assert [result["value"] for result in sent.json()["results"]] == [83.1, 71.5], sent.text
    form = bench.client.post(f"{bench.path}/observations", files={"sheet": ("sheet.xlsx", file.getvalue())})
    assert form.json()["recorded"] == 0


@pytest.mark.parametrize(
    ("number_format", "cell", "understood"),
    [
        ('0.0" %"', 83.1, 83.1),
        ("0.0\\%", 83.1, 83.1),
        ("0.0_%", 83.1, 83.1),
        ("[$%-409]0.0", 83.1, 83.1),
        ('0.0"x"%', 0.715, 71.5),
        ('0.0%;"no %"-0.0', 0.715, 71.5),
        ('0.0%;"no %"-0.0', -5.5, -5.5),
        ("0.0;0.0;0%", 5.5, 5.5),
        ("[<1]0.0%;[Red]0%", 0.715, 71.5),
        ("[<1]0.0%;0.0", 0.715, None),
    ],
)
@on_sqlite
def test_only_a_percent_sign_that_scales_makes_a_percentage(
    bench: Lab, number_format: str, cell: float, understood: float | None
) -> None:
    workbook, file = Workbook(), BytesIO()
    workbook.active.append(["suggestion", "value"])
    workbook.active.append(["B1-S1", cell])
    workbook.active.cell(2, 2).number_format = number_format
    workbook.save(file)
    path, headers = f"{bench.path}/observations", {"Content-Type": XLSX}
    sent = bench.client.post(path, content=file.getvalue(), headers=headers)
    if understood is None:
        assert problem(sent, 422, "invalid-input")["errors"][0]["row"] == 2
    else:
        assert [result["value"] for result in sent.json()["results"]] == [understood], sent.text


@pytest.mark.parametrize(
    ("unit", "written", "is_same"),
    [
        ("mPa", "MPa", False),
        ("Pa", "pA", False),
        ("kg", "kG", False),
        ("mmol", "Mmol", False),
        ("mL", "ml", True),
        ("percent", "Percent", True),
        ("µL", "μl", True),
        ("per cent", "Per Cent", True),
        ("°C", "℃", True),
    ],
)
@on_sqlite
def test_a_unit_in_a_value_or_a_header_is_the_studys_own_to_the_case(
    lab: Lab, unit: str, written: str, is_same: bool
) -> None:
    lab.begin(objective="yield", unit=unit).batch(min_size=2, max_size=2)
    for sheet in (f"suggestion,value\nB1-S1,5 {written}\n", f"suggestion,yield ({written})\nB1-S2,5\n"):
        sent = lab.sheet(sheet)
        if is_same:
            assert sent.json()["results"][0]["value"] == 5.0, sent.text
        else:
            assert problem(sent, 422, "invalid-input")["errors"][0]["code"] == "unit"


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x03\x04" + b"\0" * 200])
@on_sqlite
def test_what_is_no_spreadsheet_is_refused(bench: Lab, content: bytes) -> None:
    path, headers = f"{bench.path}/observations", {"Content-Type": XLSX}
    problem(bench.client.post(path, content=content, headers=headers), 422, "invalid-input")


@on_sqlite
def test_candidates_come_as_xlsx(lab: Lab) -> None:
    workbook, file = Workbook(), BytesIO()
    for row in (["key", "temperature", "dry"], ["A1", 90, True], ["A2", 100.5, False], [None, None, None]):
        workbook.active.append(row)
    workbook.save(file)
    lab.client.put(lab.path, json={})
    uploaded = lab.client.put(f"{lab.path}/candidates", content=file.getvalue(), headers={"Content-Type": XLSX})
    assert (uploaded.status_code, uploaded.json()["added"]) == (201, 2), uploaded.text
    assert lab.get("candidates/A2")["features"] == {"temperature": 100.5, "dry": False}


@on_sqlite
def test_a_mistake_in_a_list_of_results_is_named_with_its_position(lab: Lab) -> None:
    lab.begin().sheet("key,value\n" + "".join(f"THF-{t},{80 + t / 10}\n" for t in range(20, 80, 10)))
    sent = [{"candidate": "DMF-20", "value": 84.0}, {"candidate": "ZZZ", "value": 1.0}]
    [finding] = problem(lab.send({"observations": sent}), 422, "invalid-input")["errors"]
    assert (finding["code"], finding["pointer"]) == ("unknown-candidate", "/observations/1")
    sent = [{"candidate": "DMF-20", "value": 84.0}, {"candidate": "DMF-30", "value": 831.0}]
    [finding] = problem(lab.send({"observations": sent}, implausible="refuse"), 422, "invalid-input")["errors"]
    assert (finding["code"], finding["pointer"]) == ("implausible-value", "/observations/1")


@on_sqlite
def test_an_implausible_value_is_confirmed_by_sending_it_again(lab: Lab) -> None:
    lab.begin().sheet("key,value\n" + "".join(f"THF-{t},{80 + t / 10}\n" for t in range(20, 80, 10)))
    slipped = {"candidate": "DMF-20", "value": 831.0}
    refused = problem(lab.send(slipped, implausible="refuse"), 422, "invalid-input")
    assert "implausible=accept" in refused["detail"]
    assert "between 82 and 87" in refused["errors"][0]["message"]
    assert lab.send(slipped, implausible="accept").json()["recorded"] == 1
