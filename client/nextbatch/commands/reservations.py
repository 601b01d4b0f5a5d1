"""Reservations from the command line: candidates that somebody will measure without a batch."""

from typing import Annotated

import typer

from .. import Reservation
from .printing import console, print_json, table
from .remote import AsJson, KeyOption, StudyName, Url, open_study

ReasonOption = Annotated[str | None, typer.Option(help="Kept in the ledger.")]


def reserve(
    study: StudyName,
    candidates: Annotated[list[str] | None, typer.Argument(help="Keys of candidates; without any, list them.")] = None,
    worker: Annotated[str, typer.Option(help="Who will measure them.")] = "default",
    reason: ReasonOption = None,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Reserve candidates that you will measure without a batch, or list all reservations."""
    with open_study(study, url, key) as opened:
        reserved = opened.reserve(candidates, worker, reason=reason) if candidates else opened.reservations()
    _show(reserved, as_json=as_json)


def release(
    study: StudyName,
    candidate: Annotated[str, typer.Argument(help="The key of a candidate.")],
    reason: ReasonOption = None,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Release a reserved candidate."""
    with open_study(study, url, key) as opened:
        _show(opened.release(candidate, reason=reason), as_json=as_json)


def _show(reserved: list[Reservation], *, as_json: bool) -> None:
    if as_json:
        print_json(reserved)
        return
    if not reserved:
        console.print("Nothing is reserved.")
        return
    rows = ([r.key, r.worker, f"{r.reserved_at:%Y-%m-%d %H:%M}", r.reason] for r in reserved)
    console.print(table(["candidate", "worker", "since", "reason"], rows))
