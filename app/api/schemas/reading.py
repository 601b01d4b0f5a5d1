"""Read models for dashboards on the wire."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from app.api.schemas.batches import BatchBrief, batch_brief
from app.api.schemas.fronts import FrontOut, front_in_words, front_out
from app.api.schemas.shape import Shape
from app.domain.batches import Batch
from app.domain.predictions import Outlook, VolumePoint, difference_in_words, number_in_words, share_in_words
from app.domain.studies import Direction, Limits, Objective, StudyState
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


class RemainingGainOut(Shape):
    """How much better than the recommended candidate the best one on the list is."""

    expected: float
    upper: float = Field(description="With 95 % probability it is at most this.")


class NextBatchOut(Shape):
    chance: float = Field(description="That the next batch holds a candidate better than the recommended one.")
    gain: float = Field(description="By how much its best is expected to be better; 0 where it is not.")


class AdviceOut(Shape):
    do: Literal["ask", "wait for results", "stop"]
    why: str


class OutlookOut(Shape):
    """What is left to gain, by the fitted model."""

    remaining_gain: RemainingGainOut | None = Field(
        description="Null until five candidates are measured and results differ, and in theory mode."
    )
    chance_best_is_measured: float | None
    next_batch: NextBatchOut | None
    candidates_still_possible: int | None = Field(
        description="The fewest candidates that hold the best one with 95 % probability; the recommended one counts."
    )
    advice: AdviceOut | None = Field(description="From the first result on; null in theory mode.")


class FrontCertificateOut(Shape):
    """What several objectives have instead of one bound."""

    possible: int | None = Field(description="Candidates that can still be on the front.")
    gap: float | None = Field(description="Hypervolume that can still be gained at most.")
    hypervolume: float | None = Field(description="That the measured front dominates.")
    confidence: float | None
    estimate: bool = Field(description="True in auto mode: the models were fitted, so it is no guarantee.")


class CertificateAnswer(OutlookOut):
    certificate: CertificateOut | None = Field(description="The bound of the theory. Null while nothing is measured.")
    front: FrontCertificateOut | None = Field(description="Of several objectives, or with constraints.")
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
    reserved: int = Field(description="Candidates that somebody will measure without a batch.")


class QuantityOut(Shape):
    name: str
    unit: str
    direction: Direction | None = Field(description="Null if only a constraint names it.")
    measured: int = Field(description="Results with a value of it.")


class SpendingOut(Shape):
    unit: str
    spent: float = Field(description="On measurements that were made, failures included.")
    committed: float = Field(description="In pending suggestions and reservations.")
    budget: float | None
    left: float | None = Field(description="Of the budget; negative if it is exceeded.")


class SummaryOut(Shape):
    name: str
    seq: int
    state: StudyState
    finished: str | None = Field(description="The stop rule that is met, if any.")
    direction: Direction
    objective: str
    unit: str
    counts: CountsOut
    best_observed: BestObservedOut | None = Field(description="The best measured candidate that meets the constraints.")
    best_predicted: BestPredictedOut | None
    certificate: CertificateOut | None
    outlook: OutlookOut | None
    open_batches: tuple[OpenBatchOut, ...]
    headline: str
    quantities: tuple[QuantityOut, ...] = Field(description="Everything that is measured.")
    front: FrontOut | None = Field(description="Of several objectives, or with constraints.")
    spending: SpendingOut | None = Field(description="Null unless a column says what a measurement costs.")


class PointOut(Shape):
    observation: int
    candidate: int
    value: float
    best: float | None = Field(description="Of candidates that meet the constraints; null while there is none.")


class VolumeOut(Shape):
    observation: int
    hypervolume: float


class TraceOut(Shape):
    batches: tuple[BatchBrief, ...]
    progress: tuple[PointOut, ...] = Field(description="Values in the order of reporting and the best so far, thinned.")
    hypervolume: tuple[VolumeOut, ...] = Field(
        description="With several objectives: what the measured front dominated after each result, thinned."
    )


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
        outlook=None if summary.outlook is None else OutlookOut.model_validate(summary.outlook),
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
        spending=None if summary.spending is None else SpendingOut.model_validate(summary.spending),
    )


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
        **{name: getattr(summary.outlook, name, None) for name in OutlookOut.model_fields},
        certificate=_certificate(summary),
        front=None if summary.front is None else FrontCertificateOut.model_validate(summary.front.front),
        stop=summary.finished is not None,
        rule=summary.finished,
        words=_headline(summary),
    )


def trace_out(summary: StudySummary, batches: Sequence[Batch], volumes: Sequence[VolumePoint]) -> TraceOut:
    points = tuple(PointOut.model_validate(point) for point in progress(summary.ledger))
    front = tuple(VolumeOut.model_validate(point) for point in volumes)
    briefs = tuple(batch_brief(summary.study, batch) for batch in batches)
    return TraceOut(batches=briefs, progress=points, hypervolume=front)


def _counts(summary: StudySummary) -> CountsOut:
    ledger = summary.ledger
    return CountsOut(
        candidates=ledger.rows,
        available=ledger.rows - len(ledger.unavailable),
        measured=len(set(ledger.candidates[ledger.counted].tolist())),
        observations=ledger.observations,
        batches=len(ledger.bases),
        pending=sum(suggestion.remaining for suggestion in ledger.pending.values()),
        reserved=len(ledger.reserved),
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
    if summary.front is not None:
        return front_in_words(summary.front)
    objective = summary.ledger.configuration.objective
    unit = f" {objective.unit}".rstrip()
    best, certificate, outlook = _best_observed(summary), _certificate(summary), summary.outlook
    if best is None:
        return "Nothing has been measured yet."
    mean = f" (mean of {best.measurements} results)" if best.measurements > 1 else ""
    headline = f"Best so far: {best.key}, {number_in_words(best.mean)}{unit}{mean}."
    if certificate is None:
        return headline
    reference = "" if certificate.key == best.key else f" than {certificate.key}"
    if outlook is None:
        bound = f"{difference_in_words(certificate.regret_bound, unit)} better{reference}"
        sure = share_in_words(certificate.confidence)
        return f"{headline} With {sure} confidence nothing on the list is more than {bound}."
    left = _left_to_gain(outlook, unit, reference)
    return " ".join(filter(None, (headline, left, _beyond_belief(outlook, certificate, objective))))


def _beyond_belief(outlook: Outlook, certificate: CertificateOut, objective: Objective) -> str:
    """What to state if a gain that counts as possible would pass 100 %, or bring a positive value below 0."""
    gain, limits, best = outlook.remaining_gain, objective.limits or Limits(), certificate.mean
    if gain is None:
        return ""
    if objective.direction is Direction.MINIMIZE:
        passed, limit = limits.low is None and best > 0 > best - gain.upper, "below 0"
    else:
        passed = limits.high is None and objective.unit.strip() == "%" and best <= 100 < best + gain.upper
        limit = "above 100"
    return f"This counts values {limit} as possible; if they are not, state `limits`." if passed else ""


def _left_to_gain(outlook: Outlook, unit: str, reference: str) -> str:
    """What is left to gain, and how many candidates still matter."""
    gain, possible = outlook.remaining_gain, outlook.candidates_still_possible
    if gain is None or possible is None:
        return outlook.unknown
    if possible == 1:
        return "No other candidate is likely to be better."
    left, most = (difference_in_words(gain, unit) for gain in (gain.expected, gain.upper))
    others = possible - 1
    return (
        f"The best on the list is expected to be {left} better{reference}, and with 95 % probability at most {most};"
        f" {others:,} other {'candidate' if others == 1 else 'candidates'} can still be better."
    )
