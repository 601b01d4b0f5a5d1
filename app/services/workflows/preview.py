"""Look at a batch before it counts: nothing is stored, and a later ask can confirm exactly this batch."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.batches import BatchRecord, Draft, Suggestion, SuggestionId, SuggestionState
from app.domain.codec import canonical, to_plain
from app.domain.errors import PreviewOutdated
from app.domain.events import (
    BatchIssued,
    CandidatesAdded,
    CandidatesReserved,
    CandidatesSwitched,
    ObservationsReported,
    ReservationsReleased,
    StudyChanged,
)
from app.domain.ledger import LedgerEntry
from app.domain.studies import Configuration
from app.fair_threads import Job
from app.services.resources import Resources
from app.services.transactions import Answer, ReadTransactions
from app.services.use_cases import studies
from app.services.use_cases.ask_terms import AskForm
from app.services.use_cases.batches import Bench, with_candidates
from app.services.workflows.ask_basis import AskBasis, compute, read_basis
from app.storage import ledger

MOST_CHANGES = 1_000  # that are counted since a preview

_CHANGES = {
    ObservationsReported: "results were reported",
    BatchIssued: "a batch was issued",
    StudyChanged: "the settings were changed",
    CandidatesAdded: "candidates were added",
    CandidatesSwitched: "candidates were switched on or off",
    CandidatesReserved: "candidates were reserved",
    ReservationsReleased: "reservations were released",
}


@dataclass(frozen=True)
class Preview:
    """A batch as it would be issued now."""

    id: str  # confirm it by this
    bench: Bench
    record: BatchRecord
    size: int
    configuration: Configuration


RenderPreview = Callable[[Preview], Answer]


def preview(resources: Resources, tx: ReadTransactions, name: str, form: AskForm, answer: RenderPreview) -> Job[Answer]:
    """The batch as it would be now; nothing is stored."""
    job = ("preview", tx.actor.key.id, name, repr(form))
    return resources.jobs.start(tx.actor.key.id, job, _run, resources, tx, name, form, answer)


def must_be_as_previewed(
    connection: Connection, actor: Actor, name: str, confirmed: str, basis: AskBasis, draft: Draft
) -> None:
    """Refuse to issue another batch than the one that the caller confirms, and say what has happened since."""
    if confirmed == _preview_id(basis, draft):
        return
    study = studies.find(connection, actor, name)
    seq = confirmed.partition("-")[0]
    since = int(seq) if seq.isascii() and seq.isdigit() and len(seq) < 10 else study.seq
    changes = _in_words(list(ledger.read(connection, study.id, since, limit=MOST_CHANGES)))
    what = f"Since the preview, {changes}." if changes else "The request is not the one of that preview."
    raise PreviewOutdated(f"{PreviewOutdated.detail} {what}")


def _run(resources: Resources, tx: ReadTransactions, name: str, form: AskForm, answer: RenderPreview) -> Answer:
    basis = tx.read(read_basis, resources, name, form)
    basis, draft = compute(resources, basis)
    return answer(tx.read(_previewed, resources, name, basis, draft))


def _previewed(
    connection: Connection, actor: Actor, resources: Resources, name: str, basis: AskBasis, draft: Draft
) -> Preview:
    study = studies.find(connection, actor, name)
    suggestions = tuple(
        Suggestion(SuggestionId(basis.number, rank), drafted.candidate, drafted.replicates, _PENDING, drafted.why)
        for rank, drafted in enumerate(draft.suggestions, start=1)
    )
    size = sum(suggestion.replicates for suggestion in suggestions)
    bench = with_candidates(connection, resources, study, suggestions)
    return Preview(_preview_id(basis, draft), bench, draft.record, size, study.configuration)


_PENDING = SuggestionState.PENDING


def _preview_id(basis: AskBasis, draft: Draft) -> str:
    """Names a computed batch: the part of the ledger that it rests on, and a digest of what was chosen."""
    parts = [to_plain(part) for part in (basis.request, basis.size, *draft.suggestions)]
    return f"{basis.prefix.seq}-{sha256(canonical(parts).encode()).hexdigest()[:16]}"


def _in_words(entries: Sequence[LedgerEntry]) -> str:
    """What has happened, most frequent first."""
    kinds = Counter(type(entry.event()) for entry in entries)
    named = [_CHANGES.get(kind, "the study was changed") for kind, _ in kinds.most_common()]
    return ", ".join(dict.fromkeys(named))
