"""What the ledger says, added up: the state of a study after any prefix of its events.

`Tally` is a frozen value; `after(tally, events)` gives the next. It is the only reading of events there is: asking,
replaying, looking at an earlier moment and importing all rest on it.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.domain.candidates import Column, columns_from
from app.domain.ledger import GENESIS, Event
from app.domain.studies import Configuration, StudyState, configuration_from
from app.storage.candidates import Block


@dataclass(frozen=True)
class Pending:
    candidate: int
    replicates: int  # wanted
    reported: int = 0

    @property
    def left(self) -> int:
        return max(0, self.replicates - self.reported)


@dataclass(frozen=True)
class Issued:
    """What a later batch has to know of an earlier one."""

    number: int
    basis_seq: int
    basis_hash: str
    fit: dict[str, Any] | None


@dataclass(frozen=True, eq=False)
class Tally:
    seq: int = 0
    head: str = GENESIS
    state: StudyState = StudyState.ACTIVE
    configuration: Configuration = field(default_factory=Configuration)
    columns: tuple[Column, ...] = ()
    blocks: tuple[Block, ...] = ()
    unavailable: frozenset[int] = frozenset()
    pending: Mapping[tuple[int, int], Pending] = field(default_factory=dict)  # by batch and rank
    issued: tuple[Issued, ...] = ()
    # observation n is at n − 1; a retracted one is not alive
    candidates: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype="<i4"))
    values: NDArray[np.float64] = field(default_factory=lambda: np.empty(0, dtype="<f8"))
    alive: NDArray[np.bool_] = field(default_factory=lambda: np.empty(0, dtype="|b1"))

    @property
    def rows(self) -> int:
        return sum(block.rows for block in self.blocks)


def after(tally: Tally, events: Iterable[Event]) -> Tally:
    """The tally with these events, which must be the next ones of the same study."""
    for kind, run in groupby(events, lambda event: event.type):
        same = list(run)
        for payload in _payloads(kind, same):
            tally = _CHANGES[kind](tally, payload) if kind in _CHANGES else tally
        tally = replace(tally, seq=same[-1].seq, head=same[-1].hash)
    return tally


def _payloads(kind: str, events: list[Event]) -> list[dict[str, Any]]:
    """Of events of one kind; reports that follow each other are taken in as one, or a long ledger takes its square."""
    payloads = [json.loads(event.payload) for event in events]
    if kind != "observations-reported":
        return payloads
    return [{"observations": [line for payload in payloads for line in payload["observations"]]}]


def tally_from(fields: dict[str, Any]) -> Tally:
    """A tally from plain JSON (pending as lists, unavailable as a list) and its three arrays."""
    return Tally(
        **fields
        | {
            "state": StudyState(fields["state"]),
            "configuration": configuration_from(fields["configuration"]),
            "columns": columns_from(fields["columns"]),
            "blocks": tuple(Block(**block) for block in fields["blocks"]),
            "unavailable": frozenset(fields["unavailable"]),
            "pending": {(batch, rank): Pending(*rest) for batch, rank, *rest in fields["pending"]},
            "issued": tuple(Issued(**one) for one in fields["issued"]),
        }
    )


def _created(tally: Tally, payload: dict[str, Any]) -> Tally:
    return replace(tally, configuration=configuration_from(payload["configuration"]))


def _changed(tally: Tally, payload: dict[str, Any]) -> Tally:
    return replace(
        tally, state=StudyState(payload["state"]), configuration=configuration_from(payload["configuration"])
    )


def _deleted(tally: Tally, _payload: dict[str, Any]) -> Tally:
    return replace(tally, state=StudyState.DELETED)


def _uploaded(tally: Tally, payload: dict[str, Any]) -> Tally:
    return replace(_block_added(replace(tally, blocks=()), payload), unavailable=frozenset())


def _block_added(tally: Tally, payload: dict[str, Any]) -> Tally:
    block = Block(payload["first"], payload["rows"], payload["arrays"])
    return replace(tally, columns=columns_from(payload["columns"]), blocks=(*tally.blocks, block))


def _switched(tally: Tally, payload: dict[str, Any]) -> Tally:
    changed = {payload["candidate"]}
    unavailable = tally.unavailable - changed if payload["available"] else tally.unavailable | changed
    return replace(tally, unavailable=unavailable)


def _issued(tally: Tally, payload: dict[str, Any]) -> Tally:
    number = payload["number"]
    pending = {
        (number, rank): Pending(suggestion["candidate"], suggestion["replicates"])
        for rank, suggestion in enumerate(payload["suggestions"], start=1)
    }
    issued = Issued(number, payload["basis_seq"], payload["basis_hash"], payload["record"].get("fit"))
    return replace(tally, pending={**tally.pending, **pending}, issued=(*tally.issued, issued))


def _reported(tally: Tally, payload: dict[str, Any]) -> Tally:
    observed = payload["observations"]
    pending = dict(tally.pending)
    for item in observed:
        place = (item.get("batch"), item.get("rank"))
        waiting = pending.get(place)
        if waiting is not None and waiting.left > 1:
            pending[place] = replace(waiting, reported=waiting.reported + 1)
        elif waiting is not None:
            del pending[place]
    return replace(
        tally,
        pending=pending,
        candidates=np.append(tally.candidates, np.array([i["candidate"] for i in observed], dtype="<i4")),
        values=np.append(tally.values, np.array([i["value"] for i in observed], dtype="<f8")),
        alive=np.append(tally.alive, np.ones(len(observed), dtype="|b1")),
    )


def _resolved(tally: Tally, payload: dict[str, Any]) -> Tally:
    """Suggestions that failed or were given up are not waited for any more."""
    gone = {(item["batch"], item["rank"]) for item in payload["suggestions"]}
    return replace(tally, pending={place: one for place, one in tally.pending.items() if place not in gone})


def _corrected(tally: Tally, payload: dict[str, Any]) -> Tally:
    values, alive = tally.values.copy(), tally.alive.copy()
    values[payload["observation"] - 1] = payload["value"]
    alive[payload["observation"] - 1] = True
    return replace(tally, values=values, alive=alive)


def _retracted(tally: Tally, payload: dict[str, Any]) -> Tally:
    alive = tally.alive.copy()
    alive[payload["observation"] - 1] = False
    return replace(tally, alive=alive)


_CHANGES = {
    "study-created": _created,
    "study-changed": _changed,
    "study-deleted": _deleted,
    "candidates-uploaded": _uploaded,
    "candidates-added": _block_added,
    "candidate-switched": _switched,
    "batch-issued": _issued,
    "observations-reported": _reported,
    "suggestions-resolved": _resolved,
    "observation-corrected": _corrected,
    "observation-retracted": _retracted,
}
