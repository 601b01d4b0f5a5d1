"""A study at a glance: for dashboards, now or as it was at an earlier event."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.batches import Batch
from app.domain.clock import stamp
from app.domain.errors import Invalid
from app.domain.findings import Finding
from app.domain.studies import Direction, Study
from app.services import stopping, studies
from app.services.bridge.views import View
from app.services.candidate_set import CandidateSet
from app.services.resources import Resources
from app.services.tally import Tally
from app.services.transactions import Reading
from app.storage import batches as batch_rows

MOST_POINTS = 2_000


@dataclass(frozen=True)
class OpenBatch:
    batch: Batch
    pending: int
    overdue: bool


@dataclass(frozen=True)
class Summary:
    study: Study
    tally: Tally
    finished: str | None
    best_observed: dict[str, Any] | None
    best_predicted: dict[str, Any] | None
    certificate: dict[str, Any] | None
    open_batches: tuple[OpenBatch, ...]


def head(
    connection: Connection, actor: Actor, resources: Resources, name: str, as_of: int | None
) -> tuple[Study, Tally]:
    """The study and what its ledger says, now or up to an earlier event."""
    study = studies.find(connection, actor, name)
    if as_of is not None and as_of > study.seq:
        raise Invalid([Finding("as_of", "The ledger does not reach that far yet.")])
    return study, resources.models.tally(connection, study, as_of)


def view_of(resources: Resources, study: Study, tally: Tally) -> View | None:
    """The posterior; None while there is nothing to have one of."""
    return View(resources.models.at(study, tally)) if tally.blocks else None


def summarize(resources: Resources, read: Reading, name: str, as_of: int | None = None) -> Summary:
    study, tally = read(head, resources, name, as_of)
    view = view_of(resources, study, tally)
    predicted = view.best_predicted() if view is not None else None
    sure = view.certificate() if view is not None and len(tally.values) else None
    observed = _best_observed(tally)
    keys = read(_keys, resources, study, [part["candidate"] for part in (observed, predicted) if part])
    keys |= read(_keys, resources, study, [sure["recommended"]] if sure else [])
    return Summary(
        study,
        tally,
        stopping.reached(tally, view),
        _named(observed, keys),
        _named(predicted, keys),
        {**sure, "key": keys[sure["recommended"]]} if sure else None,
        read(_open, study, tally),
    )


def progress(tally: Tally) -> list[dict[str, Any]]:
    """Every value in the order it came and the best so far, thinned for a chart; changes of the best always stay."""
    numbers = np.flatnonzero(tally.alive)
    if not len(numbers):
        return []
    values = tally.values[numbers]
    best = _better(tally).accumulate(values)
    step = max(1, -(-len(values) // MOST_POINTS))
    kept = np.zeros(len(values), dtype=bool)
    kept[::step] = True
    kept[-1] = True
    kept[1:] |= best[1:] != best[:-1]
    return [
        {
            "observation": int(numbers[i]) + 1,
            "candidate": int(tally.candidates[numbers[i]]),
            "value": float(values[i]),
            "best": float(best[i]),
        }
        for i in np.flatnonzero(kept)
    ]


def _better(tally: Tally) -> np.ufunc:
    return np.fmax if tally.configuration.direction is Direction.MAXIMIZE else np.fmin


def _best_observed(tally: Tally) -> dict[str, Any] | None:
    """The measured candidate whose values are best on average."""
    alive = tally.alive
    if not alive.any():
        return None
    measured, place = np.unique(tally.candidates[alive], return_inverse=True)
    counts = np.bincount(place)
    with np.errstate(over="ignore"):
        means = np.bincount(place, weights=tally.values[alive] / counts[place])
    sign = 1.0 if tally.configuration.direction is Direction.MAXIMIZE else -1.0
    best = int(np.argmax(sign * means))
    return {
        "candidate": int(measured[best]),
        "mean": float(np.nan_to_num(means[best])),
        "measurements": int(counts[best]),
    }


def _keys(
    connection: Connection, _actor: Actor, resources: Resources, study: Study, numbers: list[int]
) -> dict[int, str]:
    return dict(zip(numbers, CandidateSet(connection, resources.arrays, study).keys(numbers), strict=True))


def _named(part: dict[str, Any] | None, keys: dict[int, str]) -> dict[str, Any] | None:
    return {**part, "key": keys[part["candidate"]]} if part else None


def _open(connection: Connection, _actor: Actor, study: Study, tally: Tally) -> tuple[OpenBatch, ...]:
    """The batches that are waited for, by the tally: so also those of an earlier moment."""
    waiting = [batch for batch, _ in tally.pending]
    found = batch_rows.those(connection, study, waiting)
    hours = tally.configuration.overdue_hours
    deadline = stamp(datetime.now(UTC) - timedelta(hours=hours)) if hours else ""
    return tuple(OpenBatch(batch, waiting.count(batch.number), batch.created_at < deadline) for batch in found)
