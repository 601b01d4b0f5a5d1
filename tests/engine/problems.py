"""Small problems for the tests, generated or drawn by Hypothesis."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st
from numpy.typing import ArrayLike

from app.arrays import FloatArray
from app.engine import Ask, EngineSettings, State, beta, choose, measure, rng_at, start
from app.engine.kernels import Gaussian, Kernel, Linear, Matern, Polynomial
from tests.engine.oracle_runs import Problem

KERNELS: list[Kernel] = [Gaussian(0.3), Matern(0.5, 2.5), Matern((0.4, 0.8), 1.5), Linear(), Polynomial()]


@dataclass(frozen=True)
class Lab:
    """Candidates, a true function, noise that depends on the number of the measurement alone."""

    X: FloatArray
    f: FloatArray
    noise: FloatArray
    settings: EngineSettings

    @property
    def K(self) -> FloatArray:  # noqa: N802
        return self.settings.kernel.matrix(self.X, self.X)

    def values(self, numbers: FloatArray, before: int) -> FloatArray:
        values: FloatArray = self.f[numbers] + self.noise[before : before + len(numbers)]
        return values

    def oracle(self) -> Problem:
        """The same problem for the naive loops, with the same draws of the dictionary."""
        s = self.settings

        def draw(n: int, measured: list[int], chances: FloatArray) -> list[bool]:
            return list(rng_at(s.seed, "dictionary", n).random(len(self.X))[measured] < chances)

        return Problem(
            K=self.K,
            measure=lambda x, t: float(self.f[x] + self.noise[t]),
            draw=draw if s.dictionary == "sampled" else None,
            lam=s.lam,
            xi=s.xi,
            F=s.F,
            delta=s.delta,
            q_bar=s.q_bar or 2.0,
            threshold=s.threshold,
            confidence=s.confidence,
        )

    def begin(self, first: list[int]) -> State:
        return measure(start(self.X, self.settings), first, self.values(np.array(first), 0))

    def run(self, first: list[int], horizon: int) -> tuple[State, list[list[int]]]:
        """Batches until the horizon."""
        state, batches, t = self.begin(first), [first], len(first)
        while t < horizon:
            picks = choose(state, Ask(max_size=horizon - t)).picks
            state = measure(state, picks, self.values(picks, t))
            batches.append(picks.tolist())
            t += len(picks)
        return state, batches


def lab(seed: int = 0, A: int = 40, d: int = 2, **settings: object) -> Lab:
    """A generated problem; settings override strict ones that follow the paper's letter."""
    rng = np.random.default_rng(seed)
    X = rng.random((A, d))
    f = np.sin(5 * X[:, 0]) + X[:, -1]
    chosen = {
        "kernel": Gaussian(0.4),
        "lam": 0.05,
        "xi": 0.1,
        "delta": 0.1,
        "resparsify": "strict",
        "seed": seed,
        **settings,
    }
    return Lab(X, f, 0.1 * rng.standard_normal(5000), EngineSettings(**chosen))  # type: ignore[arg-type]


def labs(**settings: object) -> st.SearchStrategy[Lab]:
    """Problems of all kernels, sizes and regularisations; some candidates are duplicates."""

    def make(seed: int, A: int, kernel: Kernel, lam: float, twins: bool) -> Lab:
        made = lab(seed, A, kernel=kernel, lam=lam, **settings)
        if twins:
            made.X[A // 2 :] = made.X[: A - A // 2]
        return made

    return st.builds(
        make,
        seed=st.integers(0, 10_000),
        A=st.integers(3, 40),
        kernel=st.sampled_from(KERNELS),
        lam=st.sampled_from([1e-3, 0.05, 1.0, 10.0]),
        twins=st.booleans(),
    )


def switched_off(state: State, numbers: ArrayLike) -> State:
    """The same state, in which these candidates may not be chosen."""
    available = state.available.copy()
    available[np.asarray(numbers)] = False
    return state.replace(available=available)


def confidence_bounds(state: State) -> tuple[FloatArray, FloatArray]:
    """Without what the norm alone says: mean ∓ beta·√leverage, (A,) each."""
    radius = beta(state) * np.sqrt(state.leverage)
    return state.mean - radius, state.mean + radius


def nothing_known(X: FloatArray) -> State:
    """The start of a study with these features, for auto mode to begin with."""
    return start(X, EngineSettings(Gaussian(1.0)))
