"""What happens to a study: it starts, measurements come in, batches are handed out, values change, the list grows."""

import numpy as np
from numpy.typing import ArrayLike

from app.arrays import BoolArray, FloatArray, IndexArray
from app.engine import sweep
from app.engine.confidence import information_bound
from app.engine.dictionary import dictionary_for_history, draw, is_in, members_leaving
from app.engine.focus import advanced, refocused
from app.engine.greedy import members_with
from app.engine.posterior import Measurements, downdate, from_scratch, has_drifted, update, with_counts
from app.engine.remote_shards import embedding_over
from app.engine.settings import EngineSettings
from app.engine.shard_sweeps import kernel_diagonal
from app.engine.stability import RANK_TOLERANCE, Rescues, clip_extremes
from app.engine.state import State

CHECK_EVERY = 4
"""Updates of a focus between two checks for drift, which costs as much there as a sixth of an update."""

MODERATE = (1e-60, 1e60)
"""The largest k(x, x) of a list in float32: Z, of the size of its root, neither overflows nor vanishes."""


def start(X: ArrayLike, settings: EngineSettings) -> State:
    """Nothing is known: mean 0, leverage k(x, x)/λ."""
    features = _stored(X, settings)
    if features.ndim != 2 or len(features) == 0 or not np.isfinite(features).all():
        raise ValueError("features must be a table of finite numbers with at least one row")
    _check_prior(features, settings, MODERATE[0])
    A = len(features)
    none, zero = np.zeros(A, dtype=np.int64), np.zeros(A)
    state = State(
        settings=settings,
        X=features,
        counts=none,
        sums=zero,
        pending=none,
        available=np.ones(A, dtype=bool),
        latest=none,
        S=none[:0],
        embedding=embedding_over(features, settings.shard, settings.precision),
        G=np.zeros((0, 0)),
        H=np.zeros((0, 0)),
        w=zero[:0],
        mean=zero,
        residual=zero,
        projected_leverage=zero,
    )
    rescues = Rescues()
    return from_scratch(state, state.S, rescues).with_rescues(rescues)


@np.errstate(all="ignore")
def start_from(
    X: ArrayLike,
    settings: EngineSettings,
    counts: ArrayLike,
    sums: ArrayLike,
    step: int = 0,
    weights: FloatArray | None = None,
) -> State:
    """Historical data: counts (A,) measurements of each candidate, and the sums (A,) of their values.

    `step` addresses the draw of the dictionary. The running sum of Theorem 2 begins with `information_bound`.
    """
    return revise(start(X, settings).replace(step=step), counts, sums, weights)


@np.errstate(all="ignore")
def measure(
    state: State, numbers: ArrayLike, values: ArrayLike, repeats: ArrayLike = 1, *, expected: bool = True
) -> State:
    """Take in measurements: with `repeats`, values_i is the sum of repeats_i values; a number may occur several times.

    `expected` measurements are subtracted from the pending ones. The dictionary is drawn anew with the leverages of
    `state`.
    """
    rescues = Rescues()
    if state.weights is not None:
        raise ValueError("measurements with weights are taken in by `revise`")
    new = _grouped(state, np.asarray(numbers), np.asarray(values, dtype=float), np.asarray(repeats), rescues)
    if len(new.numbers) == 0:
        return state
    J = new.numbers
    information = state.information + float(new.repeats @ np.log1p(3 * _leverage_of(state, J)))
    pending, latest = state.pending, state.latest.copy()
    latest[J] = state.step + 1
    if expected and pending[J].any():
        pending = pending.copy()
        pending[J] = np.maximum(0, pending[J] - new.repeats)
    taught = _teach_near(state, new, rescues) or _teach(state.whole, new, rescues)
    taught = taught.with_rescues(rescues)
    taught = taught.replace(information=information, pending=pending, latest=latest, step=state.step + 1)
    return refocused(taught, len(J))


@np.errstate(all="ignore")
def revise(state: State, counts: ArrayLike, sums: ArrayLike, weights: FloatArray | None = None) -> State:
    """Other counts and sums than before (a correction, a retraction): all from scratch, with a new dictionary.

    With `weights` (A,), the measurements of a candidate count as so many, and `sums` are weighted alike.
    """
    rescues = Rescues()
    new_counts = np.array(counts, dtype=np.int64)
    new_sums = clip_extremes(np.array(sums, dtype=float), "values clipped", rescues)
    if (new_counts < 0).any() or new_counts.shape != (len(state.X),) or new_sums.shape != new_counts.shape:
        raise ValueError("counts and sums need one entry per candidate, and counts cannot be negative")
    now = state.step + 1
    latest = np.where(new_counts > state.counts, now, np.maximum(state.latest, 1))
    state = state.replace(
        counts=new_counts,
        sums=np.where(new_counts > 0, new_sums, 0.0),
        latest=np.where(new_counts > 0, latest, 0),
        weights=weights,
    )
    state = from_scratch(state, dictionary_for_history(state, rescues), rescues).with_rescues(rescues)
    return refocused(state.replace(information=information_bound(state), step=now), len(state.measured))


def expect(state: State, numbers: ArrayLike, repeats: ArrayLike = 1) -> State:
    """Mark measurements as handed out; negative repeats take them back (abandoned, failed)."""
    pending = state.pending.copy()
    np.add.at(pending, np.asarray(numbers, dtype=np.int64), np.asarray(repeats, dtype=np.int64))
    return state.replace(pending=np.maximum(pending, 0))


