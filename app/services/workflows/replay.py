"""Compute an issued batch again from the ledger, with what was swapped in it, and compare it bit for bit."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from app.compute.ledger_states import LedgerPrefix
from app.domain.access import Actor
from app.domain.batches import BatchSize, SuggestionId
from app.domain.codec import canonical, to_plain
from app.domain.events import BatchIssued, SuggestionSwapped
from app.domain.studies import Study
from app.modelling.composing import Terms
from app.modelling.drafting import build
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


def replay(resources: Resources, tx: ReadTransactions, name: str, number: int) -> Replay:
    """Compute a batch again from the prefix of the ledger that it names, and each swap from its own."""
    choices = tx.read(_read_choices, resources, name, number)
    differences = tuple(part for choice in choices for part in _differences(resources, choice))
    return Replay(number, not differences, choices[0].event.computation.build, build(), differences)


def _differences(resources: Resources, choice: _Choice) -> Iterator[str]:
    """The names of the parts that came out otherwise."""
    again = resources.compute.compute_batch(choice.prefix, choice.size, choice.terms)
    event = choice.event
    compared: dict[str, tuple[object, object]]
    if isinstance(event, SuggestionSwapped):
        [suggestion] = again.suggestions
        new = SuggestionId(event.suggestion.batch, event.rank)
        compared = {
            f"suggestion {new}": (event.replacement, replace(suggestion, replicates=event.replacement.replicates))
        }
    else:
        compared = {"suggestions": (event.suggestions, again.suggestions), "record": (event.record, again.record)}
        compared["shards"] = (event.computation.shards, again.computation.shards)
    for part, (then, now) in compared.items():
        if canonical(to_plain(then)) != canonical(to_plain(now)):
            yield part


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
        )
        for event in events
    ]


def _terms(
    connection: Connection,
    resources: Resources,
    study: Study,
    issued: BatchIssued,
    event: BatchIssued | SuggestionSwapped,
) -> Terms:
    """The terms of the batch as they were when this was computed."""
    ledger_then = resources.ledger_states.read(connection, study.id, event.basis.seq)
    terms = terms_of(connection, resources, study, ledger_then, issued.request)
    if isinstance(event, BatchIssued):
        return terms
    return terms_of_swap(terms, event.candidate, event.replacement.replicates, event.present)
