"""Batches and suggestions on the wire."""

from typing import Any

from pydantic import Field

from app.api.schemas.shape import Name, Request, Shape
from app.domain.batches import Batch, BatchState, Suggestion, SuggestionState
from app.services.ask import Asked, AskRequest
from app.services.candidate_set import Candidate


class AskIn(Request):
    worker: Name = Field(default="default", description="Who asks: a bench, a robot, a script.", examples=["bench-2"])
    min_size: int | None = Field(default=None, ge=1, le=100_000, description="Fewest measurements wanted.")
    max_size: int | None = Field(default=None, ge=1, le=100_000, description="Most measurements wanted.", examples=[8])
    wait: float = Field(default=30.0, ge=0, le=600, description="Seconds to wait before a 202.")

    def request(self) -> AskRequest:
        return AskRequest(self.worker, self.min_size, self.max_size)


class NearOut(Shape):
    key: str
    similarity: float = Field(description="By the kernel: 1 is alike, 0 is unrelated.")


class WhyOut(Shape):
    """Why it was chosen, in numbers and words; null before anything is measured."""

    mean: float | None = Field(description="What the model expects.")
    std: float | None = Field(description="How unsure it is.")
    ucb: float | None = Field(description="The optimistic value it was chosen for.")
    exploration: float = Field(description="Share of the choice owed to uncertainty, 0 to 1.")
    gain: float | None = Field(description="Expected improvement over the best measured candidate.")
    nearest: tuple[NearOut, ...] = Field(description="The measured candidates most alike.")
    words: str


class SuggestionOut(Shape):
    suggestion: str = Field(description="Report by this.", examples=["3-1"])
    rank: int
    key: str = Field(description="The candidate.", examples=["A7-42"])
    replicates: int = Field(description="How many measurements are wanted.")
    state: SuggestionState
    features: dict[str, float | bool | str | None]
    attributes: dict[str, float | bool | str | None]
    why: WhyOut


class BatchBrief(Shape):
    number: int
    worker: str
    state: BatchState
    size: int = Field(description="Measurements in it, replicates counted.")
    created_at: str
    basis_seq: int = Field(description="The part of the ledger it was computed from.")
    ended: str = Field(description="Why it ended: its rule, the size asked for, or no candidate left.")
    ratio_bound: float | None = Field(description="How far its bounds may have drifted.")
    guaranteed: bool = Field(description="Whether the theory's guarantee covers it.")
    alpha: float
    beta: float
    dictionary: int
    effective_dimension: float
    regret_bound: float | None
    degraded: dict[str, int] = Field(description="Numerical rescues that were needed.")
    seconds: float
    build: str


class BatchOut(BatchBrief):
    fit: dict[str, Any] | None = Field(description="The model fitted in auto mode.")
    suggestions: tuple[SuggestionOut, ...]


class BatchPage(Shape):
    batches: tuple[BatchBrief, ...]
    next: int | None


class BenchOut(Shape):
    suggestions: tuple[SuggestionOut, ...]


class ComputingOut(Shape):
    status: str = "computing"
    detail: str = "The batch is being computed; ask again with the same worker and it is there."


_BRIEF = (
    *("ended", "ratio_bound", "guaranteed", "alpha", "beta", "dictionary", "effective_dimension"),
    *("regret_bound", "degraded", "seconds", "build"),
)


def batch_brief(batch: Batch) -> BatchBrief:
    return BatchBrief(**_brief(batch))


def batch_out(asked: Asked) -> BatchOut:
    suggestions = tuple(suggestion_out(one, asked.candidates) for one in asked.suggestions)
    return BatchOut(**_brief(asked.batch), fit=asked.batch.record["fit"], suggestions=suggestions)


def suggestion_out(one: Suggestion, candidates: Any) -> SuggestionOut:
    candidate: Candidate = candidates[one.candidate]
    near = tuple(NearOut(key=candidates[n["candidate"]].key, similarity=n["similarity"]) for n in one.record["nearest"])
    return SuggestionOut(
        suggestion=one.id,
        rank=one.rank,
        key=candidate.key,
        replicates=one.replicates,
        state=one.state,
        features=candidate.features,
        attributes=candidate.attributes,
        why=WhyOut(**one.record | {"nearest": near}),
    )


def _brief(batch: Batch) -> dict[str, Any]:
    told = {name: batch.record[name] for name in _BRIEF}
    return {
        "number": batch.number,
        "worker": batch.worker,
        "state": batch.state,
        "size": batch.size,
        "created_at": batch.created_at,
        "basis_seq": batch.basis_seq,
        **told,
    }
