"""The remote commands against a real server: what they print, and how they end."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from typer.testing import CliRunner, Result

from app.cli import command, main
from nextbatch import Client, Study, SyncConnection
from tests import live
from tests.live import Live

CSV = "key,temperature,solvent,maker\n" + "".join(f"R{n},{20 + n},{'DMF' if n % 2 else 'THF'},Acme\n" for n in range(8))

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, migrated_sqlite: Path) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("cli")
    path = folder / "nextbatch.sqlite3"
    path.write_bytes(migrated_sqlite.read_bytes())
    with live.running(f"sqlite:///{path}", folder) as running:
        yield running


@pytest.fixture
def run(server: Live, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in a folder of its own; it must end as `code` says."""
    monkeypatch.chdir(tmp_path)
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)

    def run(*arguments: object, code: int = 0, typed: str | None = None) -> Result:
        done = CliRunner().invoke(command, [str(argument) for argument in arguments], input=typed)
        assert done.exit_code == code, done.output + repr(done.exception)
        return done

    return run


@pytest.fixture
def study(run: Run, server: Live, tmp_path: Path) -> Iterator[Study[SyncConnection]]:
    name = f"cli-{uuid4().hex[:8]}"
    (tmp_path / "candidates.csv").write_text(CSV)
    run("create", name, "--objective", "yield", "--unit", "%")
    run("upload", name, "candidates.csv", "--attribute", "maker")
    with Client(server.url, server.key) as client:
        yield client.study(name)


def read_json(done: Result) -> Any:
    return json.loads(done.stdout)


def test_studies_are_listed_for_people_and_for_scripts(run: Run, study: Study[SyncConnection]) -> None:
    assert study.name in run("studies").stdout
    assert study.name in [listed["name"] for listed in read_json(run("studies", "--json"))]


def test_a_study_is_created_with_more_settings_from_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"max_batch": 5}')
    assert "Study plain is ready: active, 0 candidates." in run("create", "plain").stdout
    made = read_json(run("create", "from-file", "--minimize", "--settings", "settings.json", "--json"))
    assert (made["configuration"]["direction"], made["configuration"]["max_batch"]) == ("minimize", 5)


def test_an_upload_says_what_it_would_do(run: Run, study: Study[SyncConnection], tmp_path: Path) -> None:
    (tmp_path / "more.csv").write_text("key,temperature,solvent,maker\nX1,99,DMF,Acme\n")
    checked = run("upload", study.name, "more.csv", "--append", "--dry-run").stdout
    assert "would have 9 candidates (1 from this file)" in checked
    assert read_json(run("upload", study.name, "more.csv", "--append", "--json"))["candidates"] == 9


def test_a_batch_is_printed(run: Run, study: Study[SyncConnection]) -> None:
    printed = run("ask", study.name, "--worker", "bench-1", "--max-size", 2).stdout
    asked = read_json(run("ask", study.name, "--worker", "bench-1", "--json"))
    assert all(suggestion["key"] in printed for suggestion in asked["suggestions"])


def test_one_result_is_reported_by_suggestion_or_key(run: Run, study: Study[SyncConnection]) -> None:
    asked = read_json(run("ask", study.name, "--max-size", 2, "--json"))["suggestions"]
    assert "recorded" in run("report", study.name, asked[0]["suggestion"], *[0.83] * asked[0]["replicates"]).stdout
    assert read_json(run("report", study.name, "R7", 0.5, "--note", "by hand", "--json"))["recorded"] == 1
    assert "failed" in run("report", study.name, asked[1]["suggestion"], "--failed", "vial broke").stdout


def test_results_are_listed_corrected_and_taken_back(run: Run, study: Study[SyncConnection]) -> None:
    run("report", study.name, "R1", 0.5)
    run("report", study.name, "R2", 0.7)
    listed = run("results", study.name).stdout
    assert [line.split()[:3] for line in listed.splitlines()[1:]] == [["1", "R1", "0.5"], ["2", "R2", "0.7"]]
    [only] = read_json(run("results", study.name, "--candidate", "R2", "--json"))
    assert (only["key"], only["value"]) == ("R2", 0.7)

    assert "Result 1 is corrected." in run("correct", study.name, 1, 0.6, "--reason", "typing error").stdout
    assert "Result 1 is corrected." in run("correct", study.name, 1, "yield=0.65", "--reason", "by name").stdout
    taken = read_json(run("retract", study.name, 2, "--reason", "wrong vial", "--json"))
    assert taken["observation"]["reason"] == "wrong vial"
    assert [(result.value, result.state) for result in study.observations()] == [(0.65, "recorded"), (0.7, "retracted")]


