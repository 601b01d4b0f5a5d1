"""Batches: read them, see what is on a bench, and give up what is pending."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.batches import Batch, BatchState, Suggestion, SuggestionId, SuggestionState
from app.domain.candidates import Candidate, Expense
from app.domain.errors import BatchNotFound, UnreadableEvent
from app.domain.events import AbandonedMeasurement, BatchIssued, MeasurementsAbandoned
from app.domain.observations import Observation, ObservationKind
from app.domain.studies import Study
from app.services.memory import PER_SUGGESTION
from app.services.resources import Resources
from app.services.use_cases import studies
from app.storage import batches as rows
from app.storage import ledger, observations
from app.storage.candidate_set import CandidateSet


@dataclass(frozen=True)
class Bench:
    """Suggestions, with the candidates that they name and those they were compared with, by number."""

    suggestions: tuple[Suggestion, ...]
    candidates: Mapping[int, Candidate]

    def total(self, expense: Expense) -> float | None:
        """What the measurements take, without those that were abandoned; None if the list does not say."""
        made = [suggestion for suggestion in self.suggestions if suggestion.state is not SuggestionState.ABANDONED]
        amounts = [getattr(self.candidates[suggestion.candidate], expense) for suggestion in made]
        if not made or amounts[0] is None:
            return None
        return fsum(amount * suggestion.replicates for amount, suggestion in zip(amounts, made, strict=True))


@dataclass(frozen=True)
class BatchDetails:
    """A batch with everything that is shown of it; `new` tells whether this very request issued it."""

    study: Study
    batch: Batch
    bench: Bench
    new: bool = False


def list_batches(
    connection: Connection,
    actor: Actor,
    name: str,
    after: int,
    limit: int,
    state: BatchState | None,
    worker: str | None,
) -> tuple[Study, list[Batch]]:
    study = studies.find(connection, actor, name)
    return study, rows.page(connection, study, after, limit, state, worker)


def read_batch(connection: Connection, actor: Actor, resources: Resources, name: str, number: int) -> BatchDetails:
    study = studies.find(connection, actor, name)
    return details(connection, resources, study, rows.find(connection, study, number))


def read_sheet(
    connection: Connection, actor: Actor, resources: Resources, name: str, number: int
) -> tuple[BatchDetails, dict[tuple[SuggestionId, int], Observation]]:
    """A batch, and what was reported of it by suggestion and replicate."""
    batch = read_batch(connection, actor, resources, name, number)
    results = observations.of_suggestions(connection, batch.study, [number])
    return batch, {
        (result.suggestion, result.replicate): result
        for result in results
        if result.suggestion is not None and result.replicate is not None and result.kind is ObservationKind.RECORDED
    }


def details(
    connection: Connection, resources: Resources, study: Study, batch: Batch | None, *, new: bool = False
) -> BatchDetails:
    if batch is None:
        raise BatchNotFound
    suggestions = rows.suggestions_of(connection, study, [batch.number])
    return BatchDetails(study, batch, with_candidates(connection, resources, study, suggestions), new)


def issued_as(connection: Connection, study: Study, number: int) -> BatchIssued:
    """The event that issued a batch."""
    batch = rows.find(connection, study, number)
    if batch is None:
        raise BatchNotFound
    [entry] = ledger.read(connection, study.id, batch.seq - 1, until=batch.seq)
    event = entry.event()
    if not isinstance(event, BatchIssued):
        raise UnreadableEvent(f"Event {batch.seq} should be that of batch {number}, and is not.")
    return event


def close(
    connection: Connection, actor: Actor, resources: Resources, name: str, number: int, reason: str | None
) -> BatchDetails:
    """Give up what is still pending; a result that comes all the same is kept."""
    study = studies.lock(connection, actor, name)
    if rows.find(connection, study, number) is None:
        raise BatchNotFound
    suggestions = rows.suggestions_of(connection, study, [number])
    pending = [suggestion for suggestion in suggestions if suggestion.state is SuggestionState.PENDING]
    if pending:
        keys = CandidateSet(connection, resources.arrays, study).keys([s.candidate for s in pending])
        abandoned = tuple(
            AbandonedMeasurement(suggestion.candidate, key, reason, suggestion.id)
            for suggestion, key in zip(pending, keys, strict=True)
        )
        ledger.append(connection, study, actor, MeasurementsAbandoned(abandoned), reason)
    return read_batch(connection, actor, resources, name, number)


def bench(
    connection: Connection, actor: Actor, resources: Resources, name: str, state: SuggestionState, worker: str | None
) -> Bench:
    """What lies on one worker's bench, or on all of them."""
    study = studies.find(connection, actor, name)
    suggestions = rows.suggestions_in(connection, study, state)
    if worker is not None:
        numbers = {batch.number for batch in rows.page(connection, study, worker=worker)}
        suggestions = [suggestion for suggestion in suggestions if suggestion.id.batch in numbers]
    return with_candidates(connection, resources, study, suggestions)


def bench_bytes(connection: Connection, actor: Actor, name: str, state: SuggestionState) -> int:
    """About how much memory `bench` takes, with its JSON."""
    return PER_SUGGESTION * rows.count_in(connection, studies.find(connection, actor, name), state)


def with_candidates(
    connection: Connection, resources: Resources, study: Study, suggestions: Sequence[Suggestion]
) -> Bench:
    """Suggestions with the candidates that they name."""
    chosen = {suggestion.candidate for suggestion in suggestions}
    compared = {neighbour.candidate for suggestion in suggestions for neighbour in suggestion.why.nearest}
    candidates = CandidateSet(connection, resources.arrays, study).read(sorted(chosen | compared))
    return Bench(tuple(suggestions), {candidate.number: candidate for candidate in candidates})
