"""How the cost of one batch (choose ten, take their values in) grows with history, candidates and dictionary.

A state can be continued in place once; to continue it a second time copies Z. So every timing has a state of its own.
"""

import statistics
import time
import tracemalloc
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from app.arrays import FloatArray
from app.engine import Ask, EngineSettings, State, choose, measure, start_from, sweep_threads
from app.engine.kernels import Gaussian
from benchmarks.datasets import generated

ALPHA = 0.01
REPEATS = 9


def history() -> dict[str, Any]:
    """10³ against 10⁵ past measurements of the same 250 candidates.

    λ grows likewise, so that the mean is the same and leverages differ by that factor, and every draw is sure: both
    batches choose the same candidates and change the dictionary in the same way.
    """
    few, many = _seconds(
        lambda: _studied(20_000, 250, 4, 1e-3),
        lambda: _studied(20_000, 250, 400, 1e-1),
    )
    return {"measurements": [1_000, 100_000], "seconds": [few, many], "ratio": many / few}


def candidates(sizes: Sequence[int] = (5_000, 10_000, 20_000, 40_000, 80_000)) -> dict[str, Any]:
    """Growth in A with 100 members: the exponent of a power law through the first and the last is about 1."""
    seconds = _seconds(*(partial(_studied, A, 100) for A in sizes))
    return {"A": list(sizes), "seconds": seconds, "exponent": _exponent(sizes, seconds)}


def members(sizes: Sequence[int] = (50, 100, 200, 400)) -> dict[str, Any]:
    """Growth in m with 20,000 candidates: at most quadratic."""
    seconds = _seconds(*(partial(_studied, 20_000, m) for m in sizes))
    return {"m": list(sizes), "seconds": seconds, "exponent": _exponent(sizes, seconds)}


def million(threads: int = 1, A: int = 1_000_000, d: int = 20, observations: int = 300) -> dict[str, Any]:
    """A million candidates: seconds on the clock, and the peak memory over that of the features and Z.

    First three batches with a focus, then three after which all candidates are read.
    """
    problem = generated(A, d)
    X, counts = problem.X, _past(A, observations, 1)[0]
    settings = EngineSettings(Gaussian(10.0), lam=1e-3, xi=0.03, rule="global", focus=1.0)
    tracemalloc.start()
    with sweep_threads(threads):
        state, started = _on_the_clock(lambda: start_from(X, settings, counts, counts * problem.f))
        seconds, read = [0.0] * 3, [0.0] * 3
        for i in range(3):
            state, seconds[i] = _on_the_clock(partial(_ten_more, state, problem.f))
        for i in range(3):
            state, read[i] = _on_the_clock(partial(_ten_more_read, state, problem.f))
    peak = tracemalloc.get_traced_memory()[1] + X.nbytes
    tracemalloc.stop()
    needed = X.nbytes + state.Z.nbytes
    return {
        "A": A,
        "threads": threads,
        "dictionary": len(state.S),
        "start_seconds": started,
        "batch_seconds": statistics.median(seconds),
        "batch_and_read_seconds": statistics.median(read),
        "peak_bytes": peak,
        "features_and_Z_bytes": needed,
        "memory_ratio": peak / needed,
    }


def _on_the_clock(work: Callable[[], State]) -> tuple[State, float]:
    began = time.perf_counter()
    state = work()
    return state, time.perf_counter() - began


def _ten_more(state: State, f: FloatArray) -> State:
    """Ten distinct candidates, with the theory's alpha."""
    picks = choose(state, Ask(min_size=10, max_size=10, limit=np.ones(len(state.X), dtype=np.int64))).picks
    return measure(state, picks, f[picks])


def _ten_more_read(state: State, f: FloatArray) -> State:
    """The same, after which all candidates are read."""
    return _ten_more(state, f).whole


def _studied(A: int, distinct: int, times: int = 1, lam: float = 1e-3) -> State:
    """A study with `distinct` random candidates measured `times` each; the large q̄ makes all of them members."""
    settings = EngineSettings(Gaussian(1.0), lam=lam, xi=lam**0.5, q_bar=1e9)
    return start_from(generated(A, 8).X, settings, *_past(A, distinct, times))


def _past(A: int, distinct: int, times: int) -> tuple[Any, Any]:
    """counts and sums (A,) of a made-up history."""
    rng = np.random.default_rng(1)
    counts = np.zeros(A, dtype=np.int64)
    counts[rng.choice(A, distinct, replace=False)] = times
    return counts, counts * rng.normal(size=A)


def _batch(state: State) -> State:
    """Ten distinct candidates; alpha·√leverage is the same whatever λ is."""
    once = np.ones(len(state.X), dtype=np.int64)
    ten = Ask(min_size=10, max_size=10, alpha=ALPHA * (state.settings.lam / 1e-3) ** 0.5, limit=once)
    picks = choose(state, ten).picks
    return measure(state, picks, np.zeros(len(picks)))


def _seconds(*makers: Callable[[], State]) -> list[float]:
    """The median of one batch from each kind of study, turn by turn, so that a disturbance meets all."""
    rounds = [[_timed(make()) for make in makers] for _ in range(REPEATS)]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def _timed(state: State) -> float:
    began = time.process_time()
    _batch(state)
    return time.process_time() - began


def _exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """log(seconds ratio) / log(size ratio), last against first."""
    return float(np.log(seconds[-1] / seconds[0]) / np.log(sizes[-1] / sizes[0]))
