"""A model as plain JSON and plain arrays, and back: the same bits, no pickle."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.arrays import Array
from app.domain.batches import SuggestionId
from app.domain.candidates import CandidateBlock, Column
from app.domain.codec import from_plain, to_plain
from app.domain.events import Basis, EarlierResults
from app.domain.studies import Configuration, StudyState
from app.engine import load as load_state
from app.engine import save as save_state
from app.engine.auto import Encoding, FittedModel, ObjectiveTransform
from app.modelling.ledger_state import LedgerState, Pending
from app.modelling.model import Model


@dataclass(frozen=True)
class SavedModel:
    """`plain` is JSON. `X` (A, d) and `Z` (m, A) are the large arrays."""

    plain: Mapping[str, Any]
    arrays: Mapping[str, Array]
    X: Array
    Z: Array


@dataclass(frozen=True)
class _SavedPending:
    batch: int
    rank: int
    candidate: int
    replicates: int
    reported: int


@dataclass(frozen=True)
class _SavedFailures:
    candidate: int
    times: int


@dataclass(frozen=True)
class _SavedReservation:
    candidate: int
    worker: str


@dataclass(frozen=True)
class SavedLedger:
    """A ledger state without its arrays."""

    seq: int
    head: str
    state: StudyState
    configuration: Configuration
    columns: tuple[Column, ...] = ()
    blocks: tuple[CandidateBlock, ...] = ()
    unavailable: tuple[int, ...] = ()
    pending: tuple[_SavedPending, ...] = ()
    bases: tuple[Basis, ...] = ()
    failed: tuple[_SavedFailures, ...] = ()
    failed_tries: tuple[_SavedFailures, ...] = ()
    reserved: tuple[_SavedReservation, ...] = ()
    borrowed: tuple[EarlierResults, ...] = ()


@dataclass(frozen=True)
class _SavedPlain:
    """Everything of a model but its arrays."""

    engine: Mapping[str, Any]
    encoding: Mapping[str, Any]
    objective: Mapping[str, Any]
    ledger: SavedLedger
    fit: Mapping[str, Any] | None = None


def save_model(model: Model) -> SavedModel:
    state = save_state(model.state)
    Z = state.pop("Z")
    arrays: dict[str, Array] = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
    plain = _SavedPlain(
        engine={name: value for name, value in state.items() if name not in arrays},
        encoding=model.encoding.describe(),
        objective=model.objective.describe(),
        ledger=save_ledger(model.ledger),
        fit=model.fit.describe() if model.fit else None,
    )
    return SavedModel(to_plain(plain), arrays | ledger_arrays(model.ledger), model.state.X, Z)


def load_model(saved: SavedModel) -> Model:
    """The model that was saved; raises ValueError, KeyError or TypeError if it is not one."""
    plain = from_plain(_SavedPlain, saved.plain)
    return Model(
        load_ledger(plain.ledger, saved.arrays),
        Encoding.build(dict(plain.encoding)),
        ObjectiveTransform.build(dict(plain.objective)),
        load_state({**plain.engine, **saved.arrays, "Z": saved.Z}, saved.X),
        FittedModel.build(dict(plain.fit)) if plain.fit else None,
    )


def ledger_arrays(ledger: LedgerState) -> dict[str, Array]:
    """What `load_ledger` needs besides plain JSON, for a ledger of one quantity."""
    errors = {"ledger errors": ledger.own_errors} if ledger.errors else {}
    return observation_arrays(ledger) | errors


def observation_arrays(ledger: LedgerState) -> dict[str, Array]:
    """The observations of the first quantity."""
    return {
        "ledger candidates": ledger.candidates,
        "ledger values": ledger.values,
        "ledger counted": ledger.counted,
    }


def save_ledger(state: LedgerState) -> SavedLedger:
    return SavedLedger(
        seq=state.seq,
        head=state.head,
        state=state.state,
        configuration=state.configuration,
        columns=state.columns,
        blocks=state.blocks,
        unavailable=tuple(sorted(state.unavailable)),
        pending=tuple(
            _SavedPending(*suggestion, pending.candidate, pending.replicates, pending.reported)
            for suggestion, pending in state.pending.items()
        ),
        bases=state.bases,
        failed=_save_failures(state.failed),
        failed_tries=_save_failures(state.failed_tries),
        reserved=tuple(_SavedReservation(candidate, worker) for candidate, worker in state.reserved.items()),
        borrowed=state.borrowed,
    )


def _save_failures(failed: Mapping[int, int]) -> tuple[_SavedFailures, ...]:
    return tuple(_SavedFailures(candidate, times) for candidate, times in failed.items())


def load_ledger(saved: SavedLedger, arrays: Mapping[str, Array]) -> LedgerState:
    return LedgerState(
        seq=saved.seq,
        head=saved.head,
        state=saved.state,
        configuration=saved.configuration,
        columns=saved.columns,
        blocks=saved.blocks,
        unavailable=frozenset(saved.unavailable),
        pending={
            SuggestionId(pending.batch, pending.rank): Pending(pending.candidate, pending.replicates, pending.reported)
            for pending in saved.pending
        },
        bases=saved.bases,
        failed={failures.candidate: failures.times for failures in saved.failed},
        failed_tries={failures.candidate: failures.times for failures in saved.failed_tries},
        reserved={reservation.candidate: reservation.worker for reservation in saved.reserved},
        borrowed=saved.borrowed,
        candidates=arrays["ledger candidates"],
        values=arrays["ledger values"],
        counted=arrays["ledger counted"],
        errors={saved.configuration.objective.name: arrays["ledger errors"]} if "ledger errors" in arrays else {},
    )
