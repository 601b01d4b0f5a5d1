"""Ask, report, correct, by either client."""

from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest

from nextbatch import Best, Conflict, InvalidInput
from tests.client.conftest import ROWS


def test_the_same_worker_gets_its_open_batch_again(study: Any) -> None:
    batch = study.ask(worker="bench-1", min_size=1, max_size=2)
    assert study.ask(worker="bench-1").number == batch.number
    assert study.ask(worker="bench-2", max_size=1).number == batch.number + 1
    assert [details.number for details in study.batches(worker="bench-1", state="open")] == [batch.number]
    assert {pending.key for pending in study.bench("bench-1")} == {suggestion.key for suggestion in batch}


def test_a_suggestion_knows_its_candidate_and_why(study: Any) -> None:
    suggestion = study.ask(max_size=1).suggestions[0]
    assert suggestion["temperature"] == suggestion.features["temperature"]
    assert suggestion.why.words
    assert suggestion.key in repr(suggestion)


def test_a_suggestion_is_reported_once_however_often_it_is_said(study: Any) -> None:
    suggestion = study.ask(max_size=1).suggestions[0]
    assert suggestion.report(0.83, note="yellow", measured_by="Ada").recorded == 1
    assert suggestion.report(0.83).results[0].status == "duplicate"
    with pytest.raises(Conflict) as refused:
        suggestion.report(0.84)
    assert refused.value.code == "already-observed"
    assert refused.value.errors[0].message


def test_a_failed_suggestion_without_retry_switches_its_candidate_off(study: Any) -> None:
    first, second = study.ask(max_size=2).suggestions
    first.failed("vial broke")
    second.failed("does not dissolve", retry=False)
    assert study.candidate(first.key).available
    assert not study.candidate(second.key).available


def test_an_abandoned_suggestion_takes_a_late_result(study: Any) -> None:
    batch = study.ask(max_size=1)
    batch.suggestions[0].abandon("no time")
    batch.refresh()
    assert (batch.state, batch.pending) == ("closed", ())
    assert batch.suggestions[0].report(0.5).recorded == 1


def test_a_batch_is_reported_by_key_and_closed(study: Any) -> None:
    batch = study.ask(max_size=3)
    first = batch.suggestions[0]
    assert batch.report({first.key: [0.7] * first.replicates}).recorded == first.replicates
    batch.close("end of the day")
    assert batch.state == "closed"
    assert study.batch(batch.number)[first.key].state == "observed"
    with pytest.raises(KeyError, match="does not suggest"):
        batch.report({"nothing": 1.0})


def test_a_sheet_goes_out_and_comes_back_as_a_frame(study: Any, tmp_path: Path) -> None:
    batch = study.ask(max_size=3)
    text = batch.sheet(tmp_path / "sheet.csv", bom=True)
    assert text.startswith("\ufeffsuggestion,")
    sheet = pd.read_csv(tmp_path / "sheet.csv", encoding="utf-8-sig")
    sheet["value"] = 0.6
    assert not study.report(sheet, dry_run=True).stored
    assert study.report(sheet).recorded == len(sheet)


def test_a_sheet_with_decimal_commas_comes_back(study: Any, tmp_path: Path) -> None:
    header, *rows = study.ask(max_size=2).sheet(decimal="comma").splitlines()
    place = header.split(";").index("value")
    filled = [";".join([*row.split(";")[:place], "0,25", *row.split(";")[place + 1 :]]) for row in rows]
    (tmp_path / "filled.csv").write_text("\n".join([header, *filled]))
    study.report(tmp_path / "filled.csv")
    assert {observation.value for observation in study.observations()} == {0.25}


def test_rows_of_a_wrong_sheet_are_named(study: Any, tmp_path: Path) -> None:
    (tmp_path / "wrong.csv").write_text("key,value\nA1,0.5\nA2,much\nZ9,0.5\n")
    with pytest.raises(InvalidInput) as refused:
        study.report(tmp_path / "wrong.csv")
    assert refused.value.errors[0].row == 3
    assert not study.observations()


