"""Reads the constraints and exclusions of a space from JSON."""

from collections.abc import Sequence
from math import inf

from app.domain.candidates import Kind
from app.services.intake.space.axes import Axis
from app.services.intake.space.node import Node
from app.services.intake.space.rules import Condition, Linear

_BOUNDS = ("at_least", "at_most", "equals")
_MOST_TERMS = 100
_MOST_VALUES = 10_000


class ParameterNames:
    """Finds parameters and levels by name."""

    def __init__(self, axes: Sequence[Axis]) -> None:
        self._columns = [axis.column for axis in axes]
        self._positions = {column.name: position for position, column in enumerate(self._columns)}
        self._codes = [{level: code for code, level in enumerate(column.levels)} for column in self._columns]

    def position(self, name: str, node: Node) -> int:
        """Where the parameter stands; `node` is where it was named."""
        if name not in self._positions:
            raise node.refuse("unknown-parameter", "there is no such parameter; check the spelling")
        return self._positions[name]

    def number_position(self, name: str, node: Node) -> int:
        """Where a parameter stands that has a place in a sum."""
        position = self.position(name, node)
        if self.kind(position) == "text":
            raise node.refuse("not-a-number", "a text has no place in a weighted sum; use an exclusion")
        return position

    def kind(self, position: int) -> Kind:
        """What the parameter is."""
        return self._columns[position].kind

    def value(self, position: int, node: Node) -> float:
        """The value at a node as it stands in a point of the space."""
        if self.kind(position) == "number":
            return node.number()
        if self.kind(position) == "boolean":
            return float(node.truth())
        code = self._codes[position].get(node.text())
        if code is None:
            raise node.refuse("unknown-level", "not a level of this parameter; check the spelling")
        return float(code)


def read_constraint(node: Node, names: ParameterNames) -> Linear:
    """A weighted sum of numbers and its bounds; raises InvalidCandidates with a pointer to what is wrong."""
    members = node.known_members(["coefficients"], _BOUNDS)
    coefficients = members["coefficients"].members()
    if not 0 < len(coefficients) <= _MOST_TERMS:
        message = f"give from 1 to {_MOST_TERMS} parameters and their coefficients"
        raise members["coefficients"].refuse("coefficients", message)
    terms = tuple((names.number_position(name, term), term.number()) for name, term in coefficients.items())
    lowest, highest = _bounds(node, members)
    return Linear(terms, lowest, highest)


def read_exclusion(node: Node, names: ParameterNames) -> list[Condition]:
    """The conditions that together exclude a point; raises InvalidCandidates with a pointer to what is wrong."""
    members = node.members()
    if not 0 < len(members) <= _MOST_TERMS:
        raise node.refuse("conditions", f"give from 1 to {_MOST_TERMS} parameters and their conditions")
    return [_condition(names.position(name, each), each, names) for name, each in members.items()]


def _condition(position: int, node: Node, names: ParameterNames) -> Condition:
    if isinstance(node.value, dict):
        if names.kind(position) != "number":
            raise node.refuse("not-a-number", "only a number has bounds; give a value or a list of values")
        lowest, highest = _bounds(node, node.known_members([], _BOUNDS))
        return Condition(position, lowest, highest)
    nodes = node.items(_MOST_VALUES) if isinstance(node.value, list) else [node]
    return Condition(position, values=tuple(names.value(position, each) for each in nodes))


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
