"""A study: one optimisation, its configuration and its life cycle."""

from dataclasses import dataclass, field
from enum import StrEnum

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
class Configuration:
    """What the owner of a study decided; every field has a default that works."""

    direction: Direction = Direction.MAXIMIZE
    description: str = ""
    objective: str = "value"
    unit: str = ""
    seed: int = 0


@dataclass(frozen=True)
class Study:
    id: int
    name: str
    state: StudyState
    configuration: Configuration
    version: int  # of state and configuration: what If-Match speaks of
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