@pytest.mark.parametrize("value", [["high"], ["1", "2"], ["1", "yield=2"], ["yield=1", "yield=2"], ["=1", "2"], [""]])
def test_a_correction_that_is_no_value_is_wrong_usage(run: Run, value: list[str]) -> None:
    run("correct", "any", 1, *value, "--reason", "x", code=2)


@pytest.mark.parametrize(
    "arguments", [[], ["B3-S1"], ["B3-S1", "0.8", "--sheet", "x.csv"], ["B3-S1", "0.8", "--failed", "no"]]
)
def test_a_report_that_says_too_much_or_too_little_is_wrong_usage(run: Run, arguments: list[str]) -> None:
    run("report", "any", *arguments, code=2)


def fill(sheet: Path, value: str) -> None:
    header, *rows = sheet.read_text(encoding="utf-8-sig").splitlines()
    place = header.split(",").index("value")
    cells = [row.split(",") for row in rows]
    sheet.write_text("\n".join([header, *(",".join([*c[:place], value, *c[place + 1 :]]) for c in cells)]))


def test_a_sheet_goes_out_is_checked_confirmed_and_comes_in(
    run: Run, study: Study[SyncConnection], tmp_path: Path
) -> None:
    run("ask", study.name, "--sheet", "sheet.csv", "--max-size", 3, "--bom")
    fill(tmp_path / "sheet.csv", "0.5")
    refused = run("report", study.name, "--sheet", "sheet.csv", typed="n\n", code=1)
    assert "Would be reported" in refused.stdout
    assert not study.observations()
    run("report", study.name, "--sheet", "sheet.csv", typed="y\n")
    assert {observation.value for observation in study.observations()} == {0.5}
    again = run("report", study.name, "--sheet", "sheet.csv", "--yes")
    assert "duplicate" in again.stdout


def test_a_sheet_of_another_lab_is_mapped_taken_back_and_sent_right(
    run: Run, study: Study[SyncConnection], tmp_path: Path
) -> None:
    (tmp_path / "own.csv").write_text("Probe;Ausbeute\nR1;0,5\nR2;0,6\n")
    run("report", study.name, "--sheet", "own.csv", "--map", "Ausbeute", code=2)
    run("report", study.name, "--sheet", "own.csv", "--yes", code=1)
    told = run("report", study.name, "--sheet", "own.csv", "--map", "Probe=key", "--map", "Ausbeute=value", "--yes")
    upload = told.stderr.split("--upload ")[1].split()[0]
    run("retract", study.name, "--reason", "another study", code=2)
    run("retract", study.name, 1, "--upload", upload, "--reason", "another study", code=2)
    taken = run("retract", study.name, "--upload", upload, "--reason", "another study")
    assert "2 results" in taken.stdout
    assert [result.state for result in study.observations()] == ["retracted", "retracted"]


def test_a_sheet_with_other_values_is_offered_as_corrections(
    run: Run, study: Study[SyncConnection], tmp_path: Path
) -> None:
    run("ask", study.name, "--sheet", "sheet.csv", "--max-size", 3)
    fill(tmp_path / "sheet.csv", "0.5")
    report = ("report", study.name, "--sheet", "sheet.csv")
    run(*report, "--yes")
    fill(tmp_path / "sheet.csv", "0.25")
    run(*report, "--yes", code=1)
    stopped = run(*report, typed="\n", code=1)
    assert "corrected" in stopped.stdout
    assert {result.value for result in study.observations()} == {0.5}
    asked = run(*report, typed="read the wrong line\n")
    assert any(row.split()[-3:] == ["0.25", "0.5", "corrected"] for row in asked.stdout.splitlines())
    assert {(result.value, result.reason) for result in study.observations()} == {(0.25, "read the wrong line")}
    fill(tmp_path / "sheet.csv", "0.75")
    run(*report, "--yes", "--correct", "and again")
    assert {result.reason for result in study.observations()} == {"and again"}


