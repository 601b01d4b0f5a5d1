"""Covariances of all candidates with the few that may be chosen next.

    cov_fb(x, j) = (k(x, j) − z(x)ᵀz_j)/λ + z(x)ᵀV⁻¹z_j

Z is read once for all rows of a sweep, so sixteen cost little more than one: whoever asks for one row gets those of the
candidates that are likely to be next with it.
"""

from collections.abc import Callable

import numpy as np

from app.engine.arrays import Array, Numbers, blocks
from app.engine.embedding import columns
from app.engine.stability import Rescues
from app.engine.state import State

TOGETHER = 16
"""Rows of one sweep."""

HELD = 2**22
"""Numbers held ahead, at most, for each kind of covariance."""

Likely = Callable[[int], Numbers]
"""Up to n candidates that may be chosen next."""


NONE: Numbers = np.zeros(0, dtype=np.int64)


def nobody(n: int) -> Numbers:  # noqa: ARG001
    """No candidate is more likely than another."""
    return NONE


def covariances(state: State, numbers: Numbers, rescues: Rescues, V_inv: Array | None = None) -> tuple[Array, Array]:
    """cov_fb(x, j) in full, and z(x)ᵀV⁻¹z_j (of another V⁻¹, if given), for some j and all x: (b, A) each."""
    b, z_j = len(numbers), state.Z[:, numbers]
    inner = state.H.T @ (state.H @ z_j)
    stacked = np.concatenate((inner.T, z_j.T, *([] if V_inv is None else [(V_inv @ z_j).T])))
    full, projected = columns(state, numbers, state.X, rescues), np.empty((b, len(state.X)))
    for block in blocks(len(state.X), len(stacked)):
        product = stacked @ state.Z[:, block]
        full[:, block] = (full[:, block] - product[b : 2 * b]) / state.settings.lam + product[:b]
        projected[:, block] = product[:b] if V_inv is None else product[2 * b :]
    return full, projected


def together(number: int, later: Numbers, likely: Likely, width: int) -> Numbers:
    """A candidate, those surely and those likely to be next, as many as a sweep over `width` should fetch."""
    most = max(1, min(TOGETHER, HELD // width))
    numbers = np.concatenate(([number], later[:most], likely(most)))
    _, first = np.unique(numbers, return_index=True)
    return numbers[np.sort(first)][:most].astype(np.int64)


class Ahead:
    """Squares of the covariances at the last feedback, fetched for several candidates together."""

    def __init__(self, state: State, likely: Likely, rescues: Rescues) -> None:
        self._state, self._likely, self._rescues = state, likely, rescues
        self._numbers: list[int] = []
        self._squares = np.zeros((0, 0)), np.zeros((0, 0))

    def squares(self, number: int, later: Numbers = NONE) -> tuple[Array, Array]:
        """cov_fb(x, j)² and its projected part squared, (A,) each; `later` ones will be asked for next."""
        if number not in self._numbers:
            numbers = together(number, later, self._likely, len(self._state.X))
            full, projected = covariances(self._state, numbers, self._rescues)
            self._squares = np.square(full, out=full), np.square(projected, out=projected)
            self._numbers = numbers.tolist()
        place = self._numbers.index(number)
        return self._squares[0][place], self._squares[1][place]
