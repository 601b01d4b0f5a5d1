"""Read models for dashboards on the wire."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from app.api.schemas.batches import BatchBrief, batch_brief
from app.api.schemas.shape import Origin, Shape
from app.domain.batches import Batch
from app.domain.studies import Direction, StudyState
from app.services.use_cases.events import ListedEntry, describe
from app.services.use_cases.verification import Verification
from app.services.workflows.replay import Replay
from app.services.workflows.summarise import StudySummary, progress


class BestObservedOut(Shape):
    key: str
    candidate: int
    mean: float
    measurements: int


class BestPredictedOut(Shape):
    key: str
    candidate: int
    mean: float
    std: float


class CertificateOut(Shape):
    """What is known, given what is assumed."""

    key: str = Field(
        description="The recommended candidate: the best measured one in auto mode, else that of the best lower bound."
    )
    recommended: int
    mean: float
    lower: float
    upper: float
    regret_bound: float = Field(description="Nothing on the list is better than it by more than this.")
    confidence: float
    estimate: bool = Field(description="True in auto mode: the assumptions were fitted, so it is no guarantee.")
    assumptions: tuple[str, ...]


class CertificateAnswer(Shape):
    certificate: CertificateOut | None = Field(description="Null while nothing is measured.")
    stop: bool
    rule: str | None = Field(description="The stop rule that is met.")
    words: str


class OpenBatchOut(Shape):
    number: int
    worker: str
    size: int
    pending: int
    created_at: str
    overdue: bool


class CountsOut(Shape):
    candidates: int
    available: int
    measured: int = Field(description="Candidates with a result.")
    observations: int
    batches: int
    pending: int = Field(description="Measurements that are pending.")


class SummaryOut(Shape):
    name: str
    seq: int
    state: StudyState
    finished: str | None = Field(description="The stop rule that is met, if any.")
    direction: Direction
    objective: str
    unit: str
    counts: CountsOut
    best_observed: BestObservedOut | None
    best_predicted: BestPredictedOut | None
    certificate: CertificateOut | None
    open_batches: tuple[OpenBatchOut, ...]
    headline: str


class PointOut(Shape):
    observation: int
    candidate: int
    value: float
    best: float


class TraceOut(Shape):
    batches: tuple[BatchBrief, ...]
    progress: tuple[PointOut, ...] = Field(description="Values in the order of reporting and the best so far, thinned.")


class EventOut(Shape):
    seq: int
    type: str
    format: int = Field(description="The format of the payload.")
    words: str = Field(description="What happened, in one sentence.")
    payload: str = Field(description="Canonical JSON: the text that was hashed.")
    actor: str
    reason: str | None
    recorded_at: str
    request_id: str
    previous: str
    hash: str
    origin: Origin


class EventPage(Shape):
    events: tuple[EventOut, ...]
    next: int | None


class DifferenceOut(Shape):
    table: str = Field(examples=["observations"])
    row: str = Field(examples=["number 3, version 1"])
    what: Literal["missing", "not in the ledger", "altered", "damaged"]
    columns: tuple[str, ...] = Field(description="The columns that were altered.")


class VerifiedOut(Shape):
    sound: bool
    events: int
    broken_at: int | None = Field(description="The first event that is missing, altered or out of place.")
    head: str
    differences: tuple[DifferenceOut, ...] = Field(
        description="The first rows of other tables that are not what the ledger says, and arrays that are damaged."
    )


class ReplayedOut(Shape):
    number: int
    equal: bool
    recorded_build: str
    this_build: str
    differences: tuple[str, ...]


def summary_out(summary: StudySummary) -> SummaryOut:
    ledger, objective = summary.ledger, summary.ledger.configuration.objective
    return SummaryOut(
        name=summary.study.name,
        seq=ledger.seq,
        state=ledger.state,
        finished=summary.finished,
        direction=objective.direction,
        objective=objective.name,
        unit=objective.unit,
        counts=_counts(summary),
        best_observed=_best_observed(summary),
        best_predicted=_best_predicted(summary),
        certificate=_certificate(summary),
        open_batches=tuple(
            OpenBatchOut(
                number=open_batch.batch.number,
                worker=open_batch.batch.worker,
                size=open_batch.batch.size,
                pending=open_batch.pending,
                created_at=open_batch.batch.created_at,
                overdue=open_batch.overdue,
            )
            for open_batch in summary.open_batches
        ),
        headline=_headline(summary),
    )


def certificate_out(summary: StudySummary) -> CertificateAnswer:
    return CertificateAnswer(
        certificate=_certificate(summary),
        stop=summary.finished is not None,
        rule=summary.finished,
        words=_headline(summary),
    )


def trace_out(summary: StudySummary, batches: Sequence[Batch]) -> TraceOut:
    points = tuple(PointOut.model_validate(point) for point in progress(summary.ledger))
    return TraceOut(batches=tuple(batch_brief(summary.study, batch) for batch in batches), progress=points)


def event_out(listed: ListedEntry) -> EventOut:
    return EventOut(**vars(listed.entry), words=describe(listed.entry), origin=listed.origin)


def verified_out(verification: Verification) -> VerifiedOut:
    return VerifiedOut.model_validate(verification)


def replayed_out(replay: Replay) -> ReplayedOut:
    return ReplayedOut.model_validate(replay)


def _counts(summary: StudySummary) -> CountsOut:
    ledger = summary.ledger
    return CountsOut(
        candidates=ledger.rows,
        available=ledger.rows - len(ledger.unavailable),
        measured=len(set(ledger.candidates[ledger.counted].tolist())),
        observations=ledger.observations,
        batches=len(ledger.bases),
        pending=sum(suggestion.remaining for suggestion in ledger.pending.values()),
    )


def _best_observed(summary: StudySummary) -> BestObservedOut | None:
    best = summary.best_observed
    return None if best is None else BestObservedOut(**vars(best), key=summary.keys[best.candidate])


def _best_predicted(summary: StudySummary) -> BestPredictedOut | None:
    best = summary.best_predicted
    return None if best is None else BestPredictedOut(**vars(best), key=summary.keys[best.candidate])


def _certificate(summary: StudySummary) -> CertificateOut | None:
    certificate = summary.certificate
    if certificate is None:
        return None
    return CertificateOut(**vars(certificate), key=summary.keys[certificate.recommended])


def _headline(summary: StudySummary) -> str:
    unit = f" {summary.ledger.configuration.objective.unit}".rstrip()
    best, certificate = _best_observed(summary), _certificate(summary)
    if best is None:
        return "Nothing has been measured yet."
    headline = f"Best so far: {best.key}, {best.mean:.4g}{unit}."
    if certificate is None:
        return headline
    basis = "By the fitted model, with" if certificate.estimate else "With"
    reference = "" if certificate.key == best.key else f" than {certificate.key}"
    return (
        f"{headline} {basis} {certificate.confidence:.0%} confidence nothing on the list is more than "
        f"{certificate.regret_bound:.3g}{unit} better{reference}."
    )
