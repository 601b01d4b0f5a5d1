"""How a study begins: with nothing, or with measurements from before."""

import numpy as np
from numpy.typing import ArrayLike

from app.engine.arrays import Numbers
from app.engine.embedding import from_scratch, information_bound
from app.engine.history import dictionary_of
from app.engine.rows import Rows
from app.engine.settings import Settings
from app.engine.stability import Rescues, cut
from app.engine.state import State


def start(X: ArrayLike, settings: Settings) -> State:
    """Nothing known: mean 0, leverage k(x, x)/λ."""
    features = np.ascontiguousarray(X, dtype=float)
    if features.ndim != 2 or len(features) == 0 or not np.isfinite(features).all():
        raise ValueError("features must be a table of finite numbers with at least one row")
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
        rows=Rows.empty(A),
        G=np.zeros((0, 0)),
        H=np.zeros((0, 0)),
        w=zero[:0],
        mean=zero,
        residual=zero,
        spread=zero,
    )
    return _seen(state, state.S)


@np.errstate(all="ignore")
def start_from(X: ArrayLike, settings: Settings, counts: ArrayLike, sums: ArrayLike, step: int = 0) -> State:
    """Historical data: counts (A,) measurements of each candidate, and the sums (A,) of their values.

    `step` addresses the draw of the dictionary. The running sum of Theorem 2 begins with `information_bound`.
    """
    return revise(start(X, settings).but(step=step), counts, sums)


@np.errstate(all="ignore")
def revise(state: State, counts: ArrayLike, sums: ArrayLike) -> State:
    """Other counts and sums than before (a correction, a retraction): all from scratch, with a new dictionary."""
    rescues = Rescues()
    new_counts, new_sums = np.array(counts, dtype=np.int64), cut(np.array(sums, dtype=float), "values cut", rescues)
    if (new_counts < 0).any() or new_counts.shape != (len(state.X),) or new_sums.shape != new_counts.shape:
        raise ValueError("counts and sums need one entry per candidate, counts none below zero")
    now = state.step + 1
    latest = np.where(new_counts > 0, np.where(new_counts > state.counts, now, np.maximum(state.latest, 1)), 0)
    state = state.but(counts=new_counts, sums=np.where(new_counts > 0, new_sums, 0.0), latest=latest)
    state = _seen(state, dictionary_of(state, rescues), rescues)
    return state.but(information=information_bound(state), step=now)


def reconfigure(state: State, settings: Settings) -> State:
    """The same study under another kernel, λ or anything else: what auto mode does before a batch."""
    return revise(state.but(settings=settings), state.counts, state.sums)


def _seen(state: State, S: Numbers, rescues: Rescues | None = None) -> State:
    rescues = rescues if rescues is not None else Rescues()
    state = from_scratch(state, S, rescues)
    return state.but(rescues=dict(Rescues(state.rescues) + rescues))
