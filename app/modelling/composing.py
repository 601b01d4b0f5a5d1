"""A batch under terms: some candidates only, some in any case, and no more of one kind than a plate or a bench allows.

Every algorithm chooses one candidate at a time. Between two choices the terms close what the batch has no room for, and
what was chosen counts as pending. So the terms work with every algorithm, and a batch without terms stays as it was.

A batch that may cost or last only so much is filled twice, and the better one is kept (`allowances`). `same` tries one
batch per value and keeps the one that promises most: the sum of what its members' optimistic values exceed the best
candidate measured so far, or with several objectives the sum of their scores above the reference.

A batch that stays too small is planned as a whole (`planning`) before the request is refused.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from app.arrays import BoolArray, FloatArray, IndexArray
from app.domain.batches import BatchSize
from app.domain.errors import TermsUnmet
from app.engine import Ask, Choose, Memory, Selection, State, expect
from app.modelling.allowances import efforts, have_room, must_leave_room
from app.modelling.planning import PlannedRoom, plan_for
from app.modelling.room import Room
from app.modelling.terms import Need, Terms

SHORTLISTED_VALUES = 12
"""Of a column whose value must be the same in the whole batch, this many values are tried: the most promising ones."""

MOST_SEARCHED = 100
"""Values for which a batch is planned where none of the most promising ones has enough room."""

T = TypeVar("T")


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
    values = [None] if terms.same is None else _values_worth_trying(state, ask.min_size, terms, promise, need)
    batches = [_filled(choose, _sharing(state, terms, value), ask, terms, promise, need) for value in values]
    batch = _better(state, batches, need, need.least if terms.allowances else ask.min_size)
    if len(batch.picks) >= need.least:
        return batch
    return _planned(choose, state, ask, terms, promise, need, batch)


def _sharing(state: State, terms: Terms, value: int | None) -> State:
    """Only the candidates with this value of the column that must be the same; None if there is no such column."""
    return state if value is None else state.replace(available=state.available & (terms.same == value))


def _planned(
    choose: Choose, state: State, ask: Ask, terms: Terms, promise: FloatArray, need: Need, found: Selection
) -> Selection:
    """A batch planned as a whole, because the one that was found is too small; that one, if no plan is larger."""
    if terms.allowances:
        one_sum = len(terms.allowances) == 1 and not (terms.per or terms.at_most) and terms.same is None
        return replace(found, is_largest=one_sum)
    values = [None] if terms.same is None else _values_with_most_room(state, terms, promise)
    requested = _requested(terms)
    taken, more = (*terms.present, *requested), ask.min_size - len(requested)
    batches, is_largest = [found], len(values) <= MOST_SEARCHED
    for value in values[:MOST_SEARCHED]:
        own = _sharing(state, terms, value)
        plan = plan_for(terms, _capacity(own, taken, need), taken, more, promise)
        is_largest = is_largest and plan is not None and plan.is_largest
        if plan is None or plan.size + len(requested) <= len(batches[-1].picks) < need.least:
            continue
        batches.append(_grown(choose, own, ask, terms, promise, PlannedRoom(plan, own.available, len(taken))))
        if sum(len(batch.picks) >= need.least for batch in batches) == SHORTLISTED_VALUES:
            break
    enough = [batch for batch in batches if len(batch.picks) >= need.least]
    largest = max(batches, key=lambda batch: len(batch.picks))
    return replace(_better(state, enough or [largest], need, need.least), is_largest=is_largest)


def _capacity(state: State, taken: Sequence[int], need: Need) -> IndexArray:
    """(A,) how often each candidate may still be chosen."""
    limit = np.ones(len(state.X), dtype=np.int64) if need.limit is None else need.limit.copy()
    np.subtract.at(limit, np.array(taken, dtype=np.int64), 1)
    return np.where(state.available, np.maximum(limit, 0), 0)


def _requested(terms: Terms) -> list[int]:
    """The candidates that must be in the batch, each as often as it is to be measured."""
    return [inclusion.candidate for inclusion in terms.include for _ in range(inclusion.replicates)]


def must_be_met(choose: Callable[[Terms], T], terms: Terms, size: BatchSize, selection: Callable[[T], Selection]) -> T:
    """What is chosen under the terms; refused if they leave fewer candidates than the request needs."""
    batch = choose(terms)
    found = len(selection(batch).picks)
    if found >= size.least or not terms.names:
        return batch
    fuller = [name for name in terms.names if len(selection(choose(terms.without(name))).picks) > found]
    relaxing = " or ".join(f"`{name}`" for name in fuller) or "the size"
    relief = f"Ask for at most {found}, or relax {relaxing}." if found else f"Relax {relaxing}."
    there_are = "There are" if selection(batch).is_largest else "The search found"
    raise TermsUnmet(f"{TermsUnmet.detail} {there_are} {found}, and {size.least} are needed. {relief}", found=found)


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


def _better(state: State, batches: Sequence[Selection], need: Need, least: int) -> Selection:
    """The batch that promises most, of those that have at least `least` candidates; the first of equals."""
    reached = best_measured(state) if need.reached is None else need.reached
    gains = [float(np.maximum(batch.ucb - reached, 0.0).sum()) for batch in batches]
    enough = [len(batch.picks) >= least for batch in batches]
    return batches[max(range(len(batches)), key=lambda position: (enough[position], gains[position]))]


def _values_worth_trying(
    state: State, many: int, terms: Terms, promise: FloatArray, need: Need
) -> Sequence[int | None]:
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


def _values_with_most_room(state: State, terms: Terms, promise: FloatArray) -> Sequence[int | None]:
    """The values that the batch may share, those first of which `per` leaves most candidates, then by promise."""
    fixed = (*_requested(terms), *terms.present)
    if terms.same is None or fixed:
        return [None if terms.same is None else int(terms.same[fixed[0]])]
    open_ones = np.flatnonzero(state.available)
    values, members = np.unique(terms.same[open_ones], return_inverse=True)
    best = np.full(len(values), -np.inf)
    np.maximum.at(best, members, promise[open_ones])
    room = np.bincount(members, minlength=len(values))
    for grouping in terms.per:
        pairs, counts = np.unique(np.stack((members, grouping.codes[open_ones])), axis=1, return_counts=True)
        within = np.bincount(pairs[0], np.minimum(counts, grouping.most), len(values)).astype(np.int64)
        room = np.minimum(room, within)
    return [int(value) for value in values[np.lexsort((values, -best, -room))]]


def _filled(choose: Choose, state: State, ask: Ask, terms: Terms, promise: FloatArray, need: Need) -> Selection:
    """The batch; if it may take only so much, the better of two: by promise, and by promise per effort."""
    by_promise = _grown(choose, state, ask, terms, promise, Room(terms, state.available, need.least))
    if not terms.allowances:
        return by_promise
    sparing = replace(ask, effort=efforts(terms.allowances, ask.max_size))
    per_effort = _grown(choose, state, sparing, terms, promise, Room(terms, state.available, need.least))
    return _better(state, [by_promise, per_effort], need, need.least)


def _grown(
    choose: Choose, state: State, ask: Ask, terms: Terms, promise: FloatArray, room: Room | PlannedRoom
) -> Selection:
    """One candidate after the other: first what was requested, then what is chosen in the room that is left."""
    picks = _requested(terms)
    for candidate in (*terms.present, *picks):
        room.take(candidate)
    requested = len(picks)
    chosen: list[Selection] = []
    memory = Memory()
    while len(picks) < ask.max_size:
        ahead = expect(state, np.array(picks, dtype=np.int64)) if picks else state
        part = replace(ask, min_size=1, max_size=1, chosen_before=len(picks) - requested, memory=memory)
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
        promising=tuple(candidate for selection in made for candidate in selection.promising),
    )
