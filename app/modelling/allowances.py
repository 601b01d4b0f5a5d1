"""What the measurements of a batch may take in all: a budget of money, a night of time.

An allowance closes what it has no room for. It keeps back what the cheapest of the missing candidates take, so that the
smallest batch that was requested still finds room. A batch is filled twice, one candidate after the other: by what each
promises, and by what it promises per share of everything that is limited, the size of the batch included:

    effort(x) = Σ_j amount_j(x)/most_j + 1/size

With d limits (allowances and the size), the better of the two batches promises at least 1/(2d) of what any batch can,
if what a candidate promises does not depend on the others and nothing is kept back. Proof: the candidates of highest
promise per effort, up to and including the first that does not fit, have an effort above 1 together, and no batch has
more than d. So they promise 1/d of the best batch. All but the last are in the second batch, and the first batch begins
with a candidate that promises no less than the last.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from app.arrays import BoolArray, FloatArray, IndexArray
from app.domain.errors import TermsUnmet
from app.engine import State

AllowanceName = Literal["budget", "time", "study_budget"]

ROUNDING = 1e-9
"""Share of an allowance by which a sum may exceed it: 0.1 + 0.1 + 0.1 fits 0.3."""

_WORDS: dict[AllowanceName, tuple[str, str]] = {
    "budget": ("costs", "`budget` leaves"),
    "time": ("takes", "`time` leaves"),
    "study_budget": ("costs", "the study's budget leaves"),
}


@dataclass(frozen=True, eq=False)
class Allowance:
    """What the measurements of a batch may take in all, and what one measurement of each candidate takes."""

    name: AllowanceName
    amounts: FloatArray
    """(A,)"""
    most: float

    def left(self, taken: IndexArray) -> float:
        """What remains once these are measured; rounding errors do not count."""
        return self.most + ROUNDING * abs(self.most) - float(self.amounts[taken].sum())

    def fitting(self, left: float, open_ones: BoolArray, fresh: BoolArray, missing: int) -> BoolArray:
        """(A,) what may be chosen next, so that `missing` in all can still be chosen where that is possible.

        `fresh` may all be chosen once; an open one that is not fresh would be a repeat.
        """
        cheapest = np.sort(self.amounts[fresh])[: max(1, missing)]
        reachable = int(np.searchsorted(np.cumsum(cheapest), left, side="right"))
        kept_back = float(cheapest[: max(0, reachable - 1)].sum())
        fits: BoolArray = open_ones & (self.amounts <= left - kept_back)
        return fits


def affordable(allowance: Allowance, picks: IndexArray) -> int:
    """How many of the picks, in their order, fit the allowance."""
    most = allowance.left(np.zeros(0, dtype=np.int64))
    return int(np.searchsorted(np.cumsum(allowance.amounts[picks]), most, side="right"))


def efforts(allowances: Sequence[Allowance], size: int) -> FloatArray:
    """(A,) what a measurement of each candidate takes of everything that is limited."""
    shares = [
        np.minimum(allowance.amounts, allowance.most) / allowance.most if allowance.most > 0 else allowance.amounts > 0
        for allowance in allowances
    ]
    effort: FloatArray = np.sum(shares, axis=0) + 1.0 / size
    return effort


def must_leave_room(allowances: Sequence[Allowance], state: State, taken: IndexArray) -> None:
    """Refuse an ask of which not a single candidate fits, and say what the cheapest one takes."""
    for allowance in allowances:
        left = allowance.left(taken)
        amounts = allowance.amounts[state.available]
        if len(amounts) and amounts.min() > left:
            cheapest = float(amounts.min())
            takes, leaves = _WORDS[allowance.name]
            shown = max(0.0, left)
            raise TermsUnmet(
                f"No candidate fits: the cheapest that may be chosen {takes} {cheapest:.6g}, and {leaves} {shown:.6g}."
                " Raise it, or ask for others.",
                term=allowance.name,
                cheapest=cheapest,
                left=shown,
            )


def have_room(allowances: Sequence[Allowance], members: IndexArray, groups: int, least: int) -> BoolArray:
    """(groups,) whether the cheapest `least` candidates of each group fit; `members` (A,) are groups, -1 for none."""
    room = np.ones(groups, dtype=bool)
    inside = np.flatnonzero(members >= 0)
    for allowance in allowances:
        order = inside[np.lexsort((allowance.amounts[inside], members[inside]))]
        first = np.searchsorted(members[order], np.arange(groups))
        is_cheap = np.arange(len(order)) - first[members[order]] < least
        sums = np.bincount(members[order][is_cheap], allowance.amounts[order][is_cheap], minlength=groups)
        room &= sums <= allowance.left(np.zeros(0, dtype=np.int64))
    return room
