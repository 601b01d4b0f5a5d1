"""A batch under terms: some candidates only, some in any case, and no more of one kind than a plate or a bench allows.

Every algorithm chooses one candidate at a time. Between two choices the terms close what the batch has no room for, and
what was chosen counts as pending. So the terms work with every algorithm, and a batch without terms stays as it was.

A batch that may cost or last only so much is filled twice, and the better one is kept (`allowances`). `same` tries one
batch per value and keeps the one that promises most: the sum of what its members' optimistic values
exceed the best candidate measured so far.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import numpy as np

from app.arrays import BoolArray, FloatArray, IndexArray
from app.domain.batches import BatchSize, Inclusion
from app.domain.errors import TermsUnmet
from app.engine import Ask, Choose, Selection, State, expect
from app.modelling.allowances import Allowance, efforts, have_room, must_leave_room

SHORTLISTED_VALUES = 12
"""Of a column whose value must be the same in the whole batch, this many values are tried: the most promising ones."""

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Grouping:
    """A column as groups of equal values, (A,) codes; -1 where the value is missing, which is a group of its own."""

    column: str
    codes: IndexArray
    most: int


@dataclass(frozen=True, eq=False)
class Terms:
    """What an ask requests beyond a size, in the numbers of candidates."""

    where: BoolArray | None = None
    """(A,) which candidates meet the conditions."""
    exclude: IndexArray | None = None
    """Candidates that must not be chosen."""
    reserved: IndexArray | None = None
    """Candidates that somebody will measure without a batch: never chosen, whatever the request says."""
    include: tuple[Inclusion, ...] = ()
    same: IndexArray | None = None
    """(A,) code of the value that all members of the batch must share."""
    at_most: tuple[Grouping, ...] = ()
    """No more distinct values in the batch than `most`."""
    present: tuple[int, ...] = ()
    """Members that the batch has already: they take room, and are pending or measured."""
    released: tuple[int, ...] = ()
    """Pending measurements that will not be made."""
    per: tuple[Grouping, ...] = ()
    """No more measurements with the same value than `most`."""
    allowances: tuple[Allowance, ...] = ()
    """What all measurements together may take."""
    confirm: int | None = None
    """Measure the best few until each has so many measurements, and nothing else."""

    @property
    def are_plain(self) -> bool:
        """Whether the algorithm can choose the whole batch in one go."""
        grown = self.include or self.present or self.at_most or self.per or self.allowances
        return not grown and self.same is None

    @property
    def names(self) -> tuple[str, ...]:
        """The terms that the request states."""
        stated = {
            "where": self.where is not None,
            "exclude": self.exclude is not None,
            "include": bool(self.include),
            "same": self.same is not None,
            "at_most": bool(self.at_most),
            "per": bool(self.per),
        }
        named = tuple(name for name, is_stated in stated.items() if is_stated)
        return named + tuple(allowance.name for allowance in self.allowances)

    def without(self, name: str) -> "Terms":
        """The other terms."""
        others = tuple(allowance for allowance in self.allowances if allowance.name != name)
        if len(others) < len(self.allowances):
            return replace(self, allowances=others)
        return replace(self, **{name: getattr(NO_TERMS, name)})


NO_TERMS = Terms()


@dataclass(frozen=True)
class Need:
    """How a batch within allowances is judged."""

    least: int
    """How many the request needs; more may be chosen."""
    reached: float | None = None
    """What a choice must exceed to promise anything; by default the best measured candidate."""


def compose(
    choose: Choose, state: State, ask: Ask, terms: Terms, promise: FloatArray, need: Need | None = None
) -> Selection:
    """The batch under its terms; `promise` (A,) is the optimistic value of every candidate before the batch."""
    need = need or Need(ask.min_size)
    state = state.replace(available=eligible_under(state, terms))
    if terms.released:
        state = expect(state, terms.released, -1)
    if terms.are_plain:
        return choose(state, ask)
    if terms.allowances and not terms.include:
        must_leave_room(terms.allowances, state, np.array(terms.present, dtype=np.int64))
    if terms.same is None:
        return _filled(choose, state, ask, terms, promise, need)
    batches = [
        _filled(choose, state.replace(available=state.available & (terms.same == value)), ask, terms, promise, need)
        for value in _values_worth_trying(state, ask.min_size, terms, promise, need)
    ]
    if terms.allowances:
        return _better(state, batches, need)
    return max(batches, key=lambda batch: (len(batch.picks) >= ask.min_size, _gain(state, batch)))


def must_be_met(choose: Callable[[Terms], T], terms: Terms, size: BatchSize, count: Callable[[T], int]) -> T:
    """What is chosen under the terms; refused if they leave fewer candidates than the request needs."""
    batch = choose(terms)
    found = count(batch)
    if found >= size.least or not terms.names:
        return batch
    fuller = [name for name in terms.names if count(choose(terms.without(name))) > found]
    relaxing = " or ".join(f"`{name}`" for name in fuller) or "the size"
    relief = f"Ask for at most {found}, or relax {relaxing}." if found else f"Relax {relaxing}."
    raise TermsUnmet(f"{TermsUnmet.detail} There are {found}, and {size.least} are needed. {relief}", found=found)


def best_measured(state: State) -> float:
    """The best posterior mean of any measured candidate, in model units; 0 if none is measured."""
    return float(state.mean[state.measured].max()) if len(state.measured) else 0.0


def eligible_under(state: State, terms: Terms) -> BoolArray:
    """(A,) which candidates may be chosen at all."""
    eligible = state.available.copy() if terms.where is None else state.available & terms.where
    for closed in (terms.exclude, terms.reserved):
        if closed is not None:
            eligible[closed] = False
    return eligible


def _gain(state: State, selection: Selection) -> float:
    """How far the optimistic values of a batch exceed the best measured candidate, summed, in model units."""
    return float(np.maximum(selection.ucb - best_measured(state), 0.0).sum())


def _better(state: State, batches: Sequence[Selection], need: Need) -> Selection:
    """The batch that promises most, of those that are large enough; the first of equals."""
    reached = best_measured(state) if need.reached is None else need.reached
    gains = [float(np.maximum(batch.ucb - reached, 0.0).sum()) for batch in batches]
    enough = [len(batch.picks) >= need.least for batch in batches]
    return batches[max(range(len(batches)), key=lambda position: (enough[position], gains[position]))]


def _values_worth_trying(state: State, many: int, terms: Terms, promise: FloatArray, need: Need) -> Sequence[int]:
    """The values that the batch may share, most promising first; those of included candidates if there are any."""
    assert terms.same is not None  # noqa: S101  (narrows for mypy)
    fixed = (*(inclusion.candidate for inclusion in terms.include), *terms.present)
    if fixed:
        return [int(terms.same[fixed[0]])]
    open_ones = np.flatnonzero(state.available)
    values, members = np.unique(terms.same[open_ones], return_inverse=True)
    best = np.full(len(values), -np.inf)
    np.maximum.at(best, members, promise[open_ones])
    enough = np.bincount(members, minlength=len(values)) >= many
    if terms.allowances:
        groups = np.full(len(state.available), -1)
        groups[open_ones] = members
        enough = have_room(terms.allowances, groups, len(values), need.least)
    order = np.lexsort((values, -best, ~enough))
    return [int(value) for value in values[order[:SHORTLISTED_VALUES]]] or [-1]


def _filled(choose: Choose, state: State, ask: Ask, terms: Terms, promise: FloatArray, need: Need) -> Selection:
    """The batch; if it may take only so much, the better of two: by promise, and by promise per effort."""
    by_promise = _grown(choose, state, ask, terms, promise, need)
    if not terms.allowances:
        return by_promise
    sparing = replace(ask, effort=efforts(terms.allowances, ask.max_size))
    return _better(state, [by_promise, _grown(choose, state, sparing, terms, promise, need)], need)


def _grown(choose: Choose, state: State, ask: Ask, terms: Terms, promise: FloatArray, need: Need) -> Selection:
    """One candidate after the other: first what was requested, then what is chosen in the room that is left."""
    room = _Room(terms, state.available, need.least)
    picks = [inclusion.candidate for inclusion in terms.include for _ in range(inclusion.replicates)]
    for candidate in (*terms.present, *picks):
        room.take(candidate)
    requested = len(picks)
    chosen: list[Selection] = []
    while len(picks) < ask.max_size:
        ahead = expect(state, np.array(picks, dtype=np.int64)) if picks else state
        part = replace(ask, min_size=1, max_size=1, chosen_before=len(picks) - requested)
        selection = choose(ahead.replace(available=room.open_for(ask.min_size - len(picks))), part)
        if len(selection.picks) == 0:
            chosen.append(replace(selection, ended="exhausted"))
            break
        chosen.append(selection)
        picks.append(int(selection.picks[0]))
        room.take(picks[-1])
        if selection.ended == "rule" and len(picks) >= ask.min_size:
            break
    joined = _joined(picks, promise[picks[:requested]], chosen)
    return _with_model_choices_last(joined, chosen) if terms.allowances else joined


def _with_model_choices_last(batch: Selection, chosen: Sequence[Selection]) -> Selection:
    """Repeats and the wide start come first in a selection; as an allowance shrinks, they may be chosen later."""
    made = [selection for selection in chosen if len(selection.picks)]
    ranks = [0] * batch.requested
    ranks += [1 if part.noise_probes or part.remeasured else 2 if part.space_filling else 3 for part in made]
    order = np.argsort(ranks, kind="stable")
    return replace(batch, picks=batch.picks[order], ucb=batch.ucb[order])


def _joined(picks: Sequence[int], requested: FloatArray, chosen: Sequence[Selection]) -> Selection:
    """The choices, made one at a time, as one selection; `requested` are the values of those that were requested."""
    numbers = np.array(picks, dtype=np.int64)
    made = [selection for selection in chosen if len(selection.picks)]
    ucb = np.concatenate([requested, *(selection.ucb for selection in made)])
    if not chosen:
        return Selection(numbers, "size", ucb, requested=len(requested))
    last = chosen[-1]
    return Selection(
        numbers,
        last.ended,
        ucb,
        made[-1].ratio_bound if made else last.ratio_bound,
        guaranteed=bool(made) and all(selection.guaranteed for selection in made),
        alpha=last.alpha,
        degraded={name: count for selection in chosen for name, count in selection.degraded.items()},
        requested=len(requested),
        space_filling=sum(selection.space_filling for selection in made),
        noise_probes=sum(selection.noise_probes for selection in made),
        remeasured=sum(selection.remeasured for selection in made),
    )


@dataclass(eq=False)
class _Room:
    """What a growing batch still has room for."""

    terms: Terms
    available: BoolArray
    least: int
    taken: list[int] = field(default_factory=list)

    def take(self, candidate: int) -> None:
        self.taken.append(candidate)

    def open_for(self, missing: int) -> BoolArray:
        """(A,) what may be chosen next, so that `missing` measurements in all can still be found where possible."""
        open_ones = self.available.copy()
        taken = np.array(self.taken, dtype=np.int64)
        for grouping in self.terms.per:
            full, counts = np.unique(grouping.codes[taken], return_counts=True)
            open_ones &= ~np.isin(grouping.codes, full[counts >= grouping.most])
        for grouping in self.terms.at_most:
            open_ones &= self._in_reach(grouping, np.unique(grouping.codes[taken]), open_ones, missing)
        if self.terms.allowances:
            fresh = open_ones.copy()
            fresh[taken] = False
            wanted = self.least + len(self.terms.present) - len(taken)
            for allowance in self.terms.allowances:
                open_ones = allowance.fitting(allowance.left(taken), open_ones, fresh, wanted)
        return open_ones

    def _in_reach(self, grouping: Grouping, used: IndexArray, open_ones: BoolArray, missing: int) -> BoolArray:
        """Values in use; and, while there may be more, those that leave room for the missing measurements."""
        codes = grouping.codes
        more = grouping.most - len(used)
        in_use: BoolArray = np.isin(codes, used)
        if more <= 0:
            return in_use
        rooms = self._rooms(codes, open_ones)
        have = sum(rooms.pop(int(value), 0) for value in used)
        largest = sorted(rooms, key=lambda value: (-rooms[value], value))[:more]
        others = sum(rooms[value] for value in largest[: more - 1])
        best = sum(rooms[value] for value in largest)  # with a value that is itself among the largest
        reach = {value: have + (best if value in largest else room + others) for value, room in rooms.items()}
        enough = [value for value in rooms if reach[value] >= missing]
        return in_use | np.isin(codes, enough or list(rooms))

    def _rooms(self, codes: IndexArray, open_ones: BoolArray) -> dict[int, int]:
        """How many measurements each value of a column has room for, by the list and by `per` of the same column."""
        taken = np.array(self.taken, dtype=np.int64)
        fresh = open_ones.copy()
        fresh[taken] = False  # whether one may be repeated is not known here
        values, counts = np.unique(codes[fresh], return_counts=True)
        rooms = dict(zip(values.tolist(), counts.tolist(), strict=True))
        for grouping in self.terms.per:
            if np.array_equal(grouping.codes, codes):
                used = dict(
                    zip(*(array.tolist() for array in np.unique(codes[taken], return_counts=True)), strict=True)
                )
                rooms = {value: min(room, grouping.most - used.get(value, 0)) for value, room in rooms.items()}
        return rooms
