"""Reads the parameters of a space from JSON into axes."""

import numpy as np

from app.domain.candidates import Column
from app.services.intake.cells import Floats
from app.services.intake.columns import text_flaw
from app.services.intake.limits import Limits
from app.services.intake.space.axes import Axis, ContinuousAxis, FiniteAxis
from app.services.intake.space.grids import by_count, by_log_count, by_step, step_count
from app.services.intake.space.node import Node
from app.services.intake.space.sizes import readable

_ALL_GRID_VALUES = 2_000_000
_LONGEST_AXIS = 100_000
_FORMS = "low and high with step or count, values, levels, or boolean"


def longest_axis(parameters: int) -> int:
    """How many values each of so many parameters may have: a short description must not fill the memory."""
    return min(_LONGEST_AXIS, max(1, _ALL_GRID_VALUES // parameters))


def read_axis(name: str, node: Node, longest: int, limits: Limits) -> Axis:
    """One parameter; raises InvalidCandidates with a pointer to what is wrong."""
    members = node.members()
    if "levels" in members:
        return _levels(name, node, limits)
    if "boolean" in members:
        return _boolean(name, node)
    if "values" in members:
        return _values(name, node, longest)
    if "low" in members or "high" in members:
        return _range(name, node, longest)
    raise node.refuse("parameter-form", f"a parameter needs {_FORMS}")


def _levels(name: str, node: Node, limits: Limits) -> FiniteAxis:
    items = node.known_members(["levels"])["levels"].items(limits.levels)
    levels = [item.text() for item in items]
    for item, level in zip(items, levels, strict=True):
        if not level.strip():
            raise item.refuse("missing-value", "a level must not be empty")
        if flaw := text_flaw(level, limits):
            raise item.refuse(*flaw)
    _refuse_repeats(node, levels)
    return FiniteAxis(Column(name, "text", "feature", tuple(levels)), np.arange(len(levels), dtype="<f8"))


def _boolean(name: str, node: Node) -> FiniteAxis:
    flag = node.known_members(["boolean"])["boolean"]
    if not flag.truth():
        raise flag.refuse("parameter-form", "must be true; leave the parameter out otherwise")
    return FiniteAxis(Column(name, "boolean", "feature"), np.array([0.0, 1.0]))


def _values(name: str, node: Node, longest: int) -> FiniteAxis:
    values = [item.number() for item in node.known_members(["values"])["values"].items(longest)]
    _refuse_repeats(node, values)
    return FiniteAxis(Column(name, "number", "feature"), np.array(values, dtype="<f8"))


def _range(name: str, node: Node, longest: int) -> Axis:
    members = node.known_members(["low", "high"], ["step", "count", "scale"])
    low, high, log = members["low"].number(), members["high"].number(), _is_log(members)
    column = Column(name, "number", "feature")
    if low > high:
        raise members["high"].refuse("range-reversed", "must not be below low")
    if log and low <= 0:
        raise members["low"].refuse("range-not-positive", "must be above 0 on a logarithmic scale")
    if "step" in members:
        return FiniteAxis(column, _stepped(members, low, high, longest))
    if "count" in members:
        return FiniteAxis(column, _counted(members["count"].whole(1, longest), members["count"], low, high, log=log))
    return ContinuousAxis(column, low, high, log)


def _is_log(members: dict[str, Node]) -> bool:
    if "scale" not in members:
        return False
    scale = members["scale"].text()
    if scale not in ("linear", "log"):
        raise members["scale"].refuse("unknown-scale", "must be linear or log")
    return scale == "log"


def _stepped(members: dict[str, Node], low: float, high: float, longest: int) -> Floats:
    step = members["step"].number()
    for other in ("count", "scale"):
        if other in members:
            raise members[other].refuse("parameter-form", "a range with a step has no count and no scale")
    if step <= 0:
        raise members["step"].refuse("step-not-positive", "must be above 0")
    count = step_count(low, high, step)
    if count > longest:
        message = f"{readable(count)} values; the limit here is {longest}: take a larger step, or sample the range"
        raise members["step"].refuse("axis-too-long", message)
    return _distinct(members["step"], by_step(low, high, step))


def _counted(count: int, node: Node, low: float, high: float, *, log: bool) -> Floats:
    return _distinct(node, by_log_count(low, high, count) if log else by_count(low, high, count))


def _distinct(node: Node, values: Floats) -> Floats:
    if (np.diff(values) <= 0).any():
        raise node.refuse("values-repeat", "so many values do not fit between low and high; take fewer")
    return values


def _refuse_repeats(node: Node, values: list[str] | list[float]) -> None:
    if len(set(values)) < len(values):
        raise node.refuse("values-repeat", "a value stands there twice; keep one")
