"""The rules of a space, which points must meet: linear constraints and exclusions, read from JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from math import inf

import numpy as np

from app.arrays import BoolArray, FloatArray
from app.domain.candidates import ColumnKind
from app.services.intake.space.axes import Axis
from app.services.intake.space.node import Node

_TOLERANCE = 1e-9
"""Relative to the terms of the sum: 0.1 + 0.2 + 0.7 equals 1."""
_BOUNDS = ("at_least", "at_most", "equals")
_MOST_TERMS = 100
_MOST_NAMES = 20  # in a message
_MOST_VALUES = 10_000


@dataclass(frozen=True)
class LinearConstraint:
    """lowest ≤ Σ coefficient · parameter ≤ highest; parameters are given by position."""

    terms: tuple[tuple[int, float], ...]
    lowest: float = -inf
    highest: float = inf

    def holds(self, points: FloatArray) -> BoolArray:
        """Whether each point meets the constraint."""
        with np.errstate(over="ignore", invalid="ignore"):  # a sum that overflows meets no bound
            terms = np.stack([coefficient * points[:, position] for position, coefficient in self.terms])
            total, slack = terms.sum(axis=0), _TOLERANCE * np.abs(terms).sum(axis=0)
            return np.asarray((total >= self.lowest - slack) & (total <= self.highest + slack))


@dataclass(frozen=True)
class Condition:
    """One parameter is within bounds, or is one of some values (codes for a text)."""

    position: int
    lowest: float = -inf
    highest: float = inf
    values: tuple[float, ...] | None = None

    def holds(self, points: FloatArray) -> BoolArray:
        """Whether each point meets the condition."""
        column = points[:, self.position]
        if self.values is not None:
            return np.isin(column, self.values)
        return (column >= self.lowest) & (column <= self.highest)


@dataclass(frozen=True)
class Rules:
    """A point is allowed if it meets every constraint and no exclusion; an exclusion needs all its conditions."""

    constraints: Sequence[LinearConstraint] = ()
    exclusions: Sequence[Sequence[Condition]] = ()

    def allow(self, points: FloatArray) -> BoolArray:
        """Whether each point is allowed."""
        allowed = np.ones(len(points), dtype=bool)
        for constraint in self.constraints:
            allowed &= constraint.holds(points)
        for conditions in self.exclusions:
            allowed &= ~np.logical_and.reduce([condition.holds(points) for condition in conditions])
        return allowed


class ParameterNames:
    """Finds parameters and levels by name."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        self._columns = [axis.column for axis in axes]
        self._positions = {column.name: position for position, column in enumerate(self._columns)}
        self._codes = [{level: code for code, level in enumerate(column.levels)} for column in self._columns]

    def position(self, name: str, node: Node) -> int:
        """The position of a parameter; `node` is where the document names it."""
        if name not in self._positions:
            close = get_close_matches(name, self._positions, n=1)
            names = ", ".join(f"`{known}`" for known in list(self._positions)[:_MOST_NAMES])
            hint = f"Did you mean `{close[0]}`?" if close else f"Use one of: {names}."
            raise node.refuse("unknown-parameter", f"The space has no parameter of this name. {hint}")
        return self._positions[name]

    def number_position(self, name: str, node: Node) -> int:
        """The position of a parameter that can be a term of a sum."""
        position = self.position(name, node)
        if self.kind(position) == "text":
            raise node.refuse("not-a-number", "A text cannot be part of a weighted sum. Use `exclude` for it.")
        return position

    def kind(self, position: int) -> ColumnKind:
        """The kind of the parameter's values."""
        return self._columns[position].kind

    def value(self, position: int, node: Node) -> float:
        """The value at a node as a coordinate of a point."""
        if self.kind(position) == "number":
            return node.number()
        if self.kind(position) == "boolean":
            return float(node.boolean())
        code = self._codes[position].get(node.text())
        if code is None:
            raise node.refuse("unknown-level", "The parameter has no such level. Check the spelling.")
        return float(code)


def read_constraint(node: Node, names: ParameterNames) -> LinearConstraint:
    """A weighted sum of numbers and its bounds; raises InvalidCandidates with a pointer to the mistake."""
    members = node.known_members(["coefficients"], _BOUNDS)
    coefficients = members["coefficients"].members()
    if not 0 < len(coefficients) <= _MOST_TERMS:
        message = f"Give 1 to {_MOST_TERMS} parameters, each with its coefficient."
        raise members["coefficients"].refuse("coefficients", message)
    terms = tuple((names.number_position(name, term), term.number()) for name, term in coefficients.items())
    lowest, highest = _bounds(node, members)
    return LinearConstraint(terms, lowest, highest)


def read_exclusion(node: Node, names: ParameterNames) -> list[Condition]:
    """The conditions that together exclude a point; raises InvalidCandidates with a pointer to the mistake."""
    members = node.members()
    if not 0 < len(members) <= _MOST_TERMS:
        raise node.refuse("conditions", f"Give 1 to {_MOST_TERMS} parameters, each with its condition.")
    return [_condition(names.position(name, member), member, names) for name, member in members.items()]


def _condition(position: int, node: Node, names: ParameterNames) -> Condition:
    if isinstance(node.value, dict):
        if names.kind(position) != "number":
            raise node.refuse("not-a-number", "Only numbers have bounds. Give a value or a list of values.")
        lowest, highest = _bounds(node, node.known_members([], _BOUNDS))
        return Condition(position, lowest, highest)
    items = node.items(_MOST_VALUES) if isinstance(node.value, list) else [node]
    return Condition(position, values=tuple(names.value(position, item) for item in items))


def _bounds(node: Node, members: dict[str, Node]) -> tuple[float, float]:
    if "equals" in members:
        if "at_least" in members or "at_most" in members:
            raise members["equals"].refuse("bounds", "Give either `equals`, or `at_least` and `at_most`.")
        value = members["equals"].number()
        return value, value
    if "at_least" not in members and "at_most" not in members:
        raise node.refuse("bounds", "Give `at_least`, `at_most` or `equals`.")
    lowest = members["at_least"].number() if "at_least" in members else -inf
    highest = members["at_most"].number() if "at_most" in members else inf
    return lowest, highest
