"""`nextbatch demo`"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer
from rich.live import Live

from app.cli.connecting import Key, Url
from app.cli.demo.hosting import hosted
from app.cli.demo.reaction import Reaction
from app.cli.demo.screen import Screen
from app.cli.printing import console, waiting
from nextbatch import Batch, Blocking, Client, Study

NAME = "demo-reactions"


def demo(
    budget: Annotated[int, typer.Option(min=1, help="Measurements to make.")] = 60,
    pace: Annotated[float, typer.Option(min=0, help="Seconds that one measurement takes.")] = 0.05,
    hold: Annotated[bool | None, typer.Option(help="Keep the server and its page at the end.")] = None,
    url: Url = None,
    key: Key = None,
) -> None:
    """Screen 2,160 simulated reactions with a simulated technician, live."""
    with _server(url, key) as (client, own):
        study = _study(client)
        _perform(study, budget, pace)
        _conclude(study)
        if own and (console.is_terminal if hold is None else hold):
            _keep_serving()


@contextmanager
def _server(url: str | None, key: str | None) -> Iterator[tuple[Client, bool]]:
    """A client of the given server, or of one for the time of the demo."""
    if url is not None:
        with Client(url, key) as client:
            yield client, False
        return
    with hosted() as (address, admin), Client(address, admin) as client:
        console.print(f"A server for this demo: {address}/  key {admin}", soft_wrap=True)
        yield client, True


def _study(client: Client) -> Study[Blocking]:
    about = "Simulated: which ligand, base, solvent, temperature and concentration give the best yield?"
    study = client.create_study(NAME, objective="yield", unit="%", description=about)
    with waiting("Uploading the candidates"):
        study.upload(Reaction().candidates())
    return study


def _perform(study: Study[Blocking], budget: int, pace: float) -> None:
    """Ask, measure, report, until the budget is spent."""
    screen = Screen(f"{study.details.candidates} simulated reactions", budget)
    with Live(screen, console=console, refresh_per_second=12):
        while (left := budget - len(screen.best)) > 0:
            batch = study.ask(worker="demo", max_size=left)
            screen.begin(batch)
            _measure(batch, screen, pace)


def _measure(batch: Batch[Blocking], screen: Screen, pace: float) -> None:
    reaction = Reaction()
    for suggestion in batch.pending:
        time.sleep(pace * suggestion.replicates)
        repeats = range(1, suggestion.replicates + 1)
        values = [reaction.measure(suggestion, batch.number * 1000 + repeat) for repeat in repeats]
        suggestion.report(values, measured_by="a simulated technician")
        screen.take(suggestion.id, suggestion.key, values)


def _conclude(study: Study[Blocking]) -> None:
    """What was found, beside what only the simulation knows."""
    reaction = Reaction()
    console.print(str(study.overview()), markup=False, soft_wrap=True)
    truth = {one["key"]: reaction.truth(one) for one in reaction.candidates()}
    found, best = study.best(), reaction.best()
    if found is not None:
        rank = 1 + sum(value > truth[found.key] for value in truth.values())
        console.print(
            f"The simulation knows: {best['key']} is best ({truth[best['key']]:.1f} %); {found.key} truly gives "
            f"{truth[found.key]:.1f} %, place {rank} of {len(truth)}.",
            soft_wrap=True,
        )


def _keep_serving() -> None:
    console.print("The server stays; Ctrl-C ends it, and its data with it.")
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        console.print("Ended.")
