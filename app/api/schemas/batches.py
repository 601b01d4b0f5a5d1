"""Batches and suggestions on the wire."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from pydantic import Field

from app.api.schemas.shape import Origin, Shape
from app.domain.batches import Batch, BatchState, Explanation, Suggestion, SuggestionState
from app.domain.candidates import Candidate, CellValue
from app.domain.predictions import price_in_words
from app.domain.studies import Configuration, Study
from app.services.use_cases.batches import BatchDetails, Bench


class NeighbourOut(Shape):
    key: str
    similarity: float = Field(description="By the kernel: 1 is equal, 0 is unrelated.")


class ExpectationOut(Shape):
    mean: float
    std: float
    ucb: float


class WhyOut(Shape):
    """Why it was chosen, in numbers and words; the numbers are null before anything is measured.

    With several quantities, `mean`, `std`, `ucb` and `gain` are about the first objective.
    """

    mean: float | None = Field(description="What the model expects.")
    std: float | None = Field(description="How unsure it is.")
    ucb: float | None = Field(description="The optimistic value it was chosen for.")
    exploration: float = Field(description="Share of the choice that is owed to uncertainty, 0 to 1.")
    gain: float | None = Field(description="Expected improvement over the best measured candidate.")
    nearest: tuple[NeighbourOut, ...] = Field(description="The most similar measured candidates.")
    words: str
    quantities: dict[str, ExpectationOut] = Field(description="Of several quantities, by name.")
    feasible: float | None = Field(description="Chance that it meets the constraints.")
    success: float | None = Field(description="Chance that the measurement gives a value, learnt from failures.")


class SuggestionOut(Shape):
    suggestion: str = Field(description="Report by this.", examples=["B3-S1"])
    rank: int
    key: str = Field(description="The candidate.", examples=["A7-42"])
    replicates: int = Field(description="How many measurements are requested.")
    state: SuggestionState
    features: dict[str, CellValue]
    attributes: dict[str, CellValue]
    cost: float | None = Field(description="Of one measurement; null if no column says.")
    duration: float | None = Field(description="Of one measurement; null if no column says.")
    why: WhyOut


class BatchBrief(Shape):
    number: int
    worker: str
    state: BatchState
    size: int = Field(description="Measurements in it, including replicates.")
    created_at: str
    basis_seq: int = Field(description="The part of the ledger it was computed from.")
    ended: str = Field(
        description="Why it ended: rule (of the theory), size (the largest allowed), promise (one more promises too "
        "little), exhausted (no candidate left, or none that fits)."
    )
    size_words: str | None = Field(
        description="Why it has this size, and what one more or one fewer would change, in words (auto mode)."
    )
    ratio_bound: float | None = Field(description="How far its bounds may have drifted.")
    guaranteed: bool = Field(description="Whether the theory's guarantee covers it.")
    alpha: float
    beta: float
    dictionary: int
    effective_dimension: float = Field(
        description="Sum of the leverages of all results. It is the effective dimension if the model is exact."
    )
    regret_bound: float | None
    prices: dict[str, float] = Field(
        description="For each term of the ask: how much more the batch was expected to find without it, in the "
        "objective's unit; with several objectives, the share of the hypervolume that it loses."
    )
    price_words: dict[str, str] = Field(description="The same in words, with units.")
    degraded: dict[str, int] = Field(description="Numerical rescues that were needed.")
    seconds: float
    build: str
    origin: Origin


class BatchOut(BatchBrief):
    fit: dict[str, Any] | None = Field(description="The model fitted in auto mode.")
    fits: dict[str, Any] = Field(description="The models of several quantities, by name.")
    cost: float | None = Field(description="Of all its measurements that were not abandoned; null if no column says.")
    duration: float | None = Field(description="Of the same measurements.")
    suggestions: tuple[SuggestionOut, ...]


class BatchPage(Shape):
    batches: tuple[BatchBrief, ...]
    next: int | None


class BenchOut(Shape):
    suggestions: tuple[SuggestionOut, ...]


class ComputingOut(Shape):
    status: str = "computing"
    detail: str = "The batch is being computed. Ask again with the same worker to get it."


def batch_brief(study: Study, batch: Batch) -> BatchBrief:
    return BatchBrief(**_brief(study, batch))


def batch_out(details: BatchDetails) -> BatchOut:
    fit = details.batch.record.fit
    return BatchOut(
        **_brief(details.study, details.batch),
        fit=None if fit is None else asdict(fit),
        fits={name: asdict(fit_of) for name, fit_of in details.batch.record.fits.items()},
        cost=details.bench.total("cost"),
        duration=details.bench.total("duration"),
        suggestions=bench_out(details.bench).suggestions,
    )


def bench_out(bench: Bench) -> BenchOut:
    return BenchOut(
        suggestions=tuple(_suggestion_out(suggestion, bench.candidates) for suggestion in bench.suggestions)
    )


def _suggestion_out(suggestion: Suggestion, candidates: Mapping[int, Candidate]) -> SuggestionOut:
    candidate = candidates[suggestion.candidate]
    return SuggestionOut(
        suggestion=str(suggestion.id),
        rank=suggestion.id.rank,
        key=candidate.key,
        replicates=suggestion.replicates,
        state=suggestion.state,
        features=dict(candidate.features),
        attributes=dict(candidate.attributes),
        cost=candidate.cost,
        duration=candidate.duration,
        why=_why_out(suggestion.why, candidates),
    )


def _why_out(why: Explanation, candidates: Mapping[int, Candidate]) -> WhyOut:
    return WhyOut(
        mean=why.mean,
        std=why.std,
        ucb=why.ucb,
        exploration=why.exploration,
        gain=why.gain,
        nearest=tuple(
            NeighbourOut(key=candidates[neighbour.candidate].key, similarity=neighbour.similarity)
            for neighbour in why.nearest
        ),
        words=why.words,
        quantities={name: ExpectationOut(**vars(expected)) for name, expected in why.quantities.items()},
        feasible=why.feasible,
        success=why.success,
    )


def _brief(study: Study, batch: Batch) -> dict[str, Any]:
    record = batch.record
    return {
        "number": batch.number,
        "worker": batch.worker,
        "state": batch.state,
        "size": batch.size,
        "created_at": batch.created_at,
        "basis_seq": batch.basis_seq,
        "ended": record.ended,
        "size_words": record.size_words,
        "ratio_bound": record.ratio_bound,
        "guaranteed": record.guaranteed,
        "alpha": record.alpha,
        "beta": record.beta,
        "dictionary": record.dictionary,
        "effective_dimension": record.effective_dimension,
        "regret_bound": record.regret_bound,
        "prices": dict(record.prices),
        "price_words": prices_in_words(record.prices, study.configuration),
        "degraded": dict(record.degraded),
        "seconds": batch.computation.seconds,
        "build": batch.computation.build,
        "origin": study.origin_of(batch.seq),
    }


def prices_in_words(prices: Mapping[str, float], configuration: Configuration) -> dict[str, str]:
    return {term: price_in_words(term, price, configuration) for term, price in prices.items()}
