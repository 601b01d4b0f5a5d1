"""The quantities of a study: whether its objectives and constraints make sense together, and which value is whose."""

from collections.abc import Iterator, Mapping
from itertools import combinations
from unicodedata import normalize

from app.domain.errors import Finding, ObjectiveMeasured
from app.domain.limits import LINE_LENGTH, is_line
from app.domain.observations import SOLE, Measured, Outcome
from app.domain.studies import Configuration, Constraint, Direction, Limits, Objective

MOST_OBJECTIVES = 5
MOST_CONSTRAINTS = 10

SHEET_COLUMNS = frozenset(
    {"suggestion", "replicate", "key", "candidate", "failed", "abandoned", "note", "measured_by", "measured_at", "ref"}
)
"""Columns that a sheet has a use for. No quantity can have such a name."""


def quantity_findings(configuration: Configuration) -> list[Finding]:
    """Everything that is wrong with objectives, constraints and what refers to them."""
    return [
        Finding("objectives", message, pointer=f"/{place}")
        for place, fits, message in (
            *_objectives(configuration),
            *_constraints(configuration),
            *_names(configuration),
            *_weights(configuration),
        )
        if not fits
    ]


def must_measure_the_same(before: Configuration, after: Configuration) -> None:
    """Refuse other quantities, or another direction of an objective; bounds and weights may always change."""
    names, new_names = ([quantity.name for quantity in c.quantities] for c in (before, after))
    if names != new_names:
        raise ObjectiveMeasured
    directions = {objective.name: objective.direction for objective in before.objectives}
    if any(directions.get(new.name, new.direction) is not new.direction for new in after.objectives):
        raise ObjectiveMeasured("Results are stored, so the direction of an objective cannot change any more.")


def unknown_names(configuration: Configuration, names: Mapping[str, object]) -> str | None:
    """What to write instead of a name that no quantity of the study has; None if all are known."""
    known = [quantity.name for quantity in configuration.quantities]
    if all(name in known for name in names):
        return None
    return f"This study measures {_listed(known)}. Write one of these names, exactly so."


def resolve(configuration: Configuration, outcome: Outcome) -> Outcome | Finding:
    """The outcome with the names of the study's quantities, or what is wrong with it."""
    if len(configuration.quantities) == len(outcome) == 1 and SOLE in outcome:  # as nearly every report
        return {configuration.objective.name: outcome[SOLE]}
    if SOLE in outcome and all(quantity.name != SOLE for quantity in configuration.quantities):
        if len(configuration.quantities) > 1:
            names = [quantity.name for quantity in configuration.quantities]
            example = f'"values": {{"{names[0]}": 83.1}}'
            message = f"This study measures {_listed(names)}. Say which value is whose, as in {example}."
            return Finding("which-quantity", message, pointer="/value")
        outcome = {configuration.objective.name: outcome[SOLE]}
    unknown = unknown_names(configuration, outcome)
    if unknown is not None:
        known = {quantity.name for quantity in configuration.quantities}
        first = next(name for name in outcome if name not in known)
        return Finding("unknown-quantity", unknown, pointer=f"/values/{pointer_part(first)}")
    return outcome


