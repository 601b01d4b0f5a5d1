"""Studies on the wire. Each setting is spelled out once: requests and answers share it."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from app.api.schemas.columns import ColumnOut
from app.api.schemas.quantities import ConstraintSettings, LimitsSettings, ObjectiveSettings, Positive, TheorySettings
from app.api.schemas.shape import Line, Moment, Name, Origin, Reason, Request, Shape, Text
from app.domain.clock import stamp
from app.domain.errors import Finding, Invalid
from app.domain.limits import (
    FEWEST_IN_SHARD,
    MOST_CONDITIONS,
    MOST_CONFIRMED,
    MOST_EXPENSE,
    MOST_IN_SHARD,
    MOST_MEASUREMENTS,
    MOST_NOISE,
    MOST_OVERDUE_HOURS,
    MOST_REPEATS,
    MOST_TAGS,
    SEEDS,
)
from app.domain.studies import (
    Configuration,
    Constraint,
    Direction,
    Limits,
    Objective,
    Stop,
    Study,
    StudyState,
    Theory,
)

Noise = Annotated[float, Field(gt=0, le=MOST_NOISE)]
Hours = Annotated[float, Field(gt=0, le=MOST_OVERDUE_HOURS)]
Repeats = Literal["auto", "allowed", "never"] | Annotated[int, Field(ge=1, le=MOST_REPEATS)]


class StopRule(Request):
    """Any one of these ends the asking, never the reporting."""

    regret_bound: Positive | None = Field(
        default=None, description="With one objective: no candidate can be better by more than this.", examples=[0.5]
    )
    observations: int | None = Field(
        default=None, ge=1, description="This many results have been reported.", examples=[60]
    )
    date: Moment | None = Field(default=None, description="Not after this moment.", examples=["2026-12-24T12:00:00Z"])


class ChangeableSettings(Request):
    """The settings that can change during a study."""

    description: Text = Field(
        default="", description="What the study is about, for people.", examples=["Coupling of DA-1 with aryl bromides"]
    )
    objective: Line = Field(
        default="value",
        description="Name of the measured quantity; it can change until the first result.",
        examples=["yield"],
    )
    unit: Line = Field(default="", description="Unit of the measured quantity.", examples=["%"])
    direction: Literal["maximize", "minimize", "target"] = Field(
        default="maximize",
        description="Whether large or small values are good; it can change until the first result.",
        examples=["maximize"],
    )
    limits: LimitsSettings | None = Field(
        default=None, description="Of the measured quantity.", examples=[{"low": 0, "high": 100}]
    )
    target: float | None = Field(
        default=None, description='With the direction "target": the best value.', examples=[7.4]
    )
    objectives: list[ObjectiveSettings] | None = Field(
        default=None,
        min_length=1,
        max_length=5,
        description="Several objectives, instead of `objective`, `unit`, `direction`, `limits` and `target`.",
        examples=[[{"name": "yield", "unit": "%", "direction": "maximize"}, {"name": "cost", "direction": "minimize"}]],
    )
    constraints: list[ConstraintSettings] = Field(
        default=[],
        max_length=10,
        description="What must be good enough.",
        examples=[[{"name": "purity", "at_least": 95}]],
    )
    prefer: dict[Line, Positive] = Field(
        default={},
        description="Weights of the objectives: seek one compromise instead of their front.",
        examples=[{"yield": 2, "cost": 1}],
    )
    reference: dict[Line, float] = Field(
        default={}, description="By objective: values that are too bad to be of interest.", examples=[{"yield": 20}]
    )
    failures: Literal["learn", "ignore"] = Field(
        default="learn", description="Whether failures that count tell where nothing can be measured."
    )
    goal: Literal["best", "production", "explore"] = Field(
        default="best", description="Find the best candidate; or get good results on the way; or learn widely."
    )
    algorithm: Line = Field(default="bbkb", description="A member of the family, or a baseline.", examples=["bbkb"])
    theory: TheorySettings | None = Field(
        default=None, description="Your own model; null for auto mode.", examples=[{"noise": 1.5, "norm": 50}]
    )
    columns: dict[str, dict[str, str]] = Field(
        default={}, description="How a column is scaled.", examples=[{"pressure": {"scale": "log"}}]
    )
    min_batch: int = Field(
        default=1, ge=1, le=MOST_MEASUREMENTS, description="Fewest measurements in a batch.", examples=[4]
    )
    max_batch: int = Field(
        default=100, ge=1, le=MOST_MEASUREMENTS, description="Most measurements in a batch.", examples=[24]
    )
    first_batch: int | None = Field(
        default=None, ge=1, le=MOST_MEASUREMENTS, description="Size of the very first batch.", examples=[12]
    )
    where: tuple[Line, ...] = Field(
        default=(),
        max_length=MOST_CONDITIONS,
        strict=False,
        description="Conditions that every ask adds to its own.",
        examples=[["in_stock = true"]],
    )
    repeats: Repeats = Field(default="auto", description="How often one candidate may be measured.", examples=["never"])
    noise: Literal["auto", "none"] | Noise = Field(
        default="auto",
        description="none: the same candidate always gives the same value; a number: the standard deviation of a "
        "measurement, in your unit; auto: judged from the results.",
        examples=[1.5],
    )
    stop: StopRule = Field(default=StopRule(), description="When to stop asking.", examples=[{"observations": 60}])
    overdue_hours: Hours | None = Field(default=None, description="When a suggestion counts as overdue.", examples=[48])
    budget: Annotated[float, Field(ge=0, le=MOST_EXPENSE)] | None = Field(
        default=None,
        description="What all measurements together may cost; asks stay within what is left of it.",
        examples=[5000],
    )
    confirm: int | None = Field(
        default=None,
        ge=2,
        le=MOST_CONFIRMED,
        description="Measure the best few so often before the study ends.",
        examples=[3],
    )
    cost_unit: Line | None = Field(default=None, description="Unit of the costs.", examples=["EUR"])
    tags: tuple[Line, ...] = Field(
        default=(),
        max_length=MOST_TAGS,
        strict=False,
        description="Words that sort studies, for people: a project, an instrument, a quarter.",
        examples=[["catalysis", "2026-Q4"]],
    )

    def over(self, configuration: Configuration) -> Configuration:
        """The configuration with the settings that were sent."""
        return _changed(configuration, self, self.model_fields_set)


class StudySettings(ChangeableSettings):
    """Everything has a default that works; `{"direction": "maximize"}` is enough."""

    seed: int = Field(
        default=0, ge=0, lt=SEEDS, description="The same seed and results give the same batches.", examples=[7]
    )

    shard: int | None = Field(
        default=None,
        ge=FEWEST_IN_SHARD,
        le=MOST_IN_SHARD,
        description="Candidates in one shard of a long list; shards may be swept at the same time. Null: no shards.",
        examples=[250_000],
    )
    precision: Literal["float32"] | None = Field(
        default=None,
        description="In which the model keeps features and embedding: half the memory, and rounded. Null: float64.",
        examples=["float32"],
    )

    def configuration(self) -> Configuration:
        return _changed(Configuration(), self, set(type(self).model_fields))


def without_defaults(schema: dict[str, Any]) -> None:
    """A generated client would send the defaults, and so change what its caller left out."""
    for described in schema["properties"].values():
        described.pop("default", None)


class StudyChange(ChangeableSettings):
    """What is left out stays as it is."""

    model_config = ConfigDict(json_schema_extra=without_defaults)

    state: Literal["active", "paused", "archived"] | None = Field(
        default=None, description="active ⇄ paused ⇄ archived.", examples=["paused"]
    )
    reason: Reason | None = Field(default=None, description="Kept in the ledger.")

    def new_state(self) -> StudyState | None:
        return StudyState(self.state) if self.state else None

    def apply_to(self, configuration: Configuration) -> Configuration:
        return _changed(configuration, self, self.model_fields_set - {"state", "reason"})


class ForkedFrom(Shape):
    study: str
    at: int = Field(description="The last event that both have in common.")


class StudyOut(Shape):
    name: Name
    state: StudyState
    version: int = Field(description="Changes when the study's state, settings or candidate list do; also its ETag.")
    created_at: str
    configuration: StudySettings
    candidates: int = Field(description="How many there are.")
    columns: tuple[ColumnOut, ...]
    origin: Origin
    forked_from: ForkedFrom | None = Field(description="The study that this one began as, if it is a fork.")


class StudyPage(Shape):
    studies: tuple[StudyOut, ...]
    next: int | None = Field(description="Pass as `after` for the next page; null at the end.")


def study_out(study: Study) -> StudyOut:
    fork = study.fork_of
    return StudyOut(
        name=study.name,
        state=study.state,
        version=study.version,
        created_at=study.created_at,
        configuration=settings_of(study.configuration),
        candidates=study.candidates,
        columns=tuple(ColumnOut.model_validate(column) for column in study.columns),
        origin=study.origin_of(1),
        forked_from=ForkedFrom(study=fork.study, at=fork.seq - 1) if fork and fork.study else None,
    )


def settings_of(configuration: Configuration) -> StudySettings:
    """The settings as they are shown. They were checked when they came in, and are not checked again."""
    stop, theory, objective = configuration.stop, configuration.theory, configuration.objective
    return StudySettings.model_construct(
        **vars(configuration)
        | {
            "direction": objective.direction.value,
            "objective": objective.name,
            "unit": objective.unit,
            "limits": _limits_of(objective.limits),
            "target": objective.target,
            "objectives": [
                ObjectiveSettings.model_construct(**vars(shown) | _shown(shown) | {"direction": shown.direction.value})
                for shown in configuration.objectives
            ],
            "constraints": [
                ConstraintSettings.model_construct(**vars(constraint) | _shown(constraint))
                for constraint in configuration.constraints
            ],
            "failures": configuration.failures or "ignore",
            "theory": _theory_of(theory),
            "stop": StopRule.model_construct(
                regret_bound=stop.regret_bound,
                observations=stop.observations,
                date=datetime.fromisoformat(stop.date) if stop.date else None,
            ),
        }
    )


def _shown(quantity: Objective | Constraint) -> dict[str, Any]:
    return {"limits": _limits_of(quantity.limits), "theory": _theory_of(quantity.theory)}


def _limits_of(limits: Limits | None) -> LimitsSettings | None:
    return None if limits is None else LimitsSettings.model_construct(**vars(limits))


def _theory_of(theory: Theory | None) -> TheorySettings | None:
    return None if theory is None else TheorySettings.model_construct(**vars(theory))


def _changed(configuration: Configuration, settings: ChangeableSettings, names: set[str]) -> Configuration:
    """The configuration with the named settings."""
    changes: dict[str, Any] = {name: getattr(settings, name) for name in names if name not in _OF_OBJECTIVES}
    changes["objectives"] = _objectives(configuration, settings, names)
    if "constraints" in changes:
        changes["constraints"] = tuple(_constraint(sent) for sent in changes["constraints"])
    if "failures" in changes:
        changes["failures"] = "learn" if changes["failures"] == "learn" else None
    if changes.get("theory") is not None:
        changes["theory"] = _theory(changes["theory"])
    if "stop" in changes:
        stop = changes["stop"]
        changes["stop"] = Stop(stop.regret_bound, stop.observations, stamp(stop.date) if stop.date else None)
    return replace(configuration, **changes)


_SHORT_FORM = {"objective": "name", "unit": "unit", "direction": "direction", "limits": "limits", "target": "target"}
"""The settings of a study's only objective, and what an objective calls them."""
_OF_OBJECTIVES = {*_SHORT_FORM, "objectives"}


