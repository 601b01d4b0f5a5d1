"""BBKB in the paper's own form, from scratch at every batch: the speed baseline, and an oracle for the choices.

After every batch the kernel columns of the new dictionary, the embedding and all posteriors are computed afresh in
O(A·m²); inside a batch UCBs are evaluated lazily with rank-one updates of V⁻¹ (appendix, "Lazy UCB evaluation").
It is what a careful author would write with numpy: only BLAS and LAPACK calls touch all candidates.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular

from app.arrays import BoolArray, FloatArray, IndexArray
from app.engine.settings import EngineSettings

Measure = Callable[[IndexArray, int], FloatArray]
"""Values of a batch, given its candidates and how many measurements came before."""

Draw = Callable[[int, IndexArray, FloatArray], BoolArray]
"""Which measured candidates, with these probabilities, enter the n-th dictionary."""


@dataclass
class Run:
    """Everything measured so far, and what each batch looked like."""

    settings: EngineSettings
    X: FloatArray
    counts: IndexArray
    sums: FloatArray
    exploration: float = 1.0
    """Multiplies the alpha of the theory."""
    information: float = 0.0
    batches: list[IndexArray] = field(default_factory=list)
    dictionaries: list[IndexArray] = field(default_factory=list)
    """The one drawn after each batch."""


@dataclass
class Frozen:
    """What stands still inside a batch, and V⁻¹ and the UCBs, which do not."""

    Z: FloatArray
    """(A, m) rows z(x) = K_S^{+/2} k_S(x)."""
    V_inv: FloatArray
    """(m, m) of all measurements and the batch so far."""
    mean: FloatArray
    residual: FloatArray
    """(A,) (k(x, x) − zᵀz)/λ."""
    leverage: FloatArray
    """(A,) at the last feedback."""


def run(
    X: FloatArray,
    settings: EngineSettings,
    measure: Measure,
    draw: Draw,
    first: IndexArray,
    horizon: int,
    exploration: float = 1.0,
) -> Run:
    """`first` is the first batch; then batches until `horizon` measurements are made."""
    made = Run(settings, X, np.zeros(len(X), dtype=np.int64), np.zeros(len(X)), exploration)
    leverage = settings.kernel.diagonal(X) / settings.lam
    frozen = _feedback(made, leverage, first, measure, draw)
    done = len(first)
    while done < horizon:
        batch = _batch(made, frozen, horizon - done)
        frozen = _feedback(made, frozen.leverage, batch, measure, draw)
        done += len(batch)
    return made


def _feedback(made: Run, leverage: FloatArray, batch: IndexArray, measure: Measure, draw: Draw) -> Frozen:
    """Lines 10–18 of Algorithm 1; `leverage` is that of the start of the batch."""
    np.add.at(made.sums, batch, measure(batch, int(made.counts.sum())))
    np.add.at(made.counts, batch, 1)
    made.information += float(np.log1p(3 * leverage[batch]).sum())
    measured = np.flatnonzero(made.counts)
    p = np.minimum(1, (made.settings.q_bar or 2.0) * leverage[measured])
    chances: FloatArray = np.minimum(1.0, made.counts[measured] * p)
    drawn = draw(len(made.batches), measured, chances)
    S = measured[drawn] if drawn.any() else measured[[np.argmax(leverage[measured])]]
    made.batches.append(batch)
    made.dictionaries.append(S)
    return _posterior(made, S)


def _posterior(made: Run, S: IndexArray) -> Frozen:
    """Equations nyst-post-gp*: everything afresh, O(A·m²)."""
    s, X = made.settings, made.X
    eigenvalues, U = eigh(s.kernel.matrix(X[S], X[S]))
    kept = eigenvalues > len(S) * np.finfo(float).eps * eigenvalues[-1]
    Z = s.kernel.matrix(X, X[S]) @ (U[:, kept] / np.sqrt(eigenvalues[kept]))
    J = np.flatnonzero(made.counts)
    V = (Z[J].T * made.counts[J]) @ Z[J] + s.lam * np.eye(Z.shape[1])
    L = cholesky(V, lower=True)
    half = solve_triangular(L, Z.T, lower=True, check_finite=False)
    L_inv = solve_triangular(L, np.eye(len(L)), lower=True)
    V_inv = L_inv.T @ L_inv
    residual = np.maximum(s.kernel.diagonal(X) - np.einsum("ij,ij->i", Z, Z), 0) / s.lam
    leverage = residual + np.einsum("ij,ij->j", half, half)
    return Frozen(Z, V_inv, Z @ (V_inv @ (made.sums[J] @ Z[J])), residual, leverage)


def _batch(made: Run, frozen: Frozen, room: int) -> IndexArray:
    """Lines 4–8 of Algorithm 1 with lazy UCBs."""
    alpha = _alpha(made)
    ucb = frozen.mean + alpha * np.sqrt(frozen.leverage)
    rule = RULES[made.settings.rule](made, frozen)
    batch: list[int] = []
    while len(batch) < room:
        x = int(np.argmax(ucb))
        batch.append(x)
        if not rule(x, _leverage(frozen, np.array([x]))[0]):
            break
        _absorb(frozen, x)
        _refresh(frozen, ucb, np.array([x]), alpha)
        _refresh(frozen, ucb, np.flatnonzero(ucb >= ucb[x]), alpha)
    return np.array(batch)


def _alpha(made: Run) -> float:
    """√C̃·β̃ or C̃·β̃, with the β̃ of Theorem 2."""
    s = made.settings
    beta = 2 * s.xi * math.sqrt(made.information + math.log(1 / s.delta)) + (1 + math.sqrt(2)) * math.sqrt(s.lam) * s.F
    return made.exploration * beta * (s.threshold if s.confidence == "paper" else math.sqrt(s.threshold))


def _absorb(frozen: Frozen, x: int) -> None:
    """V ← V + zzᵀ, by Sherman and Morrison."""
    a = frozen.V_inv @ frozen.Z[x]
    frozen.V_inv -= np.outer(a, a / (1 + frozen.Z[x] @ a))


def _leverage(frozen: Frozen, numbers: IndexArray) -> FloatArray:
    """σ̃²_t of some candidates, (n,)."""
    Z = frozen.Z[numbers]
    leverage: FloatArray = frozen.residual[numbers] + np.einsum("ij,ij->i", Z @ frozen.V_inv, Z)
    return leverage


def _refresh(frozen: Frozen, ucb: FloatArray, numbers: IndexArray, alpha: float) -> None:
    ucb[numbers] = frozen.mean[numbers] + alpha * np.sqrt(_leverage(frozen, numbers))


Continue = Callable[[int, float], bool]
"""Whether the batch goes on after this candidate, whose leverage before it was absorbed is given."""


def _global(made: Run, frozen: Frozen) -> Continue:
    """Lemma 1: 1 + Σ_s σ̃²_fb(x_s) ≤ C̃."""
    bound = 1.0

    def goes_on(x: int, _: float) -> bool:
        nonlocal bound
        bound += float(frozen.leverage[x])
        return bound <= made.settings.threshold

    return goes_on


def _local(made: Run, frozen: Frozen) -> Continue:
    """Lemma 1 while it holds, then Lemma 3 with a sweep over all candidates at every step."""
    fits, V_inv, batch = _global(made, frozen), frozen.V_inv.copy(), []
    sums, inner = np.zeros(len(made.X)), np.zeros(len(made.X))

    def goes_on(x: int, leverage: float) -> bool:
        batch.append(x)
        if fits(x, leverage):
            return True
        for s in batch:
            projected = frozen.Z @ (V_inv @ frozen.Z[s])
            unseen = made.settings.kernel.matrix(made.X, made.X[[s]])[:, 0] - frozen.Z @ frozen.Z[s]
            np.add(sums, (unseen / made.settings.lam + projected) ** 2, out=sums)
            np.add(inner, projected**2, out=inner)
        batch.clear()
        return bool((1 + np.maximum(sums, inner) / frozen.leverage).max() <= made.settings.threshold)

    return goes_on


def _product(made: Run, _: Frozen) -> Continue:
    """GP-BUCB: Π_s (1 + σ̃²_{s−1}(x_s)) ≤ C̃."""
    bound = 1.0

    def goes_on(_: int, leverage: float) -> bool:
        nonlocal bound
        bound *= 1 + leverage
        return bound <= made.settings.threshold

    return goes_on


def _sequential(*_: object) -> Continue:
    """Batches of one."""
    return lambda x, leverage: False  # noqa: ARG005


RULES: dict[str, Callable[[Run, Frozen], Continue]] = {
    "global": _global,
    "local": _local,
    "product": _product,
    "sequential": _sequential,
}
