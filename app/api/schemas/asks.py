"""Asks and previews on the wire."""

from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints

from app.api.schemas.batches import SuggestionOut, bench_out, prices_in_words
from app.api.schemas.shape import Line, Name, Reason, Request, Shape
from app.domain import limits
from app.domain.batches import Composition
from app.services.use_cases.ask_terms import AskForm
from app.services.workflows.preview import Preview

KeyIn = Annotated[str, StringConstraints(min_length=1, max_length=limits.LINE_LENGTH)]
Amount = Annotated[float, Field(ge=0, le=limits.MOST_EXPENSE)]
Size = Annotated[int, Field(ge=1, le=limits.MOST_MEASUREMENTS)]


def _as_list(value: object) -> object:
    """One condition or column may stand without a list."""
    return [value] if isinstance(value, str) else value


Lines = Annotated[list[Line], BeforeValidator(_as_list)]


def _as_inclusions(value: object) -> object:
    """A key alone is one measurement of that candidate."""
    return [{"key": item} if isinstance(item, str) else item for item in value] if isinstance(value, list) else value


class InclusionIn(Request):
    key: KeyIn = Field(description="The candidate.", examples=["A7"])
    replicates: Size = Field(default=1, description="How often to measure it.", examples=[2])


class CompositionIn(Request):
    same: Annotated[Lines, Field(max_length=limits.MOST_TERMS)] = Field(
        default=[], description="Columns that have one value in the whole batch.", examples=[["temperature"]]
    )
    at_most: dict[Line, Size] = Field(
        default={},
        max_length=limits.MOST_TERMS,
        description="The most distinct values of a column.",
        examples=[{"solvent": 3}],
    )
    per: dict[Line, Size] = Field(
        default={},
        max_length=limits.MOST_TERMS,
        description="The most measurements with the same value of a column.",
        examples=[{"solvent": 2}],
    )
    wells: Size | None = Field(default=None, description="A plate to fill: the number of its wells.", examples=[96])


class AskIn(Request):
    worker: Name = Field(default="default", description="Who asks: a bench, a robot, a script.", examples=["bench-2"])
    min_size: Size | None = Field(default=None, description="Fewest measurements to suggest.", examples=[4])
    max_size: Size | None = Field(default=None, description="Most measurements to suggest.", examples=[8])
    where: Annotated[Lines, Field(max_length=limits.MOST_CONDITIONS)] = Field(
        default=[],
        description="Conditions that every chosen candidate meets.",
        examples=[["temperature >= 80", "solvent in (DMF, THF)"]],
    )
    include: Annotated[list[InclusionIn], BeforeValidator(_as_inclusions), Field(max_length=limits.MOST_NAMED)] = Field(
        default=[],
        description="Candidates that are in the batch in any case; a key alone is one measurement.",
        examples=[[{"key": "A7", "replicates": 2}]],
    )
    exclude: Annotated[list[KeyIn], Field(max_length=limits.MOST_NAMED)] = Field(
        default=[], description="Candidates that are not in the batch.", examples=[["A3"]]
    )
    composition: CompositionIn | None = Field(
        default=None, description="What the members of the batch share.", examples=[{"same": ["temperature"]}]
    )
    budget: Amount | None = Field(
        default=None, description="What all its measurements may cost, if a column says what one costs.", examples=[100]
    )
    time: Amount | None = Field(
        default=None,
        description="How long all its measurements may take, if a column says how long one does.",
        examples=[480],
    )
    preview: bool = Field(default=False, description="Show the batch as it would be; store nothing.")
    confirm: Line | None = Field(
        default=None, description="The id of a preview: issue exactly that batch, or none.", examples=["B3-5f0c2d"]
    )
    wait: float = Field(default=30.0, ge=0, le=600, description="Seconds to wait before a 202.", examples=[5])

    def form(self) -> AskForm:
        composition = self.composition
        return AskForm(
            worker=self.worker,
            min_size=self.min_size,
            max_size=self.max_size,
            where=tuple(self.where),
            include=tuple((inclusion.key, inclusion.replicates) for inclusion in self.include),
            exclude=tuple(self.exclude),
            composition=None
            if composition is None
            else Composition(tuple(composition.same), composition.at_most, composition.per, composition.wells),
            budget=self.budget,
            time=self.time,
            confirm=self.confirm,
        )


class SwapIn(Request):
    reason: Reason = Field(description="Why it cannot be measured now.", examples=["not in stock"])
    switch_off: bool | None = Field(
        default=None,
        description="Switch its candidate off as well, for the same reason. By default, only if the reason is `not in "
        "stock` or `out of stock`.",
    )


class PreviewOut(Shape):
    """A batch as it would be issued now. Nothing was stored."""

    preview: str = Field(
        description="Send it as `confirm` to issue exactly this batch.", examples=["41-9c3f0f5d7a1e2b48"]
    )
    size: int = Field(description="Measurements in it, including replicates.")
    ended: str = Field(description="Why it ended: its rule, the size asked for, or no candidate left.")
    size_words: str | None = Field(
        description="Why it has this size, and what one more or one fewer would change, in words (auto mode)."
    )
    guaranteed: bool = Field(description="Whether the theory's guarantee covers it.")
    prices: dict[str, float] = Field(
        description="For each term of the request: how much more the batch is expected to find without it, in the "
        "objective's unit; with several objectives, the share of the hypervolume that it loses."
    )
    price_words: dict[str, str] = Field(description="The same in words, with units.")
    cost: float | None = Field(description="Of all its measurements.")
    duration: float | None = Field(description="Of all its measurements.")
    suggestions: tuple[SuggestionOut, ...]


def preview_out(preview: Preview) -> PreviewOut:
    return PreviewOut(
        preview=preview.id,
        size=preview.size,
        ended=preview.record.ended,
        size_words=preview.record.size_words,
        guaranteed=preview.record.guaranteed,
        prices=dict(preview.record.prices),
        price_words=prices_in_words(preview.record.prices, preview.configuration),
        cost=preview.bench.total("cost"),
        duration=preview.bench.total("duration"),
        suggestions=bench_out(preview.bench).suggestions,
    )