def _objectives(configuration: Configuration, settings: ChangeableSettings, names: set[str]) -> tuple[Objective, ...]:
    """The objectives as sent: all of them, or the only one in the short form. Both must say the same."""
    short = {_SHORT_FORM[name]: getattr(settings, name) for name in names & _SHORT_FORM.keys()}
    if "direction" in short:
        short["direction"] = Direction(short["direction"])
    if "limits" in short:
        short["limits"] = _limits(short["limits"])
    if settings.objectives is None:
        if len(configuration.objectives) > 1 and short:
            message = "This study has several objectives. Send `objectives`."
            raise Invalid([Finding("objectives", message, pointer=f"/{min(names & _SHORT_FORM.keys())}")])
        return (replace(configuration.objective, **short), *configuration.objectives[1:])
    objectives = tuple(_objective(sent) for sent in settings.objectives)
    stated = {_SHORT_FORM[name] for name in settings.model_fields_set & _SHORT_FORM.keys()}
    if any(getattr(objectives[0], name) != short[name] for name in stated):
        message = (
            "`objectives` says something else than `objective`, `unit`, `direction`, `limits` and `target`. Send one."
        )
        raise Invalid([Finding("objectives", message, pointer="/objectives")])
    return objectives


def _objective(sent: ObjectiveSettings) -> Objective:
    return Objective(
        sent.name, sent.unit, Direction(sent.direction), _limits(sent.limits), sent.target, _theory(sent.theory)
    )


def _constraint(sent: ConstraintSettings) -> Constraint:
    return Constraint(sent.name, sent.at_least, sent.at_most, sent.unit, _limits(sent.limits), _theory(sent.theory))


def _limits(sent: LimitsSettings | None) -> Limits | None:
    return None if sent is None else Limits(sent.low, sent.high)


def _theory(sent: TheorySettings | None) -> Theory | None:
    return None if sent is None else Theory(**sent.model_dump())
