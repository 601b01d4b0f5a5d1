"""`nextbatch demo`: a simulated technician runs a whole study, live on the terminal."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.live import Live

from app.cli.demo.reaction import Reaction
from app.cli.demo.screen import Screen
from app.cli.demo.server import temporary_server
from nextbatch import Batch, Client, Objective, Study, SyncConnection
from nextbatch.commands.printing import console, spinner
from nextbatch.commands.remote import KeyOption, Url

NAME = "demo-reactions"
BENCH = 8  # measurements that the simulated technician can do at once


def demo(
    budget: Annotated[int, typer.Option(min=1, help="Number of measurements.")] = 60,
    pace: Annotated[float, typer.Option(min=0, help="Seconds per measurement.")] = 0.05,
    objectives: Annotated[int, typer.Option(min=1, max=2, help="1: the yield. 2: the yield and the price.")] = 1,
    hold: Annotated[bool | None, typer.Option(help="Keep the server and its page running at the end.")] = None,
    url: Url = None,
    key: KeyOption = None,
) -> None:
    """Screen 2,160 simulated reactions with a simulated technician, live."""
    with _server(url, key) as (client, temporary):
        study = _create_study(client, objectives)
        _run(study, budget, pace, objectives)
        (_print_front if objectives > 1 else _print_result)(study)
        if temporary and (console.is_terminal if hold is None else hold):
            _keep_serving()


@contextmanager
def _server(url: str | None, key: str | None) -> Iterator[tuple[Client, bool]]:
    """A client of the given server, or of a temporary one; and whether it is temporary."""
    if url is not None:
        with Client(url, key) as client:
            yield client, False
        return
    with temporary_server() as (address, admin_key), Client(address, admin_key) as client:
        console.print(f"Demo server: {address}/  key: {admin_key}", soft_wrap=True)
        yield client, True


def _create_study(client: Client, objectives: int) -> Study[SyncConnection]:
    description = "Simulated: which ligand, base, solvent, temperature and concentration give the best yield?"
    limits = {"low": 0.0, "high": 100.0}
    goals: list[Objective] = [
        {"name": "yield", "unit": "%", "direction": "maximize", "limits": limits},
        {"name": "price", "unit": "EUR", "direction": "minimize"},
    ]
    if objectives == 1:
        study = client.create_study(NAME, objective="yield", unit="%", limits=limits, description=description)
    else:
        study = client.create_study(f"{NAME}-2", objectives=goals, description=description)
    with spinner("Uploading the candidates"):
        study.upload(Reaction().candidates())
    return study


def _run(study: Study[SyncConnection], budget: int, pace: float, objectives: int) -> None:
    """Ask, measure, report, until the budget is spent."""
    screen = Screen(f"{study.details.candidates} simulated reactions", budget)
    with Live(screen, console=console, refresh_per_second=12):
        while (remaining := budget - len(screen.best_so_far)) > 0:
            batch = study.ask(worker="demo", max_size=min(remaining, BENCH))
            screen.start(batch)
            _measure(batch, screen, pace, objectives)


def _measure(batch: Batch[SyncConnection], screen: Screen, pace: float, objectives: int) -> None:
    reaction = Reaction()
    for suggestion in batch.pending:
        time.sleep(pace * suggestion.replicates)
        repeats = range(1, suggestion.replicates + 1)
        values = [reaction.measure(suggestion, batch.number * 1000 + repeat) for repeat in repeats]
        priced = [{"yield": value, "price": reaction.price(suggestion)} for value in values]
        suggestion.report(values if objectives == 1 else priced, measured_by="a simulated technician")
        screen.add(suggestion.id, suggestion.key, values)


def _print_result(study: Study[SyncConnection]) -> None:
    """What the study found, compared with the truth that only the simulation knows."""
    reaction = Reaction()
    console.print(str(study.overview()), markup=False, soft_wrap=True)
    truth = {candidate["key"]: reaction.truth(candidate) for candidate in reaction.candidates()}
    found, best_key = study.best(), reaction.best()["key"]
    if found is not None:
        rank = 1 + sum(value > truth[found.key] for value in truth.values())
        console.print(
            f"In the simulation, {best_key} is best with {truth[best_key]:.1f} %. {found.key} truly yields "
            f"{truth[found.key]:.1f} %: rank {rank} of {len(truth)}.",
            soft_wrap=True,
        )


def _print_front(study: Study[SyncConnection]) -> None:
    """The best compromises between yield and price, cheapest first."""
    front = study.front()
    console.print(str(front), soft_wrap=True)
    for point in sorted(front.measured, key=lambda point: point.values["price"]):
        console.print(f"{point.key}: {point.values['yield']:.1f} % for {point.values['price']:.2f} EUR", soft_wrap=True)


def _keep_serving() -> None:
    console.print("The server keeps running. Press Ctrl-C to stop it and to delete its data.")
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        console.print("Stopped.")
