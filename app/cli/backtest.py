"""Backtest a file whose results are known, on this machine: no server, and no study is left behind."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress

from app.domain.studies import Configuration, Direction, Objective
from nextbatch.commands.printing import console, errors, print_json
from nextbatch.commands.remote import AsJson
from nextbatch.display import plural

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.domain.candidates import ColumnKind, ColumnRole
    from app.modelling.simulating import KnownTable

MEDIA_TYPES = {
    ".csv": "text/csv",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".parquet": "application/vnd.apache.parquet",
    ".arrow": "application/vnd.apache.arrow.file",
}


def backtest(
    file: Annotated[Path, typer.Argument(help="Candidates with results: CSV, .xlsx.", exists=True, dir_okay=False)],
    objective: Annotated[str, typer.Option(help="The column of results.")] = "value",
    minimize: Annotated[bool, typer.Option("--minimize", help="Smaller values are better.")] = False,
    batch_size: Annotated[list[int] | None, typer.Option(help="A batch size; repeat for more.", min=1)] = None,
    seeds: Annotated[int, typer.Option(help="Studies to simulate for each batch size.", min=1, max=100)] = 10,
    measurements: Annotated[int | None, typer.Option(help="Measurements of each study.", min=1)] = None,
    within: Annotated[float | None, typer.Option(help="How close to the best is good enough.", min=0)] = None,
    attribute: Annotated[list[str] | None, typer.Option(help="A column not to model; repeat for more.")] = None,
    smiles: Annotated[list[str] | None, typer.Option(help="A column of molecules in SMILES; repeat for more.")] = None,
    settings: Annotated[Path | None, typer.Option(help="A JSON file with settings of a study.", exists=True)] = None,
    as_json: AsJson = False,
) -> None:
    """How many experiments will I need? Simulate studies on a file whose results are known."""
    from app.modelling.backtesting import Runs, result_of
    from app.modelling.simulating import simulate
    from app.services.workflows.backtest_job import BacktestForm, plan_of
    from app.services.workflows.list_backtest import configuration_of

    named = Objective(objective, direction=Direction.MINIMIZE if minimize else Direction.MAXIMIZE)
    form = BacktestForm(_settings_in(settings, named), seeds, tuple(batch_size or [5]), measurements, within)
    configuration = configuration_of(form)
    table = _read(file, configuration.objective.name, attribute or [], smiles or [])
    plan = plan_of(table, configuration, form)
    runs: Runs = {}
    with Progress(console=errors, transient=True) as bars:
        bar = bars.add_task("Simulating", total=plan.runs)
        for seed in range(plan.seeds):
            for size in plan.batch_sizes:
                measured = simulate(table, replace(configuration, seed=seed), size, plan.measurements)
                runs.setdefault(size, []).append(measured)
                bars.advance(bar)
    result = result_of(table, plan, runs)
    if as_json:
        print_json(result)
        return
    known = plural(result.candidates, "candidate")
    console.print(f"{known} with results; the best value is {result.best:g}.")
    for choice in result.choices:
        console.print(choice.words, soft_wrap=True)


def _settings_in(file: Path | None, objective: Objective) -> "Callable[[Configuration], Configuration]":
    """What makes a new study's settings those of the simulated ones: the objective, and what the file states."""
    from pydantic import ValidationError

    from app.api.problems import invalid_payload
    from app.api.schemas.forks import ForkSettings

    try:
        further = ForkSettings.model_validate_json(file.read_text() if file else "{}")
    except ValidationError as error:
        raise invalid_payload(error.errors()) from None
    return lambda configuration: further.over(replace(configuration, objectives=(objective,)))


def _read(file: Path, objective: str, attributes: list[str], smiles: list[str]) -> "KnownTable":
    """The candidates of the file that have a result."""
    from app.services.intake.columns import Declared
    from app.services.intake.limits import IntakeLimits
    from app.services.intake.uploads import Upload
    from app.services.workflows.list_backtest import read_known

    if file.suffix.lower() not in MEDIA_TYPES:
        raise ValueError(f"{file.name}: send a file that ends in {', '.join(MEDIA_TYPES)}.")
    roles: dict[str, ColumnRole] = dict.fromkeys(attributes, "attribute")
    kinds: dict[str, ColumnKind] = dict.fromkeys(smiles, "text")
    upload = Upload(MEDIA_TYPES[file.suffix.lower()], file, Declared(roles=roles, kinds=kinds), smiles=tuple(smiles))
    table, warnings = read_known(upload, objective, IntakeLimits())
    for warning in warnings:
        errors.print(f"  {warning.message}", style="yellow", markup=False)
    return table
