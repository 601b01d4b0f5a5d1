"""`nextbatch backtest FILE`: a forecast without a server."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.cli import command

ROWS = [(t, s, 90 - abs(t - 70) + 5 * (s == "DMF")) for t in range(20, 120, 10) for s in ("DMF", "THF")]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = [f"{t},{s},{y},note {t}" for t, s, y in ROWS]
    (tmp_path / "known.csv").write_text("\n".join(["temperature,solvent,yield,remark", *lines, "130,DMF,,"]) + "\n")
    return tmp_path / "known.csv"


def test_a_file_with_results_gives_a_forecast(file: Path) -> None:
    arguments = ["--objective", "yield", "--attribute", "remark", "--seeds", "2", "--batch-size", "4", "--json"]
    done = CliRunner().invoke(command, ["backtest", str(file), *arguments])
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert (result["candidates"], result["best"]) == (20, 95.0)
    assert {choice["choice"] for choice in result["choices"]} == {"study", "random"}
    assert list(file.parent.iterdir()) == [file]  # nothing else was written


def test_a_forecast_for_people_names_the_numbers(file: Path) -> None:
    arguments = ["--objective", "yield", "--attribute", "remark", "--seeds", "1", "--minimize", "--measurements", "10"]
    done = CliRunner().invoke(command, ["backtest", str(file), *arguments])
    assert done.exit_code == 0, done.output
    assert "20 candidates with results; the best value is 40" in done.stdout
    assert "Random choice" in done.stdout


@pytest.mark.parametrize(("arguments", "told"), [(["--objective", "yeild"], "yeild"), ([], "value")])
def test_a_column_of_results_that_is_not_there_is_named(file: Path, arguments: list[str], told: str) -> None:
    done = CliRunner().invoke(command, ["backtest", str(file), *arguments])
    assert done.exit_code != 0
    findings = getattr(done.exception, "findings", ())
    assert findings[0].column == told
    assert findings[0].code == "unknown-column"


def test_the_studies_are_simulated_under_the_settings_of_a_file(file: Path) -> None:
    (file.parent / "settings.json").write_text('{"algorithm": "uniform"}')
    arguments = ["--objective", "yield", "--attribute", "remark", "--seeds", "3", "--json"]
    forecasts = []
    for further in ([], ["--settings", "settings.json"], ["--settings", "settings.json"]):
        done = CliRunner().invoke(command, ["backtest", str(file), *arguments, *further])
        assert done.exit_code == 0, done.output
        forecasts.append(json.loads(done.stdout))
    assert forecasts[0] != forecasts[1] == forecasts[2]
