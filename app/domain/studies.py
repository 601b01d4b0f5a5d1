"""A study: one optimisation, its configuration and its life cycle."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from app.domain.candidates import Column
from app.domain.errors import ForbiddenTransition, StudyNotActive


class Direction(StrEnum):
    MAXIMIZE = "maximize"
    MINIMIZE = "minimize"


class StudyState(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    ARCHIVED = "archived"
    DELETED = "deleted"


# active ⇄ paused → archived → deleted; an active study may be archived or deleted at once.
TRANSITIONS: dict[StudyState, frozenset[StudyState]] = {
    StudyState.ACTIVE: frozenset({StudyState.PAUSED, StudyState.ARCHIVED, StudyState.DELETED}),
    StudyState.PAUSED: frozenset({StudyState.ACTIVE, StudyState.ARCHIVED, StudyState.DELETED}),
    StudyState.ARCHIVED: frozenset({StudyState.DELETED}),
    StudyState.DELETED: frozenset(),
}


@dataclass(frozen=True)
class Theory:
    """A model whose every part is fixed by its owner, so that the paper's guarantees hold; user units throughout."""

    kernel: dict[str, Any] = field(default_factory=lambda: {"kind": "gaussian", "lengthscale": 1.0})
    noise: float = 0.1  # ξ, standard deviation of a measurement
    regularization: float | None = None  # λ; by default the noise's variance
    norm: float = 1.0  # F
    delta: float = 0.05
    q_bar: float | None = 2.0
    threshold: float = 2.0  # C̃
    rule: str | None = None  # by default the algorithm's own
    confidence: Literal["tight", "paper"] = "tight"
    offset: float = 0.0  # model units are (value − offset) / scale
    scale: float = 1.0


@dataclass(frozen=True)
class Stop:
    """When enough is enough: any of these ends the study's asking, never its reporting."""

    regret_bound: float | None = None
    observations: int | None = None
    date: str | None = None


@dataclass(frozen=True)
class Configuration:
    """What the owner of a study decided; every field has a default that works."""

    direction: Direction = Direction.MAXIMIZE
    description: str = ""
    objective: str = "value"
    unit: str = ""
    seed: int = 0
    goal: Literal["best", "production", "explore"] = "best"
    algorithm: str = "bbkb"
    theory: Theory | None = None  # by default the model is fitted to the data: auto mode
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)  # how a column becomes a feature
    min_batch: int = 1
    max_batch: int = 100
    first_batch: int | None = None
    repeats: Literal["auto", "allowed", "never"] | int = "auto"
    noise: Literal["auto", "none"] = "auto"  # none: the same candidate always gives the same value
    stop: Stop = Stop()
    overdue_hours: float | None = None


def configuration_from(fields: dict[str, Any]) -> Configuration:
    """The inverse of `dataclasses.asdict`."""
    theory = fields.get("theory")
    return Configuration(
        **fields
        | {
            "direction": Direction(fields["direction"]),
            "theory": Theory(**theory) if theory is not None else None,
            "stop": Stop(**fields.get("stop", {})),
        }
    )


@dataclass(frozen=True)
class Study:
    id: int
    name: str
    state: StudyState
    configuration: Configuration
    version: int  # of state, configuration and candidate list: what If-Match speaks of
    seq: int  # of the newest event
    head: str  # hash of the newest event
    created_at: str
    columns: tuple[Column, ...] = field(default=())
    candidates: int = 0

    def must_be_active(self) -> None:
        if self.state is not StudyState.ACTIVE:
            raise StudyNotActive(state=self.state.value)

    def must_not_be_archived(self) -> None:
        if self.state is StudyState.ARCHIVED:
            raise StudyNotActive("The study is archived.", state=self.state.value)

    def must_be_able_to_become(self, state: StudyState) -> None:
        if state not in TRANSITIONS[self.state]:
            raise ForbiddenTransition(state=self.state.value, wanted=state.value)
