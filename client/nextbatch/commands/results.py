"""Results from the command line: list them, correct one, take one or a whole upload back. Nothing is ever erased."""

from typing import Annotated, Literal

import typer

from .. import Corrected, Observation
from ..display import plural
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
    outside_limits: Annotated[
        Literal["accept", "refuse"], typer.Option(help="What to do with a value outside the limits of its quantity.")
    ] = "refuse",
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Correct a result (`correct my-study 12 83.1 --reason "typing error"`). The old value is kept."""
    values = _corrected_values(value)
    with open_study(study, url, key) as opened:
        corrected = opened.correct(number, values, reason, outside_limits=outside_limits)
    _show(corrected, number, "corrected", as_json=as_json)


def retract(
    study: StudyName,
    reason: Reason,
    number: Annotated[
        int | None, typer.Argument(help="The result's number, as `nextbatch results` lists it.", min=1)
    ] = None,
    upload: Annotated[int | None, typer.Option(min=1, help="All that the report with this number brought.")] = None,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Take a result back, or with --upload all that one report brought: they are kept, but no longer count."""
    if (number is None) == (upload is None):
        raise typer.BadParameter("Give the number of a result, or --upload with the number of a report.")
    with open_study(study, url, key) as opened:
        if upload is not None:
            numbers = opened.retract_upload(upload, reason)
            _show_upload(upload, numbers, as_json=as_json)
        elif number is not None:
            [retracted] = opened.retract(number, reason)
            _show(retracted, number, "taken back", as_json=as_json)


def _show_upload(upload: int, numbers: tuple[int, ...], *, as_json: bool) -> None:
    if as_json:
        console.print_json(data={"upload": upload, "retracted": numbers})
        return
    console.print(f"{plural(len(numbers), 'result')} of report {upload} taken back. The right sheet can be sent now.")


def _row(result: Observation, names: list[str]) -> list[object]:
    values = [result.values[name].get("value") if name in result.values else None for name in names] or [result.value]
    when = f"{result.recorded_at:%Y-%m-%d %H:%M}"
    return [result.observation, result.key, *values, result.state, result.suggestion, when, result.note]


def measured_values(written: list[str]) -> list[float] | dict[str, float]:
    """Replicates such as `83.1 83.4`, or quantities by name such as `yield=83.1 purity=97`."""
    named = [value.rpartition("=")[::2] for value in written]
    names = [name.strip() for name, _ in named]
    try:
        numbers = [float(number) for _, number in named]
    except ValueError:
        numbers = []
    if numbers and not any(names):
        return numbers
    if len(numbers) != len(set(names)) or not all(names):
        raise typer.BadParameter("Write numbers, or numbers with their names, as in yield=83.1 purity=97.")
    return dict(zip(names, numbers, strict=True))


def _corrected_values(written: list[str]) -> float | dict[str, float]:
    values = measured_values(written)
    if isinstance(values, dict):
        return values
    if len(values) > 1:
        raise typer.BadParameter("Write one number, or numbers with their names, as in yield=83.1 purity=97.")
    return values[0]


def _show(corrected: Corrected, number: int, done: str, *, as_json: bool) -> None:
    if as_json:
        print_json(corrected)
        return
    console.print(f"Result {number} is {done}.")
    if corrected.affected_batches:
        batches = ", ".join(map(str, corrected.affected_batches))
        console.print(f"Batches chosen with the old value, which stay as issued: {batches}.")
