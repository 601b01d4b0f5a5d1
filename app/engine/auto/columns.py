"""What the user's table holds: columns of numbers, of truth values and of words."""

from dataclasses import dataclass
from typing import Any, Literal, Self

Kind = Literal["number", "boolean", "text"]
Scale = Literal["auto", "linear", "log", "none"]


@dataclass(frozen=True)
class FeatureColumn:
    """One raw column; `levels` are the words of a text column, whose codes are their positions."""

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Override:
    """What the user decides about one column of numbers instead of auto mode."""

    scale: Scale = "auto"
    """linear or log: to [0, 1] over all candidates; none: the number as it is."""

    def __post_init__(self) -> None:
        if self.scale not in ("auto", "linear", "log", "none"):
            raise ValueError(f"unknown scale {self.scale!r}: auto, linear, log or none")

    @classmethod
    def build(cls, description: "Override | dict[str, Any]") -> Self:
        """From plain JSON such as {"scale": "log"}."""
        fields = description.__dict__ if isinstance(description, Override) else description
        try:
            return cls(**fields)
        except TypeError as error:
            raise ValueError(f"an override cannot be built from {description}: {error}") from error