def test_a_sheet_outside_the_limits_is_stored_if_a_person_confirms_it(
    run: Run, study: Study[SyncConnection], tmp_path: Path
) -> None:
    study.change(objectives=[{"name": "yield", "direction": "maximize", "limits": {"low": 0, "high": 1}}])
    (tmp_path / "high.csv").write_text("key,value\nR1,1.5\n")
    report = ("report", study.name, "--sheet", "high.csv")
    run(*report, "--yes", code=1)
    run(*report, "--outside-limits", "refuse", typed="y\ny\n", code=1)
    run(*report, typed="n\n", code=1)
    run(*report, typed="y\ny\n")
    assert [result.value for result in study.observations()] == [1.5]


def test_an_implausible_result_is_stored_only_if_a_person_confirms_it(run: Run, study: Study[SyncConnection]) -> None:
    study.report([{"key": f"R{number}", "value": 0.5 + number / 100} for number in range(5)])
    report = ("report", study.name, "R6", 83)
    asked = run(*report, typed="n\n", code=1)
    assert "lie between 0.5 and 0.54." in " ".join(asked.stderr.split())
    run(*report, code=1)  # nobody is there to answer
    run(*report, "--implausible", "refuse", code=1)
    assert len(study.observations()) == 5
    run(*report, typed="y\n")
    run("report", study.name, "R7", 83, "--yes")
    assert [observation.value for observation in study.observations()][5:] == [83, 83]


def test_a_value_outside_its_limits_is_stored_only_if_a_person_confirms_it(
    run: Run, server: Live, tmp_path: Path
) -> None:
    name = f"limited-{uuid4().hex[:8]}"
    with Client(server.url, server.key) as client:
        limited = {"name": "yield", "direction": "maximize", "limits": {"low": 0, "high": 100}}
        study = client.create_study(name, objectives=[limited])
        study.upload([{"key": f"L{number}", "t": number} for number in range(6)])
        report = ("report", name, "L1", 101)
        asked = run(*report, typed="n\n", code=1)
        assert "L1" in asked.stderr or "100" in asked.stderr
        run(*report, "--yes", code=1)
        run(*report, "--outside-limits", "refuse", code=1)
        sheet = tmp_path / "sheet.csv"
        sheet.write_text("key,value\nL2,102\n")
        run("report", name, "--sheet", sheet, typed="n\n", code=1)
        assert study.observations() == []
        run(*report, typed="y\n")
        run("report", name, "--sheet", sheet, typed="y\ny\n")
        run("report", name, "L3", 103, "--yes", "--outside-limits", "accept")
        run("correct", name, 1, 104, "--reason", "typing error", code=1)
        run("correct", name, 1, 104, "--reason", "typing error", "--outside-limits", "accept")
        assert [result.value for result in study.observations()] == [104, 102, 103]


def test_a_candidate_that_failed_for_good_is_not_suggested_again(run: Run, study: Study[SyncConnection]) -> None:
    run("report", study.name, "R1", "--failed", "stirrer stopped")
    run("report", study.name, "R2", "--failed", "tar", "--no-retry")
    available = {candidate.key: candidate.available for candidate in study.candidates()}
    assert (available["R1"], available["R2"]) == (True, False)
    run("report", study.name, "R3", 0.5, "--no-retry", code=2)


@pytest.mark.parametrize("option", ["--duplicates", "--implausible", "--outside-limits"])
def test_a_misspelled_choice_is_wrong_usage(run: Run, option: str) -> None:
    run("report", "any", "R1", 1, option, "nwe", code=2)


def test_the_status_has_a_chart(run: Run, study: Study[SyncConnection]) -> None:
    study.report([{"key": "R1", "value": 0.4}, {"key": "R2", "value": 0.9}])
    assert "best so far  ▁█" in run("status", study.name).stdout
    assert read_json(run("status", study.name, "--json"))["summary"]["best_observed"]["key"] == "R2"


def test_events_are_watched(run: Run, study: Study[SyncConnection]) -> None:
    assert "uploaded" in run("watch", study.name, "--after", 0, "--limit", 2).stdout
    lines = run("watch", study.name, "--after", 0, "--limit", 2, "--json").stdout.splitlines()
    assert [json.loads(line)["seq"] for line in lines] == [1, 2]


