"""Studies on the wire."""

from typing import Any, Literal

from pydantic import Field

from app.api.schemas.shape import Line, Name, Reason, Request, Shape, Text
from app.domain.candidates import Kind, Role
from app.domain.studies import Configuration, Direction, Study, StudyState


class StudySettings(Request):
    """Everything has a default that works; `{"direction": "maximize"}` is enough."""

    direction: Literal["maximize", "minimize"] = Field(
        default="maximize", description="Whether large or small values are wanted.", examples=["maximize"]
    )
    description: Text = Field(default="", description="What the study is about, for people.")
    objective: Line = Field(default="value", description="Name of what is measured.", examples=["yield"])
    unit: Line = Field(default="", description="Unit of what is measured.", examples=["%"])
    seed: int = Field(default=0, ge=0, lt=2**63, description="The same seed and results give the same batches.")

    def configuration(self) -> Configuration:
        return Configuration(**_settings(self.model_dump()))


class StudyChange(Request):
    """What is left out stays as it is."""

    state: Literal["active", "paused", "archived"] | None = Field(
        default=None, description="active ⇄ paused → archived.", examples=["paused"]
    )
    description: Text | None = None
    objective: Line | None = None
    unit: Line | None = None
    reason: Reason | None = Field(default=None, description="Kept in the ledger.")

    def new_state(self) -> StudyState | None:
        return StudyState(self.state) if self.state else None

    def new_settings(self) -> dict[str, Any]:
        return _settings(self.model_dump(exclude={"state", "reason"}, exclude_none=True))


class ColumnOut(Shape):
    name: str
    kind: Kind
    role: Role
    levels: tuple[str, ...] = Field(description="Of a text feature, in order of first appearance.")


class ConfigurationOut(Shape):
    direction: Direction
    description: str
    objective: str
    unit: str
    seed: int


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


def _settings(fields: dict[str, Any]) -> dict[str, Any]:
    return fields | ({"direction": Direction(fields["direction"])} if "direction" in fields else {})
