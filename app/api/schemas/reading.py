"""Read models for dashboards on the wire."""

from typing import Any

from pydantic import Field

from app.api.schemas.batches import BatchBrief, batch_brief
from app.api.schemas.shape import Shape
from app.domain.ledger import Event
from app.domain.studies import Direction, StudyState
from app.services.replay import Replayed, Verified
from app.services.summary import Summary, progress


class BestObserved(Shape):
    key: str
    candidate: int
    mean: float
    measurements: int


class BestPredicted(Shape):
    key: str
    candidate: int
    mean: float
    std: float


class CertificateOut(Shape):
    """What is known for sure, given what is assumed."""

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


class Counts(Shape):
    candidates: int
    available: int
    measured: int = Field(description="Candidates with a result.")
    observations: int
    batches: int
    pending: int = Field(description="Measurements waited for.")


class SummaryOut(Shape):
    name: str
    seq: int
    state: StudyState
    finished: str | None = Field(description="The stop rule that is met, if any.")
    direction: Direction
    objective: str
    unit: str
    counts: Counts
    best_observed: BestObserved | None
    best_predicted: BestPredicted | None
    certificate: CertificateOut | None
    open_batches: tuple[OpenBatchOut, ...]
    headline: str


class Point(Shape):
    observation: int
    candidate: int
    value: float
    best: float


class TraceOut(Shape):
    batches: tuple[BatchBrief, ...]
    progress: tuple[Point, ...] = Field(description="Values in the order they came and the best so far, thinned.")


class EventOut(Shape):
    seq: int
    type: str
    payload: str = Field(description="Canonical JSON: the text that was hashed.")
    actor: str
    reason: str | None
    recorded_at: str
    request_id: str
    previous: str
    hash: str


class EventPage(Shape):
    events: tuple[EventOut, ...]
    next: int | None


class VerifiedOut(Shape):
    sound: bool
    events: int
    broken_at: int | None
    head: str


class ReplayedOut(Shape):
    number: int
    equal: bool
    recorded_build: str
    this_build: str
    differences: tuple[str, ...]


def summary_out(summary: Summary) -> SummaryOut:
    tally, configuration = summary.tally, summary.tally.configuration
    counts = Counts(
        candidates=tally.rows,
        available=tally.rows - len(tally.unavailable),
        measured=len(set(tally.candidates[tally.alive].tolist())),
        observations=int(tally.alive.sum()),
        batches=len(tally.issued),
        pending=sum(one.left for one in tally.pending.values()),
    )
    return SummaryOut(
        name=summary.study.name,
        seq=tally.seq,
        state=tally.state,
        finished=summary.finished,
        direction=configuration.direction,
        objective=configuration.objective,
        unit=configuration.unit,
        counts=counts,
        best_observed=_shape(BestObserved, summary.best_observed),
        best_predicted=_shape(BestPredicted, summary.best_predicted),
        certificate=_shape(CertificateOut, summary.certificate),
        open_batches=tuple(
            OpenBatchOut(
                number=one.batch.number,
                worker=one.batch.worker,
                size=one.batch.size,
                pending=one.pending,
                created_at=one.batch.created_at,
                overdue=one.overdue,
            )
            for one in summary.open_batches
        ),
        headline=_headline(summary),
    )


def certificate_out(summary: Summary) -> CertificateAnswer:
    return CertificateAnswer(
        certificate=_shape(CertificateOut, summary.certificate),
        stop=summary.finished is not None,
        rule=summary.finished,
        words=_headline(summary),
    )


def trace_out(summary: Summary, batches: Any) -> TraceOut:
    points = tuple(Point(**point) for point in progress(summary.tally))
    return TraceOut(batches=tuple(batch_brief(batch) for batch in batches), progress=points)


def event_out(event: Event) -> EventOut:
    return EventOut.model_validate(event)


def verified_out(verified: Verified) -> VerifiedOut:
    return VerifiedOut(sound=verified.broken_at is None, **vars(verified))


def replayed_out(replayed: Replayed) -> ReplayedOut:
    return ReplayedOut.model_validate(replayed)


def _shape(kind: Any, fields: dict[str, Any] | None) -> Any:
    return kind(**fields) if fields else None


def _headline(summary: Summary) -> str:
    unit = f" {summary.tally.configuration.unit}" if summary.tally.configuration.unit else ""
    if summary.best_observed is None:
        return "Nothing is measured yet."
    best, sure = summary.best_observed, summary.certificate
    words = f"Best so far: {best['key']}, {best['mean']:.4g}{unit}."
    if sure is None:
        return words
    how = "By the fitted model, with" if sure["estimate"] else "With"
    than = "" if sure["key"] == best["key"] else f" than {sure['key']}"
    return (
        f"{words} {how} {sure['confidence']:.0%} confidence nothing on the list is more than "
        f"{sure['regret_bound']:.3g}{unit} better{than}."
    )
