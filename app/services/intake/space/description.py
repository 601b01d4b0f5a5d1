"""Reads the description of a space from JSON, and says all that is wrong with it at once."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from app.domain.errors import InvalidCandidates
from app.services.intake.findings import Findings
from app.services.intake.limits import Limits
from app.services.intake.names import check_names
from app.services.intake.space.axes import Axis, ContinuousAxis
from app.services.intake.space.node import Node
from app.services.intake.space.parameters import longest_axis, read_axis
from app.services.intake.space.rule_nodes import ParameterNames, read_constraint, read_exclusion
from app.services.intake.space.rules import Rules

_MOST_RULES = 100
_LARGEST_SEED = 2**63 - 1
_Part = TypeVar("_Part")
_Read = TypeVar("_Read")


@dataclass(frozen=True)
class Space:
    """Axes, the rules that points must meet, and how many to sample (None: all of them)."""

    axes: tuple[Axis, ...]
    rules: Rules
    sample: int | None
    seed: int


def read_description(document: object, limits: Limits) -> Space:
    """The space a parsed JSON document describes; raises InvalidCandidates with a pointer to every mistake."""
    members = Node(document).known_members(["parameters"], ["constraints", "exclude", "sample", "seed"])
    findings = Findings()
    axes = _axes(members["parameters"], limits, findings)
    findings.stop_if_any()
    sample = members["sample"].whole(1, limits.rows) if "sample" in members else None
    seed = members["seed"].whole(0, _LARGEST_SEED) if "seed" in members else 0
    if sample is None:
        _refuse_continuous(axes, members["parameters"], findings)
    names = ParameterNames(axes)
    constraints = _each(_listed(members, "constraints"), lambda node: read_constraint(node, names), findings)
    exclusions = _each(_listed(members, "exclude"), lambda node: read_exclusion(node, names), findings)
    findings.stop_if_any()
    return Space(tuple(axes), Rules(constraints, exclusions), sample, seed)


def _axes(node: Node, limits: Limits, findings: Findings) -> list[Axis]:
    parameters = node.members()
    if not parameters:
        raise node.refuse("no-features", "give at least one parameter")
    check_names(list(parameters), limits, findings)
    findings.stop_if_any()
    longest = longest_axis(len(parameters))
    return _each(parameters.items(), lambda named: read_axis(*named, longest, limits), findings)


def _listed(members: dict[str, Node], name: str) -> list[Node]:
    if name not in members or members[name].value == []:
        return []
    return members[name].items(_MOST_RULES)


def _each(parts: Iterable[_Part], read: Callable[[_Part], _Read], findings: Findings) -> list[_Read]:
    """Every part that can be read; what is wrong with the others is noted."""
    done = []
    for part in parts:
        try:
            done.append(read(part))
        except InvalidCandidates as refused:
            findings.include(refused)
    return done


def _refuse_continuous(axes: list[Axis], parameters: Node, findings: Findings) -> None:
    members = parameters.members()
    for axis in axes:
        if isinstance(axis, ContinuousAxis):
            message = "a range without step or count cannot be enumerated; give one, or give `sample`"
            findings.include(members[axis.column.name].refuse("continuous-range", message))