def test_a_study_is_verified_and_replayed(run: Run, study: Study[SyncConnection]) -> None:
    study.ask(max_size=1)
    assert "events are intact" in run("verify", study.name).stdout
    assert read_json(run("verify", study.name, "--json"))["sound"]
    assert "Batch 1: identical" in run("replay", study.name).stdout
    assert read_json(run("replay", study.name, 1, "--json"))[0]["equal"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["status", "nowhere"], 1, "study-not-found"),
        (["upload", "{study}", "bad.csv"], 1, "row 3, column temperature"),
        (["report", "{study}", "--sheet", "wrong.csv"], 1, "row 2"),
        (["studies", "--key", "nb_000000000000_wrong"], 1, "unauthenticated"),
        (["export", "{study}", "bad.csv"], 1, "nothing was overwritten"),
    ],
)
def test_an_error_is_a_clear_line_and_an_exit_code(
    run: Run,
    study: Study[SyncConnection],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    words: str,
) -> None:
    (tmp_path / "bad.csv").write_text("key,temperature\na,1\nb,\n")
    (tmp_path / "wrong.csv").write_text("key,value\nR1,much\n")
    monkeypatch.setattr("sys.argv", ["nextbatch", *(argument.format(study=study.name) for argument in arguments)])
    with pytest.raises(SystemExit) as ended:
        main()
    printed = capsys.readouterr().err
    assert ended.value.code == code
    assert words in " ".join(printed.split())
    assert "Traceback" not in printed


def test_a_server_that_is_not_there_ends_with_three(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("nextbatch.client.RETRIES.__class__.pauses", lambda _: iter(()))
    monkeypatch.setattr("sys.argv", ["nextbatch", "studies", "--url", "http://127.0.0.1:9", "--key", "nb_x"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 3
    assert "No answer from http://127.0.0.1:9" in " ".join(capsys.readouterr().err.split())


def test_costs_and_a_budget_from_the_command_line(run: Run, tmp_path: Path) -> None:
    name = f"cli-{uuid4().hex[:8]}"
    (tmp_path / "priced.csv").write_text("key,x,price\n" + "".join(f"R{n},{n},{n + 1}\n" for n in range(8)))
    run("create", name, "--budget", 20, "--cost-unit", "EUR")
    assert "cost" in run("upload", name, "priced.csv", "--cost", "price").output
    assert ", cost " in run("ask", name, "--budget", 9, "--preview").output
    batch = read_json(run("ask", name, "--budget", 9, "--max-size", 3, "--json"))
    assert 0 < sum(suggestion["cost"] * suggestion["replicates"] for suggestion in batch["suggestions"]) <= 9
    assert "of 20 EUR" in run("status", name).output


def test_a_candidate_is_reserved_and_released(run: Run, study: Study[SyncConnection]) -> None:
    assert "Nothing is reserved." in run("reserve", study.name).output
    reserved = run("reserve", study.name, "R1", "R2", "--worker", "bench-2", "--reason", "for the poster").output
    assert "bench-2" in reserved
    assert [entry["key"] for entry in read_json(run("release", study.name, "R1", "--json"))] == ["R2"]
    assert "not-reservable" not in run("reserve", study.name).output
    assert [reservation.key for reservation in study.reservations("bench-2")] == ["R2"]


def test_descriptors_come_in_files_of_their_own(run: Run, tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("key;ligand;heat\nA;XPhos;20\nB;PPh3;30\nC;XPhos;40\n")
    (tmp_path / "ligands.csv").write_text("ligand,cone angle,donor\nXPhos,256,0.3\nPPh3,145,0.1\n")
    (tmp_path / "heats.csv").write_text("heat,steps\n20,1\n30,2\n40,3\n")
    run("create", "described")
    files = ("--descriptors", "ligands.csv", "--descriptors", "heats.csv")
    receipt = read_json(run("upload", "described", "list.csv", *files, "--json"))
    assert [column["name"] for column in receipt["columns"]] == [
        "key",
        "ligand",
        "heat",
        "cone angle",
        "donor",
        "steps",
    ]
    run("create", "not-described")
    for content, words in (
        ("solvent,density\nTHF,1\n", "called solvent"),
        ("ligand,heat\nXPhos,1\nPPh3,2\n", "have heat, too"),
        ("ligand,size\nXPhos,1\nXPhos,2\n", "is there twice"),
        ("ligand,size\nXPhos,1\n", "no row for PPh3"),
    ):
        (tmp_path / "wrong.csv").write_text(content)
        refused = run("upload", "not-described", "list.csv", "--descriptors", "wrong.csv", code=2)
        assert words in " ".join(refused.output.replace("│", " ").split())
