"""A study: one optimisation, its configuration and its life cycle."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, Literal

from app.domain.candidates import Column
from app.domain.errors import ForbiddenTransition, StudyNotActive
from app.domain.reservations import Reservation


class Direction(StrEnum):
    MAXIMIZE = "maximize"
    MINIMIZE = "minimize"
    TARGET = "target"


class StudyState(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    ARCHIVED = "archived"
    DELETED = "deleted"


# active ⇄ paused ⇄ archived → deleted, and directly from each to any other. A deleted study is restored by an event.
TRANSITIONS: dict[StudyState, frozenset[StudyState]] = {
    StudyState.ACTIVE: frozenset({StudyState.PAUSED, StudyState.ARCHIVED, StudyState.DELETED}),
    StudyState.PAUSED: frozenset({StudyState.ACTIVE, StudyState.ARCHIVED, StudyState.DELETED}),
    StudyState.ARCHIVED: frozenset({StudyState.ACTIVE, StudyState.PAUSED, StudyState.DELETED}),
    StudyState.DELETED: frozenset(),
}


@dataclass(frozen=True)
class Limits:
    """The lowest and the highest value that a quantity can have; None: no limit on that side."""

    low: float | None = None
    high: float | None = None

    def allow(self, value: float) -> bool:
        return (self.low is None or self.low <= value) and (self.high is None or value <= self.high)

    def __str__(self) -> str:
        if self.low is not None and self.high is not None:
            return f"between {self.low:g} and {self.high:g}"
        return f"at least {self.low:g}" if self.low is not None else f"at most {self.high:g}"


@dataclass(frozen=True)
class Theory:
    """A model whose every part its owner fixed, so that the paper's guarantees hold; in the user's units."""

    kernel: Mapping[str, Any] = field(default_factory=lambda: {"kind": "gaussian", "lengthscale": 1.0})
    noise: float = 0.1  # ξ, standard deviation of a measurement
    regularization: float | None = None  # λ; by default the variance of the noise
    norm: float = 1.0  # F
    delta: float = 0.05
    q_bar: float | None = 2.0
    threshold: float = 2.0  # C̃
    rule: str | None = None  # by default the algorithm's own
    confidence: Literal["sharp", "tight", "paper"] = "sharp"
    offset: float = 0.0  # model units are (value − offset) / scale
    scale: float = 1.0


@dataclass(frozen=True)
class Objective:
    """A named quantity that is to be made as large or as small as possible, or to be brought near a target."""

    name: str = "value"
    unit: str = ""
    direction: Direction = Direction.MAXIMIZE
    limits: Limits | None = None
    target: float | None = None
    theory: Theory | None = None  # its own model, where the study's does not suit its unit


@dataclass(frozen=True)
class Constraint:
    """A named quantity that must be within bounds. It may also be an objective; else it is measured for this alone."""

    name: str
    at_least: float | None = None
    at_most: float | None = None
    unit: str = ""
    limits: Limits | None = None
    theory: Theory | None = None


@dataclass(frozen=True)
class Stop:
    """Conditions that end the asking, never the reporting; any one of them suffices."""

    regret_bound: float | None = None
    observations: int | None = None
    date: str | None = None

    def reason(self, observations: int, now: str, regret_bound: float | None = None) -> str | None:
        """The name of a condition that holds, or None."""
        if self.observations is not None and observations >= self.observations:
            return "observations"
        if self.date is not None and now >= self.date:
            return "date"
        if self.regret_bound is not None and regret_bound is not None and regret_bound <= self.regret_bound:
            return "regret_bound"
        return None


@dataclass(frozen=True)
class ModelSettings:
    """The settings that the model depends on: changing one of them makes an earlier fit void."""

    objectives: tuple[Objective, ...] = (Objective(),)
    seed: int = 0
    goal: Literal["best", "production", "explore"] = "best"
    algorithm: str = "bbkb"
    theory: Theory | None = None  # by default the model is fitted to the data: auto mode
    columns: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # how a column becomes a feature
    repeats: Literal["auto", "allowed", "never"] | int = "auto"
    noise: Literal["auto", "none"] | float = "auto"  # none: a repeat gives the same value; or its standard deviation


@dataclass(frozen=True)
class Configuration(ModelSettings):
    """Everything that the owner of a study decides; every field has a default that works."""

    description: str = ""
    min_batch: int = 1
    max_batch: int = 100
    first_batch: int | None = None
    where: tuple[str, ...] = ()  # conditions that every ask adds to its own
    stop: Stop = Stop()
    overdue_hours: float | None = None
    constraints: tuple[Constraint, ...] = ()
    prefer: Mapping[str, float] = field(default_factory=dict)  # weights of the objectives; without them, their front
    reference: Mapping[str, float] = field(default_factory=dict)  # what is too bad to be of interest, by objective
    failures: Literal["learn"] | None = None  # whether failures tell where nothing can be measured
    budget: float | None = None  # what all measurements together may cost; asks stay within what is left of it
    cost_unit: str | None = None
    confirm: int | None = None  # how often each of the best few is measured before the study ends
    tags: tuple[str, ...] = ()  # words that sort studies, for people
    shard: int | None = None  # candidates in one shard of the model's largest array; None: the array is one piece
    precision: Literal["float32"] | None = None  # in which the model keeps its two largest arrays; None: float64

    @property
    def objective(self) -> Objective:
        """The first objective; in most studies the only one."""
        return self.objectives[0]

    @cached_property
    def quantities(self) -> tuple[Objective, ...]:
        """Everything that a measurement gives a value of: the objectives, then what only a constraint names."""
        optimised = {objective.name for objective in self.objectives}
        return self.objectives + tuple(
            Objective(constraint.name, constraint.unit, limits=constraint.limits, theory=constraint.theory)
            for constraint in self.constraints
            if constraint.name not in optimised
        )

    @property
    def is_plain(self) -> bool:
        """Whether there is one quantity, to be made large or small, and nothing else."""
        return len(self.objectives) == 1 and not self.constraints and self.objective.target is None

    def bounds_of(self, name: str) -> tuple[float, ...]:
        """The bounds that constraints set to a quantity."""
        bounds = [(limit.at_least, limit.at_most) for limit in self.constraints if limit.name == name]
        return tuple(bound for both in bounds for bound in both if bound is not None)

    def of(self, quantity: Objective) -> "Configuration":
        """The settings of a study of this quantity alone; every quantity gets an equal share of δ."""
        theory = self.theory and (quantity.theory or self.theory)
        if theory is not None:
            theory = replace(theory, delta=theory.delta / len(self.quantities))
        return replace(
            self, objectives=(quantity,), theory=theory, constraints=(), prefer={}, reference={}, failures=None
        )

    @property
    def model_settings(self) -> ModelSettings:
        return ModelSettings(**{setting.name: getattr(self, setting.name) for setting in fields(ModelSettings)})


UNKNOWN_SERVER = "unknown"


OF_A_FORK = "study:"  # before the name of the study, in the origin of what a fork has from it


def is_from_here(origin: str | None) -> bool:
    """Whether an event with this origin was recorded on this server."""
    return origin is None or origin.startswith(OF_A_FORK)


@dataclass(frozen=True)
class Import:
    """The event `seq` says where all events before it came from: an archive from `server`, or another study here."""

    seq: int
    server: str | None = None
    study: str | None = None  # that this one is a fork of


@dataclass(frozen=True)
class Study:
    id: int
    name: str
    state: StudyState
    configuration: Configuration
    version: int  # of state, configuration and candidate list: the version in If-Match
    seq: int  # of the newest event
    head: str  # hash of the newest event
    created_at: str
    columns: tuple[Column, ...] = ()
    candidates: int = 0
    imports: tuple[Import, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    sealed_as: str | None = None  # its name in the ledger, once a new study has that name

    @property
    def ledger_name(self) -> str:
        """The name under which its events are sealed."""
        return self.sealed_as or self.name

    def origin_of(self, seq: int) -> str | None:
        """The server, or the other study of this one, where an event was recorded; None for here."""
        covering = [imported for imported in self.imports if seq < imported.seq]
        servers = (imported.server for imported in covering if imported.server is not None)
        studies = (f"{OF_A_FORK}{imported.study}" for imported in covering)
        return next(servers, None) or next(studies, None)

    @property
    def fork_of(self) -> Import | None:
        """Where it was forked last, here or before it was imported."""
        return next((imported for imported in reversed(self.imports) if imported.study is not None), None)

    def reserved_by_others(self, worker: str) -> set[int]:
        """The candidates that another worker will measure without a batch."""
        return {reservation.candidate for reservation in self.reservations if reservation.worker != worker}

    def must_be_active(self) -> None:
        if self.state is not StudyState.ACTIVE:
            raise StudyNotActive(f"The study is {self.state}; resume it to go on.", state=self.state.value)

    def must_not_be_archived(self) -> None:
        if self.state is StudyState.ARCHIVED:
            raise StudyNotActive("The study is archived; resume it to change it.", state=self.state.value)

    def must_be_able_to_become(self, state: StudyState) -> None:
        if state not in TRANSITIONS[self.state]:
            detail = f"A study that is {self.state} cannot become {state}."
            raise ForbiddenTransition(detail, state=self.state.value, wanted=state.value)
