"""Results from the command line: list them, correct one, take one back. Nothing is ever erased."""

from typing import Annotated

import typer

from .. import Corrected, Observation
from .printing import console, print_json, spinner, table
from .remote import AsJson, KeyOption, StudyName, Url, open_study

Number = Annotated[int, typer.Argument(help="The result's number, as `nextbatch results` lists it.", min=1)]
Reason = Annotated[str, typer.Option(help="Why; it is kept with the result.", show_default=False)]


def list_results(
    study: StudyName,
    candidate: Annotated[str | None, typer.Option(help="Only those of the candidate with this key.")] = None,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """List the results of a study with their numbers."""
    with open_study(study, url, key) as opened, spinner("Reading"):
        listed = opened.observations(candidate=candidate)
    if as_json:
        print_json(listed)
        return
    names = list(dict.fromkeys(name for result in listed for name in result.values))
    header = ["", "candidate", *(names or ["value"]), "state", "suggestion", "reported", "note"]
    console.print(table(header, (_row(result, names) for result in listed)))


def correct(
    study: StudyName,
    number: Number,
    value: Annotated[list[str], typer.Argument(help="The right value; of several quantities, as in purity=97.")],
    reason: Reason,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Correct a result (`correct my-study 12 83.1 --reason "typing error"`). The old value is kept."""
    values = _values(value)
    with open_study(study, url, key) as opened:
        corrected = opened.correct(number, values, reason)
    _show(corrected, number, "corrected", as_json=as_json)


def retract(
    study: StudyName,
    number: Number,
    reason: Reason,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Take a result back: it is kept, but it no longer counts."""
    with open_study(study, url, key) as opened:
        [retracted] = opened.retract(number, reason)
    _show(retracted, number, "taken back", as_json=as_json)


def _row(result: Observation, names: list[str]) -> list[object]:
    values = [result.values[name].get("value") if name in result.values else None for name in names] or [result.value]
    when = f"{result.recorded_at:%Y-%m-%d %H:%M}"
    return [result.observation, result.key, *values, result.state, result.suggestion, when, result.note]


def _values(written: list[str]) -> float | dict[str, float]:
    """`83.1`, or quantities by name such as `yield=83.1 purity=97`."""
    named = dict(value.rpartition("=")[::2] for value in written)
    try:
        numbers = {name.strip(): float(number) for name, number in named.items()}
    except ValueError:
        numbers = {}
    if len(numbers) != len(written) or ("" in numbers and len(numbers) > 1):
        raise typer.BadParameter("Write one number, or numbers with their names, as in yield=83.1 purity=97.")
    return numbers.get("", numbers)


def _show(corrected: Corrected, number: int, done: str, *, as_json: bool) -> None:
    if as_json:
        print_json(corrected)
        return
    console.print(f"Result {number} is {done}.")
    if corrected.affected_batches:
        batches = ", ".join(map(str, corrected.affected_batches))
        console.print(f"Batches chosen with the old value, which stay as issued: {batches}.")
