"""What happens to a study after its start: measurements, batches handed out, candidates that come and go."""

import numpy as np
from numpy.typing import ArrayLike

from app.engine.arrays import Array, Flags, Numbers
from app.engine.dictionary import among, draw, leaving
from app.engine.embedding import columns, from_scratch, prior
from app.engine.removal import remove
from app.engine.rows import Rows
from app.engine.stability import RANK_TOLERANCE, Rescues, cut, not_negative
from app.engine.state import State
from app.engine.updates import Measurements, counted, update


@np.errstate(all="ignore")
def measure(
    state: State, numbers: ArrayLike, values: ArrayLike, repeats: ArrayLike = 1, *, expected: bool = True
) -> State:
    """Take in measurements: with `repeats`, values_i is the sum of repeats_i values; a number may occur several times.

    `expected` ones are taken off what is pending. The dictionary is drawn anew with the leverages of `state`.
    """
    rescues = Rescues()
    new = _summed(state, np.asarray(numbers), np.asarray(values, dtype=float), np.asarray(repeats), rescues)
    if len(new.numbers) == 0:
        return state
    J = new.numbers
    leverage = state.leverage
    information = state.information + float(new.repeats @ np.log1p(3 * leverage[J]))
    pending, latest = state.pending.copy(), state.latest.copy()
    latest[J] = state.step + 1
    if expected:
        pending[J] = np.maximum(0, pending[J] - new.repeats)
    state = _next(state, new, leverage, rescues)
    rescued = dict(Rescues(state.rescues) + rescues)
    return state.but(information=information, pending=pending, latest=latest, step=state.step + 1, rescues=rescued)


def expect(state: State, numbers: ArrayLike, repeats: ArrayLike = 1) -> State:
    """Mark measurements as handed out; negative repeats take them back (abandoned, failed)."""
    pending = state.pending.copy()
    np.add.at(pending, np.asarray(numbers, dtype=np.int64), np.asarray(repeats, dtype=np.int64))
    return state.but(pending=np.maximum(pending, 0))


def switch(state: State, numbers: ArrayLike, available: bool) -> State:
    """Candidates that may, or may no longer, be chosen; what was measured of them still counts."""
    flags = state.available.copy()
    flags[np.asarray(numbers, dtype=np.int64)] = available
    return state.but(available=flags)


@np.errstate(all="ignore")
def add_candidates(state: State, X: ArrayLike) -> State:
    """More candidates behind the old ones, which keep their numbers; z(x) = (Z_Sᵀ)⁻¹ k_S(x), K_SS being Z_Sᵀ Z_S."""
    rescues, extra = Rescues(), np.asarray(X, dtype=float)
    if extra.ndim != 2 or extra.shape[1] != state.X.shape[1] or not np.isfinite(extra).all():
        raise ValueError("new candidates need the same columns, all finite")
    n, A, m = len(extra), len(state.X), len(state.S)
    K_S = columns(state, state.S, extra, rescues)
    Z_extra = np.linalg.solve(state.Z[:, state.S].T, K_S) if m else K_S
    rows, Z = Rows.empty(A + n).reserve(m)
    Z[:, :A], Z[:, A:] = state.Z, Z_extra
    mean = cut((state.H.T @ (state.H @ state.w)) @ Z_extra, "means cut", rescues)
    residual = not_negative(prior(state, extra, rescues) - (Z_extra**2).sum(axis=0))
    none = np.zeros(n, dtype=np.int64)
    return state.but(
        X=np.concatenate((state.X, extra)),
        counts=np.concatenate((state.counts, none)),
        sums=np.concatenate((state.sums, np.zeros(n))),
        pending=np.concatenate((state.pending, none)),
        available=np.concatenate((state.available, np.ones(n, dtype=bool))),
        latest=np.concatenate((state.latest, none)),
        rows=rows,
        mean=np.concatenate((state.mean, mean)),
        residual=np.concatenate((state.residual, residual)),
        spread=np.concatenate((state.spread, ((state.H @ Z_extra) ** 2).sum(axis=0))),
        rescues=dict(Rescues(state.rescues) + rescues),
    )


def _summed(state: State, numbers: Numbers, values: Array, repeats: Numbers, rescues: Rescues) -> Measurements:
    """Distinct candidates with their counts and sums."""
    numbers, values, repeats = np.broadcast_arrays(numbers.astype(np.int64), values, repeats.astype(np.int64))
    if (repeats < 1).any() or not np.isfinite(values).all() or ((numbers < 0) | (numbers >= len(state.X))).any():
        raise ValueError("measurements need known candidates, finite values and positive repeats")
    J, place = np.unique(numbers.ravel(), return_inverse=True)
    counts, sums = np.zeros(len(J), dtype=np.int64), np.zeros(len(J))
    np.add.at(counts, place, repeats.ravel())
    np.add.at(sums, place, values.ravel())
    return Measurements(J, counts, cut(sums, "values cut", rescues))


def _next(state: State, new: Measurements, leverage: Array, rescues: Rescues) -> State:
    """The posterior with new measurements, incrementally when little changes, else from scratch."""
    state = counted(state, new)
    drawn = draw(state.settings, state.step, leverage, state.counts)
    out = leaving(state.S, drawn, leverage, state.settings.resparsify)
    D = drawn[~among(state.S, drawn, len(state.X))]
    if not out.any():
        D = _not_yet_seen(state, D, rescues)
    if _much_changes(state, len(new.numbers), out, len(D)):
        return from_scratch(state, np.union1d(state.S[~out], D), rescues)
    state = remove(state, out, rescues)
    return update(state, new, _not_yet_seen(state, D, rescues), rescues)


def _not_yet_seen(state: State, D: Numbers, rescues: Rescues) -> Numbers:
    """Those of D that the dictionary does not already represent to the last digit."""
    return D[state.residual[D] > RANK_TOLERANCE * prior(state, state.X[D], rescues)]


def _much_changes(state: State, measured: int, out: Flags, added: int) -> bool:
    """An update costs about measured + 2·added + 3·removed products with Z, from scratch about 2m."""
    m = len(state.S)
    return measured > m or added + int(out.sum()) > max(1, m // 4) or state.updates >= state.settings.refresh_every
