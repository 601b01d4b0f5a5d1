"""The axes of a space: each parameter's values, or the range they come from, read from JSON.

Grids have no accumulated error: 0.1, 0.2, 0.3 are exactly the numbers a person would write.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from app.arrays import FloatArray
from app.domain.candidates import Column
from app.services.intake.columns import text_flaw
from app.services.intake.limits import IntakeLimits
from app.services.intake.space.node import Node

_ALL_GRID_VALUES = 2_000_000
_LONGEST_AXIS = 100_000
_FORMS = "`low` and `high` (with `step` or `count`), `values`, `levels`, or `boolean`"


@dataclass(frozen=True, eq=False)
class FiniteAxis:
    """A parameter with listed values: numbers, 0 and 1 for a boolean, or the codes 0, 1, … of the levels of a text."""

    column: Column
    values: FloatArray

    def __len__(self) -> int:
        return len(self.values)

    def at(self, quantiles: FloatArray) -> FloatArray:
        """The values at these quantiles in [0, 1), all equally likely."""
        return self.values[np.floor(quantiles * len(self.values)).astype(np.int64)]


@dataclass(frozen=True)
class ContinuousAxis:
    """A parameter that takes any number in a range; it can be sampled, but not enumerated."""

    column: Column
    low: float
    high: float
    log: bool

    def at(self, quantiles: FloatArray) -> FloatArray:
        """The values at these quantiles in [0, 1), uniform on the linear or the logarithmic scale."""
        if not self.log:
            return np.clip((1 - quantiles) * self.low + quantiles * self.high, self.low, self.high)
        exponents = (1 - quantiles) * np.log(self.low) + quantiles * np.log(self.high)
        return np.clip(_twelve_digits(np.exp(exponents)), self.low, self.high)


Axis: TypeAlias = FiniteAxis | ContinuousAxis


def longest_axis(parameters: int) -> int:
    """How many values each of so many parameters may have; a short description must not fill the memory."""
    return min(_LONGEST_AXIS, max(1, _ALL_GRID_VALUES // parameters))


def read_axis(name: str, node: Node, longest: int, limits: IntakeLimits) -> Axis:
    """The axis of one parameter; raises InvalidCandidates with a pointer to the mistake."""
    members = node.members()
    if "levels" in members:
        return _levels(name, node, limits)
    if "boolean" in members:
        return _boolean(name, node)
    if "values" in members:
        return _values(name, node, longest)
    if "low" in members or "high" in members:
        return _range(name, node, longest)
    raise node.refuse("parameter-form", f"Describe the parameter by one of these: {_FORMS}.")


def readable_size(size: int) -> str:
    """A whole number, or its order of magnitude if it has too many digits."""
    if size < 10**15:
        return f"{size:,}"
    return f"about 10^{int(size.bit_length() * 0.30103)}"


def _levels(name: str, node: Node, limits: IntakeLimits) -> FiniteAxis:
    items = node.known_members(["levels"])["levels"].items(limits.levels)
    levels = [item.text() for item in items]
    for item, level in zip(items, levels, strict=True):
        if not level.strip():
            raise item.refuse("missing-value", "A level must not be empty. Write a text.")
        if flaw := text_flaw(level, limits):
            raise item.refuse(flaw.code, flaw.message)
    _refuse_repeats(node, levels)
    return FiniteAxis(Column(name, "text", "feature", tuple(levels)), np.arange(len(levels), dtype="<f8"))


def _boolean(name: str, node: Node) -> FiniteAxis:
    flag = node.known_members(["boolean"])["boolean"]
    if not flag.boolean():
        raise flag.refuse("parameter-form", "Write true, or leave the parameter out.")
    return FiniteAxis(Column(name, "boolean", "feature"), np.array([0.0, 1.0]))


def _values(name: str, node: Node, longest: int) -> FiniteAxis:
    values = [item.number() for item in node.known_members(["values"])["values"].items(longest)]
    _refuse_repeats(node, values)
    return FiniteAxis(Column(name, "number", "feature"), np.array(values, dtype="<f8"))


def _refuse_repeats(node: Node, values: list[str] | list[float]) -> None:
    if len(set(values)) < len(values):
        raise node.refuse("values-repeat", "A value appears twice. Remove one of them.")


def _range(name: str, node: Node, longest: int) -> Axis:
    members = node.known_members(["low", "high"], ["step", "count", "scale"])
    low, high, log = members["low"].number(), members["high"].number(), _is_log(members)
    column = Column(name, "number", "feature")
    if low > high:
        raise members["high"].refuse("range-reversed", "`high` is less than `low`. Exchange them.")
    if log and low <= 0:
        message = "A logarithmic scale needs numbers above 0. Raise `low`, or use the linear scale."
        raise members["low"].refuse("range-not-positive", message)
    if "step" in members:
        return FiniteAxis(column, _stepped(members, low, high, longest))
    if "count" in members:
        return FiniteAxis(column, _counted(members["count"], low, high, longest, log=log))
    return ContinuousAxis(column, low, high, log)


def _is_log(members: dict[str, Node]) -> bool:
    if "scale" not in members:
        return False
    scale = members["scale"].text()
    if scale not in ("linear", "log"):
        raise members["scale"].refuse("unknown-scale", 'Write "linear" or "log".')
    return scale == "log"


def _stepped(members: dict[str, Node], low: float, high: float, longest: int) -> FloatArray:
    """low, low + step, … up to high."""
    step_node = members["step"]
    step = step_node.number()
    for name in ("count", "scale"):
        if name in members:
            message = "A range with `step` takes neither `count` nor `scale`. Remove this member, or `step`."
            raise members[name].refuse("parameter-form", message)
    if step <= 0:
        raise step_node.refuse("step-not-positive", "Write a step above 0.")
    count = int((_decimal(high) - _decimal(low)) / _decimal(step)) + 1
    if count > longest:
        message = (
            f"This step gives {readable_size(count)} values, and at most {longest:,} are allowed."
            " Use a larger step, or leave it out and give `sample`."
        )
        raise step_node.refuse("axis-too-long", message)
    return _distinct(step_node, _evenly_spaced(_decimal(low), _decimal(step), count))


def _counted(node: Node, low: float, high: float, longest: int, *, log: bool) -> FloatArray:
    """A given number of values from low to high, evenly spaced on the linear or the logarithmic scale."""
    count = node.whole(1, longest)
    if count == 1:
        return np.array([low], dtype="<f8")
    if log:
        inner = _twelve_digits(np.exp(np.linspace(np.log(low), np.log(high), count))[1:-1])
        return _distinct(node, np.array([low, *inner.tolist(), high], dtype="<f8"))
    return _distinct(node, _evenly_spaced(_decimal(low), (_decimal(high) - _decimal(low)) / (count - 1), count))


def _evenly_spaced(start: Fraction, step: Fraction, count: int) -> FloatArray:
    """start + i · step over a common denominator; dividing whole numbers rounds once, and correctly."""
    denominator = start.denominator * step.denominator
    first, increment = start.numerator * step.denominator, step.numerator * start.denominator
    return np.array([(first + i * increment) / denominator for i in range(count)], dtype="<f8")


def _decimal(value: float) -> Fraction:
    """The decimal number a person wrote: 0.1 is one tenth, not the double next to it."""
    return Fraction(repr(value))


def _twelve_digits(values: FloatArray) -> FloatArray:
    """Rounded, so that the last bits of this machine's exponential do not matter."""
    return np.array([float(f"{value:.12g}") for value in values.tolist()], dtype="<f8")


def _distinct(node: Node, values: FloatArray) -> FloatArray:
    if (np.diff(values) <= 0).any():
        raise node.refuse("values-repeat", "So many different numbers do not fit between `low` and `high`. Use fewer.")
    return values
