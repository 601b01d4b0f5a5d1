"""Reads the constraints and exclusions of a space from JSON."""

from collections.abc import Sequence
from math import inf

from app.services.intake.space.axes import Axis
from app.services.intake.space.node import Node
from app.services.intake.space.rules import Condition, Linear

_BOUNDS = ("at_least", "at_most", "equals")
_MOST_VALUES = 10_000


def read_constraint(node: Node, axes: Sequence[Axis]) -> Linear:
    """A weighted sum of numbers and its bounds; raises InvalidCandidates with a pointer to what is wrong."""
    members = node.known_members(["coefficients"], _BOUNDS)
    coefficients = members["coefficients"].members()
    if not coefficients:
        raise members["coefficients"].refuse("no-coefficients", "give at least one parameter and its coefficient")
    terms = tuple((_number_position(name, term, axes), term.number()) for name, term in coefficients.items())
    lowest, highest = _bounds(node, members)
    return Linear(terms, lowest, highest)


def read_exclusion(node: Node, axes: Sequence[Axis]) -> list[Condition]:
    """The conditions that together exclude a point; raises InvalidCandidates with a pointer to what is wrong."""
    members = node.members()
    if not members:
        raise node.refuse("no-conditions", "give at least one parameter and its condition")
    return [_condition(_position(name, each, axes), each, axes) for name, each in members.items()]


def _condition(position: int, node: Node, axes: Sequence[Axis]) -> Condition:
    axis = axes[position]
    if isinstance(node.value, dict):
        if axis.column.kind != "number":
            raise node.refuse("not-a-number", "only a number has bounds; give a value or a list of values")
        lowest, highest = _bounds(node, node.known_members([], _BOUNDS))
        return Condition(position, lowest, highest)
    nodes = node.items(_MOST_VALUES) if isinstance(node.value, list) else [node]
    return Condition(position, values=tuple(_value(each, axis) for each in nodes))


def _value(node: Node, axis: Axis) -> float:
    if axis.column.kind == "number":
        return node.number()
    if axis.column.kind == "boolean":
        return float(node.truth())
    level = node.text()
    if level not in axis.column.levels:
        raise node.refuse("unknown-level", "not a level of this parameter; check the spelling")
    return float(axis.column.levels.index(level))


def _bounds(node: Node, members: dict[str, Node]) -> tuple[float, float]:
    if "equals" in members:
        if "at_least" in members or "at_most" in members:
            raise members["equals"].refuse("bounds", "give either equals, or at_least and at_most")
        value = members["equals"].number()
        return value, value
    if "at_least" not in members and "at_most" not in members:
        raise node.refuse("bounds", "give at_least, at_most or equals")
    lowest = members["at_least"].number() if "at_least" in members else -inf
    highest = members["at_most"].number() if "at_most" in members else inf
    return lowest, highest


def _number_position(name: str, node: Node, axes: Sequence[Axis]) -> int:
    position = _position(name, node, axes)
    if axes[position].column.kind == "text":
        raise node.refuse("not-a-number", "a text has no place in a weighted sum; use an exclusion")
    return position


def _position(name: str, node: Node, axes: Sequence[Axis]) -> int:
    for position, axis in enumerate(axes):
        if axis.column.name == name:
            return position
    raise node.refuse("unknown-parameter", "there is no such parameter; check the spelling")
