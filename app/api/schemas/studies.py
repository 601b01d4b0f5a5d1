"""Studies on the wire. Each setting is spelled out once: requests and answers share it."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from app.api.schemas.shape import Line, Moment, Name, Origin, Reason, Request, Shape, Text
from app.domain import limits
from app.domain.candidates import ColumnKind, ColumnRole
from app.domain.clock import stamp
from app.domain.studies import Configuration, Direction, Stop, Study, StudyState, Theory

Positive = Annotated[float, Field(gt=0)]
Noise = Annotated[float, Field(gt=0, le=limits.MOST_NOISE)]
Hours = Annotated[float, Field(gt=0, le=limits.MOST_OVERDUE_HOURS)]
Repeats = Literal["auto", "allowed", "never"] | Annotated[int, Field(ge=1, le=limits.MOST_REPEATS)]


class TheorySettings(Request):
    """A model that you fix, for the paper's guarantees; without it one is fitted to the results (auto mode)."""

    kernel: dict[str, Any] = Field(
        default={"kind": "gaussian", "lengthscale": 1.0},
        description="The kernel. Before it, features are scaled to [0, 1] and texts are one-hot encoded.",
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
    confidence: Literal["sharp", "tight", "paper"] = Field(
        default="sharp",
        description="The bounds: sharp holds with any q̄; tight and paper are the paper's, which need the theory's q̄.",
    )
    offset: float = Field(default=0.0, description="The model sees (value − offset) / scale.")
    scale: Positive = Field(default=1.0, description="The model sees (value − offset) / scale.")


class StopRule(Request):
    """Any one of these ends the asking, never the reporting."""

    regret_bound: Positive | None = Field(default=None, description="No candidate can be better by more than this.")
    observations: int | None = Field(default=None, ge=1, description="This many results have been reported.")
    date: Moment | None = Field(default=None, description="Not after this moment.")


class ChangeableSettings(Request):
    """The settings that can change during a study."""

    description: Text = Field(default="", description="What the study is about, for people.")
    objective: Line = Field(
        default="value",
        description="Name of the measured quantity; it can change until the first result.",
        examples=["yield"],
    )
    unit: Line = Field(default="", description="Unit of the measured quantity.", examples=["%"])
    goal: Literal["best", "production", "explore"] = Field(
        default="best", description="Find the best candidate; or get good results on the way; or learn widely."
    )
    algorithm: Line = Field(default="bbkb", description="A member of the family, or a baseline.", examples=["bbkb"])
    theory: TheorySettings | None = Field(default=None, description="Your own model; null for auto mode.")
    columns: dict[str, dict[str, str]] = Field(
        default={}, description="How a column is scaled.", examples=[{"pressure": {"scale": "log"}}]
    )
    min_batch: int = Field(default=1, ge=1, le=limits.MOST_MEASUREMENTS, description="Fewest measurements in a batch.")
    max_batch: int = Field(default=100, ge=1, le=limits.MOST_MEASUREMENTS, description="Most measurements in a batch.")
    first_batch: int | None = Field(
        default=None, ge=1, le=limits.MOST_MEASUREMENTS, description="Size of the very first batch."
    )
    where: tuple[Line, ...] = Field(
        default=(),
        max_length=limits.MOST_CONDITIONS,
        strict=False,
        description="Conditions that every ask adds to its own.",
        examples=[["in_stock = true"]],
    )
    repeats: Repeats = Field(default="auto", description="How often one candidate may be measured.")
    noise: Literal["auto", "none"] | Noise = Field(
        default="auto",
        description="none: the same candidate always gives the same value; a number: the standard deviation of a "
        "measurement, in your unit; auto: judged from the results.",
        examples=[1.5],
    )
    stop: StopRule = Field(default=StopRule(), description="When to stop asking.")
    overdue_hours: Hours | None = Field(default=None, description="When a suggestion counts as overdue.")


class StudySettings(ChangeableSettings):
    """Everything has a default that works; `{"direction": "maximize"}` is enough."""

    direction: Literal["maximize", "minimize"] = Field(
        default="maximize", description="Whether large or small values are good.", examples=["maximize"]
    )
    seed: int = Field(default=0, ge=0, lt=limits.SEEDS, description="The same seed and results give the same batches.")

    def configuration(self) -> Configuration:
        return _changed(Configuration(), self, set(type(self).model_fields))


def _without_defaults(schema: dict[str, Any]) -> None:
    """A generated client would send the defaults, and so change what its caller left out."""
    for described in schema["properties"].values():
        described.pop("default", None)


class StudyChange(ChangeableSettings):
    """What is left out stays as it is."""

    model_config = ConfigDict(json_schema_extra=_without_defaults)

    state: Literal["active", "paused", "archived"] | None = Field(
        default=None, description="active ⇄ paused → archived.", examples=["paused"]
    )
    reason: Reason | None = Field(default=None, description="Kept in the ledger.")

    def new_state(self) -> StudyState | None:
        return StudyState(self.state) if self.state else None

    def apply_to(self, configuration: Configuration) -> Configuration:
        return _changed(configuration, self, self.model_fields_set - {"state", "reason"})


class ColumnOut(Shape):
    name: str
    kind: ColumnKind
    role: ColumnRole
    levels: tuple[str, ...] = Field(description="Of a text feature, in order of first appearance.")


class StudyOut(Shape):
    name: Name
    state: StudyState
    version: int = Field(description="Changes when the study's state, settings or candidate list do; also its ETag.")
    created_at: str
    configuration: StudySettings
    candidates: int = Field(description="How many there are.")
    columns: tuple[ColumnOut, ...]
    origin: Origin


class StudyPage(Shape):
    studies: tuple[StudyOut, ...]
    next: int | None = Field(description="Pass as `after` for the next page; null at the end.")


def study_out(study: Study) -> StudyOut:
    return StudyOut(
        name=study.name,
        state=study.state,
        version=study.version,
        created_at=study.created_at,
        configuration=_settings_of(study.configuration),
        candidates=study.candidates,
        columns=tuple(ColumnOut.model_validate(column) for column in study.columns),
        origin=study.origin_of(1),
    )


def _settings_of(configuration: Configuration) -> StudySettings:
    """The settings as they are shown. They were checked when they came in, and are not checked again."""
    stop, theory, objective = configuration.stop, configuration.theory, configuration.objective
    settings = {name: value for name, value in vars(configuration).items() if name != "objectives"}
    return StudySettings.model_construct(
        **settings
        | {
            "direction": objective.direction.value,
            "objective": objective.name,
            "unit": objective.unit,
            "theory": None if theory is None else TheorySettings.model_construct(**vars(theory)),
            "stop": StopRule.model_construct(
                regret_bound=stop.regret_bound,
                observations=stop.observations,
                date=datetime.fromisoformat(stop.date) if stop.date else None,
            ),
        }
    )


def _changed(configuration: Configuration, settings: ChangeableSettings, names: set[str]) -> Configuration:
    """The configuration with the named settings."""
    changes: dict[str, Any] = {name: getattr(settings, name) for name in names}
    renamed = {"objective": "name", "unit": "unit", "direction": "direction"}
    of_objective = {renamed[name]: changes.pop(name) for name in renamed if name in changes}
    if "direction" in of_objective:
        of_objective["direction"] = Direction(of_objective["direction"])
    changes["objectives"] = (replace(configuration.objective, **of_objective),)
    if changes.get("theory") is not None:
        changes["theory"] = Theory(**changes["theory"].model_dump())
    if "stop" in changes:
        stop = changes["stop"]
        changes["stop"] = Stop(stop.regret_bound, stop.observations, stamp(stop.date) if stop.date else None)
    return replace(configuration, **changes)
