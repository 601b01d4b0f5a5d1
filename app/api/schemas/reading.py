"""Read models for dashboards on the wire."""

from collections.abc import Sequence

from pydantic import Field

from app.api.schemas.batches import BatchBrief, batch_brief
from app.api.schemas.shape import Origin, Shape
from app.domain.batches import Batch
from app.domain.predictions import FrontPoint
from app.domain.studies import Direction, StudyState
from app.services.use_cases.events import ListedEntry, Verification, describe
from app.services.workflows.replay import Replay
from app.services.workflows.summarise import KeyedFront, StudySummary, hypervolumes, progress


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


class FrontPointOut(Shape):
    key: str
    candidate: int
    values: dict[str, float] = Field(description="Measured means, or what the models expect, by quantity.")
    measurements: int
    std: dict[str, float] = Field(description="Of the expected values.")
    chance: float | None = Field(description="Chance of being on the front.")
    feasible: float | None = Field(description="Chance of meeting the constraints.")


class FrontOut(Shape):
    """The candidates of which no other is at least as good in every objective and better in one.

    It holds only candidates that meet the constraints.
    """

    measured: tuple[FrontPointOut, ...]
    expected: tuple[FrontPointOut, ...] = Field(description="By the models' expectations, at most 200.")
    hypervolume: float | None = Field(description="That the measured front dominates, above the reference.")
    reference: dict[str, float] = Field(description="As stated, else a little worse than the worst of the front.")
    possible: int | None = Field(description="Candidates that can still be on the front.")
    gap: float | None = Field(description="Hypervolume that can still be gained at most; null if it would take long.")
    confidence: float | None
    estimate: bool = Field(description="True in auto mode: the models were fitted, so it is no guarantee.")
    feasible: int | None = Field(description="Measured candidates that meet the constraints.")
    words: str


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


class QuantityOut(Shape):
    name: str
    unit: str
    direction: Direction | None = Field(description="Null if only a constraint names it.")
    measured: int = Field(description="Results with a value of it.")


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
    quantities: tuple[QuantityOut, ...] = Field(description="Everything that is measured.")
    front: FrontOut | None = Field(description="Of several objectives, or with constraints.")


class PointOut(Shape):
    observation: int
    candidate: int
    value: float
    best: float


class VolumeOut(Shape):
    observation: int
    hypervolume: float


class TraceOut(Shape):
    batches: tuple[BatchBrief, ...]
    progress: tuple[PointOut, ...] = Field(description="Values in the order of reporting and the best so far, thinned.")
    hypervolume: tuple[VolumeOut, ...] = Field(
        description="With several objectives: what the measured front dominated after each result, thinned."
    )


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
        quantities=_quantities(summary),
        front=None if summary.front is None else front_out(summary.front),
    )


def front_out(keyed: KeyedFront) -> FrontOut:
    def points(found: Sequence[FrontPoint]) -> tuple[FrontPointOut, ...]:
        return tuple(FrontPointOut(**vars(point), key=keyed.keys[point.candidate]) for point in found)

    front = keyed.front
    shown = vars(front) | {"measured": points(front.measured), "expected": points(front.expected)}
    return FrontOut(**shown, words=_front_in_words(keyed))


def _quantities(summary: StudySummary) -> tuple[QuantityOut, ...]:
    ledger = summary.ledger
    directions = {objective.name: objective.direction for objective in ledger.configuration.objectives}
    return tuple(
        QuantityOut(
            name=quantity.name,
            unit=quantity.unit,
            direction=directions.get(quantity.name),
            measured=ledger.of(quantity).observations,
        )
        for quantity in ledger.configuration.quantities
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
    volumes = tuple(VolumeOut.model_validate(point) for point in hypervolumes(summary.ledger))
    briefs = tuple(batch_brief(summary.study, batch) for batch in batches)
    return TraceOut(batches=briefs, progress=points, hypervolume=volumes)


def event_out(listed: ListedEntry) -> EventOut:
    return EventOut(**vars(listed.entry), words=describe(listed.entry), origin=listed.origin)


def verified_out(verification: Verification) -> VerifiedOut:
    return VerifiedOut(sound=verification.broken_at is None, **vars(verification))


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


def _front_in_words(keyed: KeyedFront) -> str:
    front = keyed.front
    if not keyed.ledger.observations:
        return "Nothing has been measured yet."
    one = len(keyed.ledger.configuration.objectives) == 1
    if not front.measured:
        return "No candidate with all its values measured meets the constraints yet."
    best = ", ".join(keyed.keys[point.candidate] for point in front.measured[:3])
    more = f" and {len(front.measured) - 3} more" if len(front.measured) > 3 else ""
    words = (
        f"Best so far among those that meet the constraints: {best}{more}." if one else f"On the front: {best}{more}."
    )
    if front.possible is None:
        return words
    basis = "By the fitted models" if front.estimate else f"With {front.confidence:.0%} confidence"
    others = "candidate can" if front.possible == 1 else "candidates can"
    return f"{words} {basis}, {front.possible:,} {others} still be {'the best' if one else 'on it'}."


def _headline(summary: StudySummary) -> str:
    if summary.front is not None:
        return _front_in_words(summary.front)
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
