"""Forms of kernels: kernels that are still to be fitted, with priors and fast derivatives.

The engine's kernels compute a value or a gradient for any X and Y. A fit needs both, for one small X, some hundred
times. A form therefore answers with K and its pull-back, which share their work; the pull-back turns W (n, n) into
Σ_ij W_ij ∂K_ij/∂theta. `kernel(theta)` is the same kernel for the engine.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from app.arrays import FloatArray
from app.engine.auto.columns import BORROWED_SCALE, Layout
from app.engine.auto.priors import AMPLITUDE, BORROWED, UNEXPLAINED, Gamma, Odds, Prior
from app.engine.kernels import Columns, Kernel, Linear, Matern, Product, Scaled, Sum, Tanimoto

PullBack = Callable[[FloatArray], FloatArray]
Evaluate = Callable[[FloatArray], tuple[FloatArray, PullBack]]

EARLIER_STUDIES = " + earlier studies"
"""How the name of a form ends that uses what earlier studies expect."""


class Form(Protocol):
    """A kernel with free hyperparameters e^theta, theta (q,)."""

    @property
    def priors(self) -> tuple[Prior, ...]:
        """One for every theta; equal neighbours are evaluated together."""
        ...

    def on(self, X: FloatArray) -> Evaluate:
        """theta to K (n, n) of X (n, d) with itself, and its pull-back."""
        ...

    def kernel(self, theta: FloatArray) -> Kernel:
        """The engine's kernel with these hyperparameters."""
        ...


def form_for(layout: Layout) -> tuple[str, Form]:
    """Matérn 5/2 with a lengthscale for every column, plus the main effects of the texts if there are any.

    A fingerprint is compared by Tanimoto, times Matérn of the other columns if there are any. Molecules have
    main effects by Tanimoto; those that are hardly ever the same are compared by Tanimoto times the rest as well. What
    earlier studies expect is left out.
    """
    if layout.molecules:
        return _molecular(layout)
    d = len(layout.roles)
    matern = MaternArd(layout.others, d, d - len(layout.borrowed) if layout.borrowed else None)
    if layout.bits:
        tanimoto = ScaledTanimoto(layout.bits, d)
        return ("tanimoto × matern", Times(tanimoto, matern)) if layout.others else ("tanimoto", tanimoto)
    return ("matern + main effects", MainEffects(matern, layout.texts)) if layout.texts else ("matern", matern)


def borrowing_form_of(name: str, form: Form, layout: Layout) -> tuple[str, Form]:
    """The form with what earlier studies expect, each with a fitted weight."""
    return name + EARLIER_STUDIES, Borrowing(form, layout.borrowed)


def _molecular(layout: Layout) -> tuple[str, Form]:
    """Molecules with a column per level are in the Matérn by these; the others are a factor of the product."""
    d, spelled_out = len(layout.roles), {layout.sources[columns[0]] for columns in layout.texts}
    factors = [columns for columns in layout.molecules if layout.sources[columns[0]] not in spelled_out]
    factors += [layout.bits] if layout.bits else []
    if len(factors) == 1 and not layout.others:
        return "tanimoto", ScaledTanimoto(factors[0], d)
    matern = MaternArd(layout.others, d, len(layout.others))
    part: Form = matern
    if factors:
        part = Times(Tanimotos(tuple(factors)), matern) if layout.others else Tanimotos(tuple(factors))
    molecules = {layout.sources[columns[0]] for columns in layout.molecules}
    texts = tuple(columns for columns in layout.texts if layout.sources[columns[0]] not in molecules)
    return "molecules + main effects", MainEffects(part, texts, layout.molecules)


