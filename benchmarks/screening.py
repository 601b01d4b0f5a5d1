"""Would a partition's upper bound on its best candidate let a batch skip partitions of a long list?

    python -m benchmarks.screening [--candidates 200000] [--members 100] [--json]

The list is cut into compact partitions (a k-d tree). For a partition with centre c and radius r, and a kernel with
k(x, x) = 1 that falls with the distance,

    ucb(x) ≤ ucb(c) + (‖mean‖ + alpha)·√(2 − 2k(r))        for every x in it,

because mean and standard deviation change by at most ‖mean‖ and 1 times the distance of the features of x and c in the
kernel's space. A partition whose bound is below the tenth best ucb cannot contain one of the ten best (the picks of a
batch are spread wider, and skip less). Each line says for what share of the partitions that holds.
"""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine import EngineSettings, State, start_from
from app.engine.kernels import Gaussian

BATCH = 10
ALPHA = 2.0  # standard deviations of optimism, as in auto mode
SIZES = (30, 300, 3000)  # candidates of a partition


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    lines = [
        _screened(name, X, options.members, lengthscale)
        for name, X in _lists(options.candidates)
        for lengthscale in (0.2, 0.5, 1.0)
    ]
    if options.json:
        print(json.dumps(lines))
    else:
        print("\n".join(" | ".join(f"{name}: {value}" for name, value in line.items()) for line in lines))
    return 0


def _lists(candidates: int) -> list[tuple[str, FloatArray]]:
    rng = np.random.default_rng(1)
    centres = rng.random((40, 8))
    clustered = centres[rng.integers(0, 40, candidates)] + rng.normal(0, 0.05, (candidates, 8))
    return [
        *((f"uniform, {d} features", rng.random((candidates, d))) for d in (2, 4, 8)),
        ("40 clusters, 8 features", clustered),
    ]


def _screened(name: str, X: FloatArray, members: int, lengthscale: float) -> dict[str, Any]:
    """The share of partitions of each size that could be skipped."""
    counts, sums = np.zeros(len(X), dtype=np.int64), np.zeros(len(X))
    known = np.linspace(0, len(X) - 1, members).astype(np.int64)
    counts[known], sums[known] = 1, np.sin(5 * X[known, 0]) + X[known, -1]
    kernel = Gaussian(lengthscale)
    state = start_from(X, EngineSettings(kernel, lam=0.01, xi=0.1, dictionary="all"), counts, sums)
    ucb = state.mean + ALPHA * np.sqrt(np.maximum(0, state.variance))
    bar, norm = float(np.partition(ucb, -BATCH)[-BATCH]), _norm(state, known, kernel, X)
    line: dict[str, Any] = {"list": name, "lengthscale": lengthscale, "norm of the mean": round(norm, 2)}
    for size in SIZES:
        bounds = [_bound(X[part], ucb[part], norm + ALPHA, kernel) for part in _parts(X, size)]
        line[f"skipped, {size} each"] = round(float(np.mean(np.array(bounds) < bar)), 3)
    return line


def _norm(state: State, known: IndexArray, kernel: Gaussian, X: FloatArray) -> float:
    """‖mean‖ in the kernel's space: the mean is a combination of the kernel at the measured candidates."""
    K = kernel.matrix(X[known], X[known])
    weights = np.linalg.solve(K + 1e-9 * np.eye(len(known)), state.mean[known])
    return math.sqrt(max(0.0, float(weights @ K @ weights)))


def _bound(X: FloatArray, ucb: FloatArray, slope: float, kernel: Gaussian) -> float:
    """The bound of one partition, from the candidate nearest to its centre."""
    from_centre = np.linalg.norm(X - X.mean(axis=0), axis=1)
    centre = int(from_centre.argmin())
    radius = float(np.linalg.norm(X - X[centre], axis=1).max())
    similarity = float(kernel.matrix(np.zeros((1, 1)), np.full((1, 1), radius))[0, 0])
    return float(ucb[centre]) + slope * math.sqrt(2 - 2 * similarity)


def _parts(X: FloatArray, size: int) -> list[IndexArray]:
    """Halved along the longest side until no part is larger than `size`."""
    parts, found = [np.arange(len(X))], []
    while parts:
        part = parts.pop()
        if len(part) <= size:
            found.append(part)
            continue
        side = int(np.ptp(X[part], axis=0).argmax())
        order = part[np.argpartition(X[part, side], len(part) // 2)]
        parts += [order[: len(part) // 2], order[len(part) // 2 :]]
    return found


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.screening", description=__doc__.splitlines()[0])
    parser.add_argument("--candidates", type=int, default=200_000)
    parser.add_argument("--members", type=int, default=100, help="results that the study knows")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