def test_unsolicited_results_are_welcome_and_repeated_ones_can_be_skipped(study: Any) -> None:
    history = [{"key": "A1", "value": 0.4}, {"candidate": "A2", "values": [0.5, 0.6], "note": "old"}]
    assert study.report(history).recorded == 3
    assert study.report(history[0], duplicates="skip").results[0].status == "duplicate"
    assert [observation.value for observation in study.observations(candidate="A2")] == [0.5, 0.6]


def test_a_value_is_corrected_and_retracted_with_a_reason(study: Any) -> None:
    study.report([{"key": "A1", "value": 0.4}, {"key": "A2", "value": 0.5}])
    first, second = study.observations()
    assert study.correct(first, 0.45, "wrong line").observation.version == 2
    with pytest.raises(Conflict) as refused:
        study.correct(first, 0.46, "did not look")
    assert refused.value.code == "precondition-failed"
    [taken_back] = study.retract(second.observation, "wrong vial")
    assert taken_back.observation.state == "retracted"
    assert len(study.observations(versions="all")) == 4
    assert list(study.observations(as_frame=True)["state"]) == ["recorded", "retracted"]


def test_how_it_stands(study: Any) -> None:
    assert study.best() is None
    assert study.certificate().certificate is None
    study.report([{"key": "A1", "value": 0.4}, {"key": "A2", "value": 0.9}])
    assert study.best() == Best("A2", 0.9, 1, {"temperature": 80.0, "solvent": "THF"})
    assert study.summary().counts.observations == 2
    assert study.summary(as_of=1).counts.observations == 0
    assert study.certificate().certificate.regret_bound >= 0
    assert [point.best for point in study.trace().progress] == [0.4, 0.9]


def test_the_model_tells_what_matters_and_which_results_surprise(study: Any) -> None:
    assert str(study.diagnostics()) == "Nothing has been learnt yet."
    study.report([{"key": row["key"], "value": row["temperature"] / 100} for row in ROWS])
    diagnostics = study.diagnostics()
    assert {result.key for result in diagnostics.leave_one_out} == {row["key"] for row in ROWS}
    assert {column.name for column in diagnostics.columns} == {"temperature", "solvent"}
    assert all(point.lower <= point.mean <= point.upper for column in diagnostics.columns for point in column.slice)
    assert diagnostics.outliers == ()
    assert "temperature" in str(diagnostics)


def test_the_ledger_is_sound_and_batches_replay(study: Any) -> None:
    number = study.ask(max_size=2).number
    assert study.verify().sound
    assert study.replay(number).equal
    assert study.history()[-1].type == "batch-issued"
    assert study.history(after=1)[0].seq == 2


def test_an_implausible_value_can_be_refused_until_it_is_confirmed(study: Any) -> None:
    batch = study.ask(min_size=2, max_size=2)
    first, second = batch.suggestions
    other = next(candidate.key for candidate in study.candidates() if candidate.key not in (first.key, second.key))
    study.report([{"key": other, "value": 0.8 + number / 100} for number in range(5)])
    attempts = [
        lambda judgement: first.report([83.0] * first.replicates, implausible=judgement),
        lambda judgement: batch.report({second.key: [83.0] * second.replicates}, implausible=judgement),
        lambda judgement: study.report({"key": other, "value": 83.0}, implausible=judgement),
    ]
    for attempt in attempts:
        with pytest.raises(InvalidInput) as refused:
            attempt("refuse")
        assert {finding.code for finding in refused.value.errors} == {"implausible-value"}
    assert len(study.observations()) == 5
    for attempt in attempts:
        assert attempt("accept").recorded


