"""Reads the description of a space from JSON and turns it into a candidate table."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np

from app.arrays import FloatArray
from app.domain.errors import InvalidCandidates
from app.services.intake.columns import check_names
from app.services.intake.findings import Findings, refuse
from app.services.intake.limits import IntakeLimits, check_size
from app.services.intake.space.axes import Axis, ContinuousAxis, longest_axis, read_axis
from app.services.intake.space.node import Node
from app.services.intake.space.points import Space, space_points
from app.services.intake.space.rules import ParameterNames, Rules, read_constraint, read_exclusion
from app.services.intake.table import CandidateTable
from app.services.intake.warnings import warn_about_features

_FIRST_ROW = 1
_MOST_RULES = 100
_LARGEST_SEED = 2**63 - 1
_Part = TypeVar("_Part")
_Value = TypeVar("_Value")


def read_space(document: object, limits: IntakeLimits | None = None) -> CandidateTable:
    """The candidates that a parsed JSON document describes; raises InvalidCandidates with a pointer to each mistake."""
    limits, findings = limits or IntakeLimits(), Findings()
    space = _read_description(document, limits)
    check_size(space.sample or 1, len(space.axes), limits)
    points = space_points(space, limits, findings)
    if not len(points):
        raise refuse("no-candidates", "No point meets the constraints and exclusions. Relax them.", pointer="")
    return _table(space, points, findings)


def _table(space: Space, points: FloatArray, findings: Findings) -> CandidateTable:
    columns = tuple(axis.column for axis in space.axes)
    is_text = np.array([column.kind == "text" for column in columns])
    numbers = np.ascontiguousarray(points[:, ~is_text])
    codes = np.ascontiguousarray(points[:, is_text].astype("<i4"))
    warn_about_features(columns, numbers, codes, _FIRST_ROW, findings)
    return CandidateTable(columns, numbers, codes, None, {}, findings.warnings, _FIRST_ROW)


def _read_description(document: object, limits: IntakeLimits) -> Space:
    members = Node(document).known_members(["parameters"], ["constraints", "exclude", "sample", "seed"])
    findings = Findings()
    axes = _axes(members["parameters"], limits, findings)
    findings.stop_if_any()
    sample = members["sample"].whole(1, limits.rows) if "sample" in members else None
    seed = members["seed"].whole(0, _LARGEST_SEED) if "seed" in members else 0
    if sample is None:
        _refuse_continuous(axes, members["parameters"], findings)
    names = ParameterNames(axes)
    constraints = _read_each(_rule_nodes(members, "constraints"), lambda node: read_constraint(node, names), findings)
    exclusions = _read_each(_rule_nodes(members, "exclude"), lambda node: read_exclusion(node, names), findings)
    findings.stop_if_any()
    return Space(tuple(axes), Rules(constraints, exclusions), sample, seed)


def _axes(node: Node, limits: IntakeLimits, findings: Findings) -> list[Axis]:
    parameters = node.members()
    if not parameters:
        raise node.refuse("no-features", "Describe at least one parameter.")
    check_names(list(parameters), limits, findings)
    findings.stop_if_any()
    longest = longest_axis(len(parameters))
    return _read_each(parameters.items(), lambda parameter: read_axis(*parameter, longest, limits), findings)


def _refuse_continuous(axes: list[Axis], parameters: Node, findings: Findings) -> None:
    nodes = parameters.members()
    for axis in axes:
        if isinstance(axis, ContinuousAxis):
            message = "A range without `step` or `count` has no list of values. Add one of them, or give `sample`."
            findings.include(nodes[axis.column.name].refuse("continuous-range", message))


def _rule_nodes(members: dict[str, Node], name: str) -> list[Node]:
    if name not in members or members[name].value == []:
        return []
    return members[name].items(_MOST_RULES)


def _read_each(parts: Iterable[_Part], read: Callable[[_Part], _Value], findings: Findings) -> list[_Value]:
    """Read every part; the mistakes of a part are recorded, and reading goes on with the next."""
    values = []
    for part in parts:
        try:
            values.append(read(part))
        except InvalidCandidates as refused:
            findings.include(refused)
    return values
