"""Which kinds of candidates a batch can hold if several columns limit it at once.

One choice after the other is exact for one column. With two, a good first choice may close what the batch needs later:
then the batch is planned as a whole. Candidates with equal values in all columns that count are of one kind, so a small
integer program decides how many of each kind are chosen. With n_k of kind k, at most `size` in all,

    Σ_{k with value c} n_k ≤ most − used(c)                             for every value of a column in `per`
    Σ_{k with value c} n_k ≤ size·u_c,  Σ_c u_c ≤ most − values in use  for the new values of a column in `at_most`

it makes Σ n_k as large as possible and then, among equals, prefers kinds that promise more. The batch is chosen by the
algorithm as always, within the plan.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from app.arrays import BoolArray, FloatArray, IndexArray
from app.engine.time_limit import check_time
from app.modelling.terms import Grouping, Terms

MOST_KINDS = 2_000
"""With more kinds no plan is made."""

MOST_NODES = 2_000
"""Branches of the search after which the best plan so far is kept."""

PREFERENCE = 0.5
"""What the promises of all members together count for, if one member more counts 1."""


@dataclass(frozen=True, eq=False)
class Plan:
    """How many candidates of each kind a batch can hold."""

    kinds: IndexArray
    """(A,) the kind of each candidate; -1 for those that cannot be chosen."""
    counts: IndexArray
    """(kinds,) how many of each are planned."""
    is_largest: bool
    """Whether no larger batch meets the terms."""

    @property
    def size(self) -> int:
        return int(self.counts.sum())


@dataclass(eq=False)
class PlannedRoom:
    """What is left of a plan while its batch is chosen."""

    plan: Plan
    available: BoolArray
    before: int
    """So many are taken first that the plan is made around."""

    def __post_init__(self) -> None:
        self._left = np.append(self.plan.counts, 0)  # the last is for candidates of no kind, -1

    def take(self, candidate: int) -> None:
        if self.before:
            self.before -= 1
        else:
            self._left[self.plan.kinds[candidate]] -= 1

    def open_for(self, missing: int) -> BoolArray:  # noqa: ARG002  (the plan has room for all of them)
        """(A,) what may be chosen next."""
        is_open: BoolArray = self.available & (self._left[self.plan.kinds] > 0)
        return is_open


def plan_for(terms: Terms, capacity: IndexArray, taken: Sequence[int], size: int, promise: FloatArray) -> Plan | None:
    """A largest batch of up to `size` more; None if there are too many kinds.

    `capacity` (A,) is how often each candidate may still be chosen; what is `taken` counts for the terms.
    """
    open_ones = np.flatnonzero(capacity > 0)
    groupings = (*terms.per, *terms.at_most)
    codes = np.column_stack(
        [np.zeros(len(open_ones), dtype=np.int64), *(grouping.codes[open_ones] for grouping in groupings)]
    )
    values, members = np.unique(codes, axis=0, return_inverse=True)
    members = members.reshape(-1)
    if len(values) > MOST_KINDS:
        return None
    kinds = np.full(len(capacity), -1, dtype=np.int64)
    kinds[open_ones] = members
    if len(values) == 0 or size <= 0:
        return Plan(kinds, np.zeros(len(values), dtype=np.int64), is_largest=True)
    most = np.minimum(np.bincount(members, np.minimum(capacity[open_ones], size)), size)
    best = np.full(len(values), -np.inf)
    np.maximum.at(best, members, promise[open_ones])
    program = _Program(len(values), size)
    taken_ones = np.array(taken, dtype=np.int64)
    for position, grouping in enumerate(groupings, start=1):
        add = program.limit_each if position <= len(terms.per) else program.limit_distinct
        add(grouping, values[:, position], grouping.codes[taken_ones])
    check_time()
    counts, is_largest = program.solve(most, best)
    return Plan(kinds, counts, is_largest)


class _Program:
    """The integer program: a number of each kind, and a switch for each new value."""

    def __init__(self, kinds: int, size: int) -> None:
        self._kinds, self._size, self._variables = kinds, size, kinds
        self._rows: list[tuple[IndexArray, FloatArray]] = [(np.arange(kinds), np.ones(kinds))]
        self._most: list[float] = [size]

    def limit_each(self, grouping: Grouping, values: IndexArray, used: IndexArray) -> None:
        """No value more often than the grouping allows; `values` are those of the kinds, `used` those taken."""
        for value in np.unique(values).tolist():
            own = np.flatnonzero(values == value)
            self._add(own, np.ones(len(own)), max(0, grouping.most - int((used == value).sum())))

    def limit_distinct(self, grouping: Grouping, values: IndexArray, used: IndexArray) -> None:
        """No more distinct values than the grouping allows; those in use cost nothing."""
        new = np.setdiff1d(values, used)
        switches = self._variables + np.arange(len(new))
        self._variables += len(new)
        for value, switch in zip(new.tolist(), switches.tolist(), strict=True):
            own = np.flatnonzero(values == value)
            self._add(np.append(own, switch), np.append(np.ones(len(own)), -self._size), 0)
        if len(new):
            self._add(switches, np.ones(len(new)), max(0, grouping.most - len(np.unique(used))))

    def solve(self, most: FloatArray, promise: FloatArray) -> tuple[IndexArray, bool]:
        """The number of each kind, and whether no larger sum is possible."""
        lowest, highest = float(promise.min()), float(promise.max())
        preferred = (promise - lowest) / (highest - lowest) if highest > lowest else np.zeros(self._kinds)
        gain = np.zeros(self._variables)
        gain[: self._kinds] = 1 + PREFERENCE / self._size * np.nan_to_num(preferred)
        upper = np.ones(self._variables)
        upper[: self._kinds] = most
        answer = scipy.optimize.milp(
            -gain,
            integrality=np.ones(self._variables, dtype=np.int64),
            bounds=scipy.optimize.Bounds(0, upper),
            constraints=scipy.optimize.LinearConstraint(self._matrix(), -np.inf, np.array(self._most)),
            options={"node_limit": MOST_NODES},
        )
        if answer.x is None:
            return np.zeros(self._kinds, dtype=np.int64), False
        return np.rint(answer.x[: self._kinds]).astype(np.int64), bool(answer.status == 0)

    def _add(self, variables: IndexArray, factors: FloatArray, most: float) -> None:
        self._rows.append((variables, factors))
        self._most.append(most)

    def _matrix(self) -> "scipy.sparse.coo_array":
        rows = np.repeat(np.arange(len(self._rows)), [len(variables) for variables, _ in self._rows])
        columns = np.concatenate([variables for variables, _ in self._rows])
        factors = np.concatenate([factors for _, factors in self._rows])
        return scipy.sparse.coo_array((factors, (rows, columns)), shape=(len(self._rows), self._variables))