@np.errstate(all="ignore")
def add_candidates(state: State, X: ArrayLike) -> State:
    """More candidates behind the existing ones, which keep their numbers."""
    rescues, extra = Rescues(), np.asarray(X, dtype=float)
    wrong = extra.ndim != 2 or extra.shape[1] != state.X.shape[1]
    if wrong or not np.isfinite(_stored(extra, state.settings)).all():
        raise ValueError("new candidates need the same columns, with finite numbers")
    _check_prior(extra, state.settings, 0.0)
    none = np.zeros(len(extra), dtype=np.int64)
    longer = state.replace(
        counts=np.concatenate((state.counts, none)),
        sums=np.concatenate((state.sums, np.zeros(len(extra)))),
        pending=np.concatenate((state.pending, none)),
        available=np.concatenate((state.available, np.ones(len(extra), dtype=bool))),
        latest=np.concatenate((state.latest, none)),
        weights=None if state.weights is None else np.concatenate((state.weights, none.astype(float))),
    )
    return sweep.append(longer, extra, rescues).with_rescues(rescues)


def _stored(X: ArrayLike, settings: EngineSettings) -> FloatArray:
    """Features as they are kept; infinite if they are too large for that."""
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(X, dtype=settings.precision)


def _check_prior(X: FloatArray, settings: EngineSettings, least: float) -> None:
    """Refuse candidates whose embedding float32 cannot hold, unless all of them are certain."""
    if settings.precision == "float64":
        return
    largest = float(kernel_diagonal(settings.kernel, X, Rescues()).max(initial=0.0))
    if largest and not least <= largest <= MODERATE[1]:
        between = f"between {MODERATE[0]:g} and {MODERATE[1]:g}"
        raise ValueError(f"with float32, the largest prior variance must lie {between}")


def _grouped(
    state: State, numbers: IndexArray, values: FloatArray, repeats: IndexArray, rescues: Rescues
) -> Measurements:
    """Distinct candidates with their counts and sums."""
    repeats = np.full(values.shape, repeats) if repeats.ndim == 0 else repeats
    if not numbers.shape == values.shape == repeats.shape:
        numbers, values, repeats = np.broadcast_arrays(numbers, values, repeats)
    numbers, repeats = numbers.astype(np.int64).ravel(), repeats.astype(np.int64).ravel()
    if (repeats < 1).any() or not np.isfinite(values).all() or ((numbers < 0) | (numbers >= len(state.X))).any():
        raise ValueError("measurements need known candidates, finite values and positive repeats")
    J, position = np.unique(numbers, return_inverse=True)
    counts = np.bincount(position, repeats, len(J)).astype(np.int64)
    sums = np.asarray(np.bincount(position, values.ravel(), len(J)), dtype=float)
    return Measurements(J, counts, clip_extremes(sums, "values clipped", rescues))


def _leverage_of(state: State, J: IndexArray) -> FloatArray:
    slots = None if state.focus is None else state.focus.slots(J)
    return state.leverage[J] if slots is None else state.near.leverage[slots]


def _teach_near(state: State, new: Measurements, rescues: Rescues) -> State | None:
    """The posterior of a focus with new measurements; None if there is none, or if all candidates are needed."""
    focus = state.focus
    slots = None if focus is None else focus.slots(new.numbers)
    if focus is None or slots is None:
        return None
    near, own = with_counts(focus.near, Measurements(slots, new.repeats, new.sums)), Rescues()
    among = focus.numbers, len(state.X)
    drawn = draw(state.settings, state.step, focus.near.leverage, near.counts, among)
    leaving = members_leaving(near, drawn)
    D = _not_yet_seen(near, drawn[~is_in(drawn, near.S, len(near.X))], own)
    if leaving.any() or _much_changes(near, len(slots), leaving, len(D)):
        return None
    near = update(near, Measurements(slots, new.repeats, new.sums), D, own)
    if near.updates % CHECK_EVERY == 0 and has_drifted(near):
        return None
    rescues.update(own)
    counts, sums = state.counts.copy(), state.sums.copy()
    counts[focus.numbers], sums[focus.numbers] = near.counts, near.sums
    return advanced(state, near, counts, sums)


def _teach(state: State, new: Measurements, rescues: Rescues) -> State:
    """The posterior with new measurements, incrementally if little changes, else from scratch."""
    leverage, state = state.leverage, with_counts(state, new)
    if state.settings.dictionary == "greedy":
        drawn = members_with(state, new.numbers, rescues)
    else:
        drawn = draw(state.settings, state.step, leverage, state.counts)
    leaving = members_leaving(state, drawn)
    D = drawn[~is_in(drawn, state.S, len(state.X))]
    if not leaving.any():
        D = _not_yet_seen(state, D, rescues)
    if state.updates >= state.settings.refresh_every or _much_changes(state, len(new.numbers), leaving, len(D)):
        return from_scratch(state, np.union1d(state.S[~leaving], D), rescues)
    state = downdate(state, leaving, rescues)
    state = update(state, new, _not_yet_seen(state, D, rescues), rescues)
    return from_scratch(state, state.S, rescues) if has_drifted(state) else state


def _not_yet_seen(state: State, D: IndexArray, rescues: Rescues) -> IndexArray:
    """Those of D that the dictionary does not already represent to the last digit."""
    return D[state.residual[D] > RANK_TOLERANCE * sweep.prior_variance(state, state.X[D], rescues)]


def _much_changes(state: State, measured: int, leaving: BoolArray, added: int) -> bool:
    """An update costs about measured + 2·added + 3·leaving products with Z, a computation from scratch about 2m."""
    m = len(state.S)
    return measured > m or added + int(leaving.sum()) > max(1, m // 4)
