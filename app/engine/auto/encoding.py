"""How the raw columns of a study become its features X: learnt once, stored with the study, applied to every later
candidate."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from app.engine.arrays import Array
from app.engine.auto.layout import Layout, Role
from app.engine.auto.scaling import Scaling

VERSION = 1
Codes = NDArray[np.int32]


@dataclass(frozen=True)
class Step:
    """Encoded columns made of one raw column: raw column `source`, the `place`-th of the numbers or of the codes."""

    role: Role
    source: int
    place: int
    scaling: Scaling | None = None
    """Of a number."""
    levels: tuple[int, ...] = ()
    """Of a text: the codes that were seen, one encoded column each."""

    @property
    def width(self) -> int:
        """How many encoded columns."""
        return len(self.levels) if self.role == "level" else 1

    def apply(self, numbers: Array, codes: Codes) -> Array:
        """(n, width). A text level unknown when the encoding was learnt is all zeros: equally far from every known
        level."""
        if self.role == "level":
            one_hot: Array = (codes[:, [self.place]] == np.asarray(self.levels)).astype(float)
            return one_hot
        values = numbers[:, self.place]
        return (self.scaling.apply(values) if self.scaling else values)[:, None]

    def describe(self) -> dict[str, Any]:
        """Plain JSON."""
        scaling = self.scaling.describe() if self.scaling else None
        return {**self.__dict__, "scaling": scaling, "levels": list(self.levels)}

    @classmethod
    def build(cls, description: dict[str, Any]) -> Self:
        """The inverse of `describe`."""
        scaling = Scaling(**description["scaling"]) if description["scaling"] else None
        return cls(**{**description, "scaling": scaling, "levels": tuple(description["levels"])})


@dataclass(frozen=True)
class Caution:
    """Something about the table the user should know; nothing was refused."""

    code: Literal["constant", "nearly_duplicate", "many_levels", "no_features"]
    columns: tuple[str, ...]
    message: str

    def describe(self) -> dict[str, Any]:
        """Plain JSON."""
        return {**self.__dict__, "columns": list(self.columns)}

    @classmethod
    def build(cls, description: dict[str, Any]) -> Self:
        """The inverse of `describe`."""
        return cls(**{**description, "columns": tuple(description["columns"])})


@dataclass(frozen=True)
class Encoding:
    """The steps in the order of the raw columns; a table of constant columns alone has one feature, 0."""

    steps: tuple[Step, ...]
    warnings: tuple[Caution, ...] = ()

    @property
    def layout(self) -> Layout:
        """What each of the d encoded columns means."""
        if not self.steps:
            return Layout.of_numbers(1)
        roles = [step.role for step in self.steps for _ in range(step.width)]
        sources = [step.source for step in self.steps for _ in range(step.width)]
        return Layout(tuple(roles), tuple(sources))

    def apply(self, numbers: Array, codes: Codes) -> Array:
        """Raw numbers (n, ·) and codes (n, ·) to features (n, d), finite for finite numbers."""
        if not self.steps:
            return np.zeros((len(numbers), 1))
        return np.ascontiguousarray(np.hstack([step.apply(numbers, codes) for step in self.steps]))

    def describe(self) -> dict[str, Any]:
        """Plain JSON with a version; `Encoding.build` is the inverse."""
        return {"version": VERSION, "steps": _described(self.steps), "warnings": _described(self.warnings)}

    @classmethod
    def build(cls, description: dict[str, Any]) -> Self:
        """The encoding that `describe` wrote."""
        if description["version"] != VERSION:
            raise ValueError(f"this program reads encodings of version {VERSION}, not {description['version']}")
        return cls(tuple(map(Step.build, description["steps"])), tuple(map(Caution.build, description["warnings"])))


def _described(parts: Sequence[Step | Caution]) -> list[dict[str, Any]]:
    return [part.describe() for part in parts]
