"""What a person changes from the command line: previews that are confirmed, swaps, switches, settings; and a front."""

import csv
import json
from pathlib import Path

from nextbatch import Study, SyncConnection
from tests.cli.test_remote import Run, read_json, run, server, study

__all__ = ["run", "server", "study"]  # fixtures


def test_a_preview_says_how_to_confirm_it_and_exactly_that_batch_is_issued(
    run: Run, study: Study[SyncConnection]
) -> None:
    asked = ("ask", study.name, "--max-size", 3, "--where", "solvent = DMF")
    shown = run(*asked, "--preview").stdout
    preview = read_json(run(*asked, "--preview", "--json"))
    assert f"--confirm {preview['preview']}" in " ".join(shown.split())
    batch = read_json(run(*asked, "--confirm", preview["preview"], "--json"))
    assert [s["key"] for s in batch["suggestions"]] == [s["key"] for s in preview["suggestions"]]
    study.report({"key": "R1", "value": 1.0})
    refused = run(*asked, "--worker", "other", "--confirm", preview["preview"], code=1)
    assert "looked at" in str(refused.exception)


def test_a_batch_prints_what_its_terms_cost(run: Run, study: Study[SyncConnection]) -> None:
    for number in range(4):
        study.report({"key": f"R{number}", "value": float(number)})
    assert "`where` costs" in run("ask", study.name, "--max-size", 2, "--where", "solvent = DMF").stdout


def test_a_candidate_included_twice_is_measured_twice(run: Run, study: Study[SyncConnection]) -> None:
    done = run("ask", study.name, "--max-size", 3, "--include", "R5", "--include", "R5", "--json")
    first = read_json(done)["suggestions"][0]
    assert (first["key"], first["replicates"]) == ("R5", 2)


def test_a_sheet_has_wells_and_an_order(run: Run, study: Study[SyncConnection], tmp_path: Path) -> None:
    run("ask", study.name, "--wells", 6, "--sheet", "plate.csv", "--plate", "2x3", "--order-by", "solvent")
    with (tmp_path / "plate.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["well"] for row in rows] == ["A1", "A2", "A3", "B1", "B2", "B3"]
    assert [row["solvent"] for row in rows] == sorted(row["solvent"] for row in rows)


def test_what_is_not_in_stock_is_swapped_and_switched_off(run: Run, study: Study[SyncConnection]) -> None:
    first = study.ask(max_size=2)[0]
    swapped = run("swap", study.name, first.id.lower(), "--reason", "not in stock").stdout
    assert first.key not in {s.key for s in study.batch(1).pending}
    assert study.batch(1).pending[-1].key in swapped
    assert not study.candidate(first.key).available
    second = study.batch(1).pending[0]
    run("swap", study.name, second.id, "--reason", "not in stock", "--keep")
    assert study.candidate(second.key).available


def test_candidates_are_switched_by_key_or_condition(run: Run, study: Study[SyncConnection]) -> None:
    off = run("switch", study.name, "--off", "--where", "solvent = DMF", "--reason", "out of stock").stdout
    assert off == "4 candidates switched off; 4 are available.\n"
    assert {s["key"] for s in read_json(run("ask", study.name, "--json"))["suggestions"]} <= {"R0", "R2", "R4", "R6"}
    assert read_json(run("switch", study.name, "R1", "R3", "--on", "--json"))["available"] == 6
    run("switch", study.name, "--on", code=2)
    run("switch", study.name, "R1", "--on", "--where", "solvent = DMF", code=2)


def test_conditions_of_every_ask_are_kept_with_the_study(run: Run, study: Study[SyncConnection]) -> None:
    assert "changed: where" in run("change", study.name, "--where", "solvent = THF", "--reason", "this week").stdout
    assert {s["key"] for s in read_json(run("ask", study.name, "--json"))["suggestions"]} <= {"R0", "R2", "R4", "R6"}
    run("change", study.name, "--anywhere")
    assert study.refresh().configuration["where"] == []
    run("change", study.name, code=2)


def test_two_objectives_are_reported_by_name_and_make_a_front(run: Run, tmp_path: Path) -> None:
    objectives = [{"name": "yield", "direction": "maximize"}, {"name": "price", "direction": "minimize"}]
    (tmp_path / "settings.json").write_text(json.dumps({"objectives": objectives}))
    (tmp_path / "list.csv").write_text("key,t\nA,1\nB,2\nC,3\n")
    run("create", "cli-front", "--settings", "settings.json")
    run("upload", "cli-front", "list.csv")
    run("report", "cli-front", "A", "yield=80", "price=9")
    run("report", "cli-front", "B", "yield=70", "price=5", "--json")
    run("report", "cli-front", "C", "yield=60", "--json")
    run("report", "cli-front", "C", "price=7", "--json")
    shown = run("front", "cli-front").stdout
    assert "A" in shown
    assert [point["key"] for point in read_json(run("front", "cli-front", "--json"))["measured"]] == ["A", "B"]
    run("report", "cli-front", "A", "yield=80", "9", code=2)
    run("report", "cli-front", "A", "yield=80", "yield=81", code=2)
