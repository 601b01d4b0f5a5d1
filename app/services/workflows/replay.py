"""Compute an issued batch again from the ledger, with what was swapped in it, and compare it bit for bit."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy import Connection

from app.compute.ledger_states import LedgerPrefix
from app.domain.access import Actor
from app.domain.batches import BatchRecord, BatchSize, Draft, DraftSuggestion, SuggestionId
from app.domain.codec import canonical, to_plain
from app.domain.events import BatchIssued, SuggestionSwapped
from app.domain.studies import Configuration, Limits, Study
from app.modelling.terms import Terms
from app.services.resources import Resources
from app.services.transactions import ReadTransactions
from app.services.use_cases import studies
from app.services.use_cases.ask_terms import terms_of
from app.services.use_cases.batches import issued_as
from app.services.workflows.swap import terms_of_swap
from app.storage import ledger


@dataclass(frozen=True)
class Replay:
    number: int
    equal: bool
    recorded_build: str
    this_build: str
    differences: tuple[str, ...]


@dataclass(frozen=True)
class _Choice:
    """A computation to repeat: of the batch, or of one swap in it."""

    prefix: LedgerPrefix
    size: BatchSize
    terms: Terms
    event: BatchIssued | SuggestionSwapped
    configuration: Configuration


def replay(resources: Resources, tx: ReadTransactions, name: str, number: int) -> Replay:
    """Compute a batch again from the prefix of the ledger that it names, and each swap from its own."""
    choices = tx.read(_read_choices, resources, name, number)
    drafts = [resources.compute.compute_batch(choice.prefix, choice.size, choice.terms) for choice in choices]
    pairs = zip(choices, drafts, strict=True)
    differences = tuple(part for choice, again in pairs for part in _differences(choice, again))
    builds = choices[0].event.computation.build, drafts[0].computation.build
    return Replay(number, not differences, *builds, differences)


def _differences(choice: _Choice, again: Draft) -> Iterator[str]:
    """The names of the parts that came out otherwise."""
    event = choice.event
    compared: dict[str, tuple[object, object]]
    if isinstance(event, SuggestionSwapped):
        [suggestion] = again.suggestions
        new = SuggestionId(event.suggestion.batch, event.rank)
        compared = {
            f"suggestion {new}": (
                _within_limits(event.replacement, choice.configuration),
                replace(suggestion, replicates=event.replacement.replicates),
            )
        }
    else:
        recorded = tuple(_within_limits(suggestion, choice.configuration) for suggestion in event.suggestions)
        records = _apart_from_words(event.record), _apart_from_words(again.record)
        compared = {"suggestions": (recorded, again.suggestions), "record": records}
        compared["shards"] = (event.computation.shards, again.computation.shards)
    for part, (then, now) in compared.items():
        if canonical(to_plain(then)) != canonical(to_plain(now)):
            yield part


def _apart_from_words(record: BatchRecord) -> BatchRecord:
    """A later version may explain the size of the same batch in other words."""
    return replace(record, size_words=None)


def _read_choices(connection: Connection, actor: Actor, resources: Resources, name: str, number: int) -> list[_Choice]:
    study = studies.find(connection, actor, name)
    issued = issued_as(connection, study, number)
    later = ledger.read(connection, study.id, issued.basis.seq)
    events: list[BatchIssued | SuggestionSwapped] = [issued]
    for entry in later:
        event = entry.event() if entry.type == SuggestionSwapped.type else None
        if isinstance(event, SuggestionSwapped) and event.suggestion.batch == number:
            events.append(event)
    return [
        _Choice(
            LedgerPrefix(study.id, event.basis.seq, event.basis.hash),
            event.size if isinstance(event, BatchIssued) else BatchSize(1, 1),
            _terms(connection, resources, study, issued, event),
            event,
            resources.ledger_states.read(connection, study.id, event.basis.seq).configuration,
        )
        for event in events
    ]


def _within_limits(suggestion: DraftSuggestion, configuration: Configuration) -> DraftSuggestion:
    """A recorded suggestion with its optimistic values cut off at the limits, which older records exceed."""
    why = suggestion.why
    limits = {quantity.name: quantity.limits for quantity in configuration.quantities}
    quantities = {
        name: replace(expected, ucb=_cut(expected.ucb, limits.get(name))) for name, expected in why.quantities.items()
    }
    ucb = None if why.ucb is None else _cut(why.ucb, configuration.objective.limits)
    return replace(suggestion, why=replace(why, ucb=ucb, quantities=quantities))


def _cut(value: float, limits: Limits | None) -> float:
    return value if limits is None else float(np.clip(value, limits.low, limits.high))


def _terms(
    connection: Connection,
    resources: Resources,
    study: Study,
    issued: BatchIssued,
    event: BatchIssued | SuggestionSwapped,
) -> Terms:
    """The terms of the batch as they were when this was computed."""
    ledger_then = resources.ledger_states.read(connection, study.id, event.basis.seq)
    terms = terms_of(connection, resources, study, ledger_then, issued.request, is_issued=True)
    if isinstance(event, BatchIssued):
        return terms
    return terms_of_swap(terms, event.candidate, event.replacement.replicates, event.present)
