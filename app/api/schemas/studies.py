"""Studies on the wire."""

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from app.api.schemas.shape import Line, Moment, Name, Reason, Request, Shape, Text
from app.domain.candidates import Kind, Role
from app.domain.clock import stamp
from app.domain.studies import Configuration, Direction, Stop, Study, StudyState, Theory

Positive = Annotated[float, Field(gt=0)]
Hours = Annotated[float, Field(gt=0, le=1_000_000)]
Repeats = Literal["auto", "allowed", "never"] | Annotated[int, Field(ge=1, le=1_000_000)]


class TheorySettings(Request):
    """A model fixed by you, for the paper's guarantees; leave it out to have one fitted (auto mode)."""

    kernel: dict[str, Any] = Field(
        default={"kind": "gaussian", "lengthscale": 1.0},
        description="Features are scaled to [0, 1] and texts one-hot encoded before it.",
        examples=[{"kind": "matern", "nu": 2.5, "lengthscale": 0.5}],
    )
    noise: Positive = Field(default=0.1, description="ξ: standard deviation of one measurement, in your unit.")
    regularization: Positive | None = Field(default=None, description="λ; by default the variance of the noise.")
    norm: Positive = Field(default=1.0, description="F: a bound on the objective's norm, in your unit.")
    delta: Annotated[float, Field(gt=0, lt=1)] = Field(default=0.05, description="How often the bounds may fail.")
    q_bar: Positive | None = Field(default=2.0, description="q̄: dictionary oversampling; null for the theory's.")
    threshold: Annotated[float, Field(ge=1)] = Field(default=2.0, description="C̃: how far a batch may drift.")
    rule: Literal["global", "local", "exact", "product", "sequential"] | None = Field(
        default=None, description="When a batch ends; by default the algorithm's own rule."
    )
    confidence: Literal["tight", "paper"] = Field(default="tight", description="Width of the bounds inside a batch.")
    offset: float = Field(default=0.0, description="The model sees (value − offset) / scale.")
    scale: Positive = Field(default=1.0, description="The model sees (value − offset) / scale.")


class StopRule(Request):
    """Any of these ends the asking, never the reporting."""

    regret_bound: Positive | None = Field(default=None, description="Nothing can be better by more than this.")
    observations: int | None = Field(default=None, ge=1, description="So many results are in.")
    date: Moment | None = Field(default=None, description="Not after this moment.")


class StudySettings(Request):
    """Everything has a default that works; `{"direction": "maximize"}` is enough."""

    direction: Literal["maximize", "minimize"] = Field(
        default="maximize", description="Whether large or small values are wanted.", examples=["maximize"]
    )
    seed: int = Field(default=0, ge=0, lt=2**63, description="The same seed and results give the same batches.")
    description: Text = Field(default="", description="What the study is about, for people.")
    objective: Line = Field(default="value", description="Name of what is measured.", examples=["yield"])
    unit: Line = Field(default="", description="Unit of what is measured.", examples=["%"])
    goal: Literal["best", "production", "explore"] = Field(
        default="best", description="Find the best one; or gain while measuring; or learn widely."
    )
    algorithm: Line = Field(default="bbkb", description="A member of the family, or a baseline.", examples=["bbkb"])
    theory: TheorySettings | None = Field(default=None, description="Your own model; null for auto mode.")
    columns: dict[str, dict[str, str]] = Field(
        default={}, description="How a column is scaled.", examples=[{"pressure": {"scale": "log"}}]
    )
    min_batch: int = Field(default=1, ge=1, le=100_000, description="Fewest measurements in a batch.")
    max_batch: int = Field(default=100, ge=1, le=100_000, description="Most measurements in a batch.")
    first_batch: int | None = Field(default=None, ge=1, le=100_000, description="Size of the very first batch.")
    repeats: Repeats = Field(default="auto", description="How often one candidate may be measured.")
    noise: Literal["auto", "none"] = Field(
        default="auto",
        description="none: the same candidate always gives the same value; auto: judged from the results.",
    )
    stop: StopRule = Field(default=StopRule(), description="When to stop asking.")
    overdue_hours: Hours | None = Field(default=None, description="When a suggestion counts as overdue.")

    def configuration(self) -> Configuration:
        return _changed(Configuration(), self, set(type(self).model_fields))


def _without_defaults(schema: dict[str, Any]) -> None:
    """A generated client would send them, and so change what its caller left out."""
    for described in schema["properties"].values():
        described.pop("default", None)


class StudyChange(Request):
    """What is left out stays as it is."""

    model_config = ConfigDict(json_schema_extra=_without_defaults)

    state: Literal["active", "paused", "archived"] | None = Field(
        default=None, description="active ⇄ paused → archived.", examples=["paused"]
    )
    reason: Reason | None = Field(default=None, description="Kept in the ledger.")
    description: Text = ""
    objective: Line = "value"
    unit: Line = ""
    goal: Literal["best", "production", "explore"] = "best"
    algorithm: Line = "bbkb"
    theory: TheorySettings | None = None
    columns: dict[str, dict[str, str]] = Field(default={})
    min_batch: int = Field(default=1, ge=1, le=100_000)
    max_batch: int = Field(default=100, ge=1, le=100_000)
    first_batch: int | None = Field(default=None, ge=1, le=100_000)
    repeats: Repeats = "auto"
    noise: Literal["auto", "none"] = "auto"
    stop: StopRule = StopRule()
    overdue_hours: Hours | None = None

    def new_state(self) -> StudyState | None:
        return StudyState(self.state) if self.state else None

    def apply_to(self, configuration: Configuration) -> Configuration:
        return _changed(configuration, self, self.model_fields_set - {"state", "reason"})


class ColumnOut(Shape):
    name: str
    kind: Kind
    role: Role
    levels: tuple[str, ...] = Field(description="Of a text feature, in order of first appearance.")


class TheoryOut(Shape):
    kernel: dict[str, Any]
    noise: float
    regularization: float | None
    norm: float
    delta: float
    q_bar: float | None
    threshold: float
    rule: str | None
    confidence: str
    offset: float
    scale: float


class StopOut(Shape):
    regret_bound: float | None
    observations: int | None
    date: str | None


class ConfigurationOut(Shape):
    direction: Direction
    seed: int
    description: str
    objective: str
    unit: str
    goal: str
    algorithm: str
    theory: TheoryOut | None
    columns: dict[str, dict[str, Any]]
    min_batch: int
    max_batch: int
    first_batch: int | None
    repeats: str | int
    noise: str
    stop: StopOut
    overdue_hours: float | None


class StudyOut(Shape):
    name: Name
    state: StudyState
    version: int = Field(description="Changes when the study's state, settings or candidate list do; also its ETag.")
    created_at: str
    configuration: ConfigurationOut
    candidates: int = Field(description="How many there are.")
    columns: tuple[ColumnOut, ...]


class StudyPage(Shape):
    studies: tuple[StudyOut, ...]
    next: int | None = Field(description="Pass as `after` for the next page; null at the end.")


def study_out(study: Study) -> StudyOut:
    return StudyOut.model_validate(study)


def _changed(configuration: Configuration, settings: Request, names: set[str]) -> Configuration:
    changes: dict[str, Any] = {name: getattr(settings, name) for name in names}
    if "direction" in changes:
        changes["direction"] = Direction(changes["direction"])
    if changes.get("theory") is not None:
        changes["theory"] = Theory(**changes["theory"].model_dump())
    if "stop" in changes:
        stop = changes["stop"]
        changes["stop"] = Stop(stop.regret_bound, stop.observations, stamp(stop.date) if stop.date else None)
    return replace(configuration, **changes)