def test_a_value_outside_its_limits_is_refused_until_it_is_confirmed(client: Any) -> None:
    limited = {"name": "yield", "direction": "maximize", "limits": {"low": 0, "high": 100}}
    study = client.create_study(f"limited-{uuid4().hex[:8]}", objectives=[limited])
    study.upload([{"key": f"L{number}", "t": number} for number in range(6)])
    batch = study.ask(min_size=2, max_size=2)
    first, second = batch.suggestions
    other = next(f"L{number}" for number in range(6) if f"L{number}" not in (first.key, second.key))
    study.report({"key": other, "value": 50.0})
    attempts = [
        lambda **judgement: first.report([101.0] * first.replicates, **judgement).recorded,
        lambda **judgement: batch.report({second.key: [101.0] * second.replicates}, **judgement).recorded,
        lambda **judgement: study.report({"key": other, "value": 102.0}, **judgement).recorded,
        lambda **judgement: study.correct(1, 103.0, "typing error", **judgement).observation,
    ]
    for attempt in attempts:
        with pytest.raises(InvalidInput) as refused:
            attempt()
        assert {finding.code for finding in refused.value.errors} == {"outside-limits"}
    for attempt in attempts:
        assert attempt(outside_limits="accept")


def test_a_sheet_is_written_as_a_spreadsheet_if_its_name_says_so(study: Any, tmp_path: Path) -> None:
    batch = study.ask(max_size=1)
    assert batch.sheet(tmp_path / "sheet.xlsx").startswith("suggestion,")
    assert (tmp_path / "sheet.xlsx").read_bytes().startswith(b"PK")


def test_several_quantities_are_reported_by_name_and_make_a_front(client: Any) -> None:
    study = client.create_study(
        f"study-{uuid4().hex[:12]}",
        objectives=[{"name": "yield", "direction": "maximize"}, {"name": "price", "direction": "minimize"}],
        constraints=[{"name": "purity", "at_least": 90}],
    )
    study.upload(ROWS)
    for suggestion in study.ask(min_size=3, max_size=3):
        hot = suggestion["temperature"]
        assert suggestion.report({"yield": hot, "price": hot / 2}).results[0].status == "recorded"
        assert suggestion.report({"purity": {"value": 95.0, "std": 0.3}}).results[0].status == "completed"
    repeated = {"key": "A1", "replicates": [{"yield": 1.0, "price": 90.0}] * 2}
    assert study.report([repeated], dry_run=True).recorded == 2
    front = study.front()
    assert {point.key for point in front.measured} == {row.key for row in study.observations() if not row.missing}
    assert str(front).startswith("On the front: ")
    frame = study.observations(as_frame=True)
    assert list(frame["price"][:3] * 2) == list(frame["yield"][:3])
    assert study.summary().front.possible == front.possible
    corrected = study.correct(1, {"price": 3.0}, "wrong invoice").observation
    assert corrected.values["price"]["value"] == 3.0
    first = study.front(as_of=study.observations()[1].seq)
    assert len(first.measured) < len(front.measured)


def test_several_results_are_taken_back_at_once(study: Any) -> None:
    study.report([{"key": f"A{number}", "value": 0.1 * number} for number in (1, 2, 3)])
    first, second, _ = study.observations()
    study.retract([first, second.observation], "wrong plate")
    assert [result.state for result in study.observations()] == ["retracted", "retracted", "recorded"]


def test_a_suggestion_is_found_by_its_position_or_key(study: Any) -> None:
    batch = study.ask(worker="bench-1", min_size=2, max_size=2)
    assert batch[0].id == "B1-S1"
    assert batch[-1].id == batch[batch.suggestions[1].key].id == "B1-S2"
    with pytest.raises(IndexError):
        batch[2]


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_value_that_is_not_a_number_is_refused_with_its_place(study: Any, number: float) -> None:
    with pytest.raises(InvalidInput) as refused:
        study.report([{"key": "A1", "value": 0.5}, {"key": "A2", "value": number}])
    [finding] = refused.value.errors
    assert (refused.value.code, finding.pointer) == ("not-finite", "/observations/1/value")
    with pytest.raises(InvalidInput, match="not a finite number"):
        study.ask(worker="bench-2", max_size=1)[0].report(number)
    assert study.observations() == []