@dataclass(frozen=True)
class MaternArd:
    """Matérn 5/2 of some columns, a lengthscale each: (1 + s + s²/3) e^(−s), s = √5·r, r² = Σ_q ((x_q − y_q)/ℓ_q)².

    For numbers, and for texts with a column per level.
    """

    columns: tuple[int, ...]
    d: int
    """Columns of X: the prior of the lengthscales is scaled by all of them."""
    compared: int | None = None
    """Where molecules or earlier studies are among the columns of X: how many the prior is scaled by instead."""

    @property
    def priors(self) -> tuple[Prior, ...]:
        """Gamma(3, 2/ℓ₀) each."""
        return (Gamma.of_lengthscale(self.compared or self.d),) * len(self.columns)

    def on(self, X: FloatArray) -> Evaluate:
        """∂K/∂log ℓ_q = F∘(u_q − v_q)², F = (5/3)(1 + s)e^(−s), u = x/ℓ; with M = W∘F symmetric, no (n, n, d) array:

        Σ_ij M_ij (u_iq − u_jq)² = 2 [Σ_i (M1)_i u_iq² − Σ_i u_iq (MU)_iq].
        """
        points = X[:, list(self.columns)]
        points = points - points.mean(axis=0)

        def evaluate(theta: FloatArray) -> tuple[FloatArray, PullBack]:
            U = points * np.exp(-theta)
            squares = np.einsum("iq,iq->i", U, U)
            r2 = squares[:, None] + squares - 2 * (U @ U.T)
            np.fill_diagonal(r2, 0.0)
            s = np.sqrt(5 * np.maximum(r2, 0.0))
            decay = np.exp(-s)
            slope = (s + 1) * decay
            K = slope + s * s * decay / 3

            def pull_back(W: FloatArray) -> FloatArray:
                M = W * slope
                M += M.T
                gradient: FloatArray = M.sum(axis=1) @ U**2 - np.einsum("iq,iq->q", U, M @ U)
                return gradient * (5 / 3)

            return K, pull_back

        return evaluate

    def kernel(self, theta: FloatArray) -> Kernel:
        """Matern of all columns, or of some."""
        matern = Matern(tuple(np.exp(theta).tolist()), 2.5)
        return matern if len(self.columns) == self.d else Columns(matern, self.columns)


@dataclass(frozen=True)
class ScaledTanimoto:
    """amplitude · Tanimoto of the bits of a fingerprint."""

    columns: tuple[int, ...]
    d: int

    @property
    def priors(self) -> tuple[Prior, ...]:
        """Of the amplitude."""
        return (AMPLITUDE,)

    def on(self, X: FloatArray) -> Evaluate:
        """The Tanimoto matrix is computed once."""
        points = np.ascontiguousarray(X[:, list(self.columns)])
        T = Tanimoto().matrix(points, points)

        def evaluate(theta: FloatArray) -> tuple[FloatArray, PullBack]:
            K = np.exp(theta[0]) * T
            return K, lambda W: np.array([np.vdot(W, K)])

        return evaluate

    def kernel(self, theta: FloatArray) -> Kernel:
        """Scaled Tanimoto of all columns, or of some."""
        tanimoto = Tanimoto() if len(self.columns) == self.d else Columns(Tanimoto(), self.columns)
        return Scaled(tanimoto, float(np.exp(theta[0])))


@dataclass(frozen=True)
class Tanimotos:
    """The product of the Tanimoto similarities of some molecules; nothing of it is fitted."""

    groups: tuple[tuple[int, ...], ...]

    @property
    def priors(self) -> tuple[Prior, ...]:
        """None."""
        return ()

    def on(self, X: FloatArray) -> Evaluate:
        """The product is computed once."""
        product = np.prod([_tanimoto(X, columns) for columns in self.groups], axis=0)
        return lambda _: (product, lambda _: np.empty(0))

    def kernel(self, theta: FloatArray) -> Kernel:  # noqa: ARG002
        """The engine's product, or the only similarity."""
        parts = [Columns(Tanimoto(), columns) for columns in self.groups]
        return parts[0] if len(parts) == 1 else Product(tuple(parts))


def _tanimoto(X: FloatArray, columns: tuple[int, ...]) -> FloatArray:
    points = np.ascontiguousarray(X[:, list(columns)])
    return Tanimoto().matrix(points, points)


@dataclass(frozen=True)
class MainEffects:
    """w₀·part + Σ_g w_g·[x and y have the same level of text column g], the weights w summing to 1.

    Every level of a text shifts the objective by itself, and the part holds what levels do together; theta is
    (log w_g/w₀ for every g, theta of the part). A level has its own column, so that "the same level" is x_gᵀy_g.
    """

    part: Form
    groups: tuple[tuple[int, ...], ...]
    """The columns of every text."""
    molecules: tuple[tuple[int, ...], ...] = ()
    """The columns of every molecule: there, "the same level" is the Tanimoto similarity."""

    @property
    def effects(self) -> int:
        """How many main effects there are."""
        return len(self.groups) + len(self.molecules)

    @property
    def priors(self) -> tuple[Prior, ...]:
        """The main effects together and the part are expected to matter equally."""
        return (Odds(-math.log(self.effects)),) * self.effects + self.part.priors

    def on(self, X: FloatArray) -> Evaluate:
        """∂K/∂log w_g/w₀ = w_g (S_g − K), where S_g is the matrix of [same level of g]."""
        part, g = self.part.on(X), self.effects
        alike = [X[:, list(columns)] @ X[:, list(columns)].T for columns in self.groups]
        same = np.array(alike + [_tanimoto(X, columns) for columns in self.molecules])

        def evaluate(theta: FloatArray) -> tuple[FloatArray, PullBack]:
            w = self._weights(theta)
            K_part, pull_back_part = part(theta[g:])
            K = w[0] * K_part + np.tensordot(w[1:], same, 1)

            def pull_back(W: FloatArray) -> FloatArray:
                by_weight = w[1:] * (np.tensordot(same, W, 2) - np.vdot(W, K))
                return np.concatenate((by_weight, w[0] * pull_back_part(W)))

            return K, pull_back

        return evaluate

    def kernel(self, theta: FloatArray) -> Kernel:
        """The engine's sum."""
        w = self._weights(theta).tolist()
        levels: list[Kernel] = [Columns(Linear(), columns) for columns in self.groups]
        alike: list[Kernel] = [*levels, *(Columns(Tanimoto(), columns) for columns in self.molecules)]
        main = (Scaled(kernel, weight) for kernel, weight in zip(alike, w[1:], strict=True))
        return Sum((Scaled(self.part.kernel(theta[self.effects :]), w[0]), *main))

    def _weights(self, theta: FloatArray) -> FloatArray:
        """(w₀, w_1, …), positive, with sum 1."""
        w = np.exp(np.append(0.0, theta[: self.effects]))
        weights: FloatArray = w / w.sum()
        return weights