def pointer_part(name: str) -> str:
    """A name as a part of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")


def outside_limits(configuration: Configuration, outcome: Outcome) -> Iterator[tuple[str, str]]:
    """The quantities whose values lie outside their limits, with a sentence about each."""
    limits = {quantity.name: quantity.limits for quantity in configuration.quantities if quantity.limits is not None}
    for name, measured in outcome.items() if limits else ():
        allowed = limits.get(name)
        if allowed is not None and not allowed.allow(measured.value):
            yield name, f"{name} is {allowed}, but this value is not. Check the decimal sign and the unit."


def agrees(stored: Outcome, reported: Outcome) -> bool:
    """Whether everything reported is stored with the same value."""
    return all(name in stored and _is_same(stored[name], measured) for name, measured in reported.items())


def adds_to(stored: Outcome, reported: Outcome) -> Outcome | None:
    """The reported values that are not stored yet; None if one contradicts what is stored."""
    if any(name in stored and not _is_same(stored[name], measured) for name, measured in reported.items()):
        return None
    return {name: measured for name, measured in reported.items() if name not in stored}


def changes(stored: Outcome, reported: Outcome) -> Outcome:
    """The reported values that are not stored just so."""
    return {
        name: measured
        for name, measured in reported.items()
        if name not in stored or not _is_same(stored[name], measured)
    }


def _is_same(stored: Measured, reported: Measured) -> bool:
    return stored.value == reported.value and reported.std in (None, stored.std)


def _objectives(configuration: Configuration) -> Iterator[tuple[str, bool, str]]:
    objectives = configuration.objectives
    many = f"Give one to {MOST_OBJECTIVES} objectives. What only has to be good enough can be a constraint."
    yield "objectives", 1 <= len(objectives) <= MOST_OBJECTIVES, many
    for number, objective in enumerate(objectives):
        place = f"objectives/{number}"
        yield f"{place}/limits", _is_range(objective.limits), "Write a `low` that is below `high`, or one of them."
        aimed = objective.direction is Direction.TARGET
        message = "Give the `target`." if aimed else 'A `target` needs the direction "target".'
        yield f"{place}/target", aimed == (objective.target is not None), message
        inside = _can_be(objective.limits, objective.target)
        yield f"{place}/target", inside, "The target is outside the limits of this objective."
        yield f"{place}/theory", _has_theory(configuration, objective), "Give `theory` for the whole study, too."


def _constraints(configuration: Configuration) -> Iterator[tuple[str, bool, str]]:
    yield "constraints", len(configuration.constraints) <= MOST_CONSTRAINTS, f"Give at most {MOST_CONSTRAINTS}."
    limits = {quantity.name: quantity.limits for quantity in configuration.quantities}
    objectives = {objective.name: objective for objective in configuration.objectives}
    for number, constraint in enumerate(configuration.constraints):
        place = f"constraints/{number}"
        objective = objectives.get(constraint.name)
        for setting, default in (("unit", ""), ("limits", None), ("theory", None)):
            own = getattr(constraint, setting)
            agrees = objective is None or own in (default, getattr(objective, setting))
            yield (
                f"{place}/{setting}",
                agrees,
                f"The objective of this name has another `{setting}`. Write it there alone.",
            )
        low, high = constraint.at_least, constraint.at_most
        yield place, low is not None or high is not None, "Give `at_least`, `at_most` or both."
        together = low is None or high is None or low <= high
        yield place, together, "No value is at least the one and at most the other."
        yield f"{place}/limits", _is_range(constraint.limits), "Write a `low` that is below `high`, or one of them."
        possible = _can_meet(constraint, limits[constraint.name])
        yield place, possible, "No value within the limits of this quantity meets the constraint."
        yield f"{place}/theory", _has_theory(configuration, constraint), "Give `theory` for the whole study, too."


def _names(configuration: Configuration) -> Iterator[tuple[str, bool, str]]:
    quantities = configuration.quantities
    several = len(quantities) > 1
    kinds: dict[str, tuple[Objective | Constraint, ...]] = {
        "objectives": configuration.objectives,
        "constraints": configuration.constraints,
    }
    for kind, named in kinds.items():
        for number, item in enumerate(named):
            fits = is_line(item.name, 1 if several else 0) and is_line(item.unit)
            yield f"{kind}/{number}/name", fits, f"Write one line of 1 to {LINE_LENGTH} characters."
            bare = item.name == item.name.strip()
            yield f"{kind}/{number}/name", bare, "Write the name without spaces around it."
            reserved = several and item.name.casefold() in SHEET_COLUMNS
            yield f"{kind}/{number}/name", not reserved, "Sheets have a column of this name. Choose another name."
        for (_, first), (number, second) in combinations(enumerate(named), 2):
            message = f"There are two {kind} of this name. Give each its own name."
            if kind == "constraints":
                message = "There are two constraints of this name. Write `at_least` and `at_most` in one of them."
            yield f"{kind}/{number}/name", _folded(first.name) != _folded(second.name), message
    titles = {f"{quantity.name} std".casefold() for quantity in quantities}
    titles |= {f"{quantity.name} ({quantity.unit})".casefold() for quantity in quantities}
    for number, quantity in enumerate(quantities):
        place = f"objectives/{number}" if number < len(configuration.objectives) else "constraints"
        free = quantity.name.casefold() not in titles
        yield f"{place}/name", free, "This is the title of another quantity's column in sheets. Choose another name."
    exact = {objective.name.casefold(): objective.name for objective in configuration.objectives}
    for number, constraint in enumerate(configuration.constraints):
        clash = exact.get(constraint.name.casefold(), constraint.name) != constraint.name
        yield f"constraints/{number}/name", not clash, "Write the name of the objective exactly as it is there."


def _folded(name: str) -> str:
    """The name without what people do not see: case, and whether an accent is a character of its own."""
    return normalize("NFC", name).casefold()


def _weights(configuration: Configuration) -> Iterator[tuple[str, bool, str]]:
    known = {objective.name for objective in configuration.objectives}
    message = f"Write names of objectives: {_listed(sorted(known))}."
    yield "prefer", known.issuperset(configuration.prefer), message
    yield "reference", known.issuperset(configuration.reference), message
    yield "prefer", all(weight > 0 for weight in configuration.prefer.values()), "Write positive numbers."


def _is_range(limits: Limits | None) -> bool:
    if limits is None:
        return True
    if limits.low is None or limits.high is None:
        return limits.low is not None or limits.high is not None
    return limits.low < limits.high


def _can_be(limits: Limits | None, value: float | None) -> bool:
    return limits is None or value is None or limits.allow(value)


def _can_meet(constraint: Constraint, limits: Limits | None) -> bool:
    if limits is None:
        return True
    too_high = constraint.at_least is not None and limits.high is not None and constraint.at_least > limits.high
    too_low = constraint.at_most is not None and limits.low is not None and constraint.at_most < limits.low
    return not (too_high or too_low)


def _has_theory(configuration: Configuration, quantity: Objective | Constraint) -> bool:
    return quantity.theory is None or configuration.theory is not None


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
