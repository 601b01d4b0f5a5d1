"""What the columns of the features X mean, which decides the kernel."""

from dataclasses import dataclass
from typing import Literal

Role = Literal["number", "level", "bit"]


@dataclass(frozen=True)
class Layout:
    """For every encoded column: what it is, and which raw column it came from."""

    roles: tuple[Role, ...]
    sources: tuple[int, ...]

    @classmethod
    def of_numbers(cls, d: int) -> "Layout":
        """d columns of numbers."""
        number: Role = "number"
        return cls((number,) * d, tuple(range(d)))

    @property
    def bits(self) -> tuple[int, ...]:
        """The columns of a fingerprint."""
        return tuple(q for q, role in enumerate(self.roles) if role == "bit")

    @property
    def others(self) -> tuple[int, ...]:
        """All columns that are no bits of a fingerprint."""
        return tuple(q for q, role in enumerate(self.roles) if role != "bit")

    @property
    def texts(self) -> tuple[tuple[int, ...], ...]:
        """The columns of every text."""
        columns: dict[int, list[int]] = {}
        for q, (role, source) in enumerate(zip(self.roles, self.sources, strict=True)):
            if role == "level":
                columns.setdefault(source, []).append(q)
        return tuple(map(tuple, columns.values()))