@dataclass(frozen=True)
class Borrowing:
    """s·part + Σ_j w_j m_j(x)m_j(y), where m_j(x) is what an earlier study expects of x, standardised.

    It is the part with the prior mean Σ_j a_j m_j(x), a_j ~ N(0, w_j), averaged over all a: how much is borrowed is
    learnt from the results. Without a relation, a_j comes out near 0; in an opposite one, below. The better the earlier
    studies explain the results, the smaller is s, the variance around their expectation. The column of X is
    `BORROWED_SCALE` times m_j, so that it does not decide what is far from what. theta is (log w_j for every j, log s,
    theta of the part).
    """

    part: Form
    columns: tuple[int, ...]

    @property
    def priors(self) -> tuple[Prior, ...]:
        """Of the weights, of the variance around them, then of the part."""
        return (BORROWED,) * len(self.columns) + (UNEXPLAINED, *self.part.priors)

    def on(self, X: FloatArray) -> Evaluate:
        """∂K/∂log w_j = w_j m_j m_jᵀ, ∂K/∂log s = s·part."""
        part, g = self.part.on(X), len(self.columns)
        expected = X[:, list(self.columns)] / BORROWED_SCALE
        outer = np.array([np.multiply.outer(m, m) for m in expected.T])

        def evaluate(theta: FloatArray) -> tuple[FloatArray, PullBack]:
            w, s = np.exp(theta[:g]), np.exp(theta[g])
            K_part, pull_back_part = part(theta[g + 1 :])
            K = s * K_part + np.tensordot(w, outer, 1)

            def pull_back(W: FloatArray) -> FloatArray:
                by_variance = np.array([s * np.vdot(W, K_part)])
                return np.concatenate((w * np.tensordot(outer, W, 2), by_variance, s * pull_back_part(W)))

            return K, pull_back

        return evaluate

    def kernel(self, theta: FloatArray) -> Kernel:
        """The engine's sum."""
        g = len(self.columns)
        w = (np.exp(theta[:g]) / BORROWED_SCALE**2).tolist()
        borrowed = (Scaled(Columns(Linear(), (q,)), weight) for q, weight in zip(self.columns, w, strict=True))
        return Sum((Scaled(self.part.kernel(theta[g + 1 :]), float(np.exp(theta[g]))), *borrowed))


@dataclass(frozen=True)
class Times:
    """The product of two forms: for example, a molecule in a solvent."""

    first: Form
    second: Form

    @property
    def priors(self) -> tuple[Prior, ...]:
        """Those of the first, then those of the second."""
        return self.first.priors + self.second.priors

    def on(self, X: FloatArray) -> Evaluate:
        """Σ W∘∂(K₁∘K₂) = (Σ (W∘K₂)∘∂K₁, Σ (W∘K₁)∘∂K₂)."""
        first, second, q = self.first.on(X), self.second.on(X), len(self.first.priors)

        def evaluate(theta: FloatArray) -> tuple[FloatArray, PullBack]:
            K1, pull_back1 = first(theta[:q])
            K2, pull_back2 = second(theta[q:])
            return K1 * K2, lambda W: np.concatenate((pull_back1(W * K2), pull_back2(W * K1)))

        return evaluate

    def kernel(self, theta: FloatArray) -> Kernel:
        """The engine's product."""
        q = len(self.first.priors)
        return Product((self.first.kernel(theta[:q]), self.second.kernel(theta[q:])))
