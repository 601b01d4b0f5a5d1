"""What float32 for features and embedding changes: choices, regret, drift, seconds and bytes, on whole studies.

    python -m benchmarks.precision [--sets abalone cadata] [--rules global local] [--horizon 1000] [--seeds 5] [--json]

Each study runs three times with the same noise and draws: in float64; in float64 on features that were rounded to
float32, which is what the rounding of the list alone does; and in float32. Batches are compared with those of the
first. Regret is the cumulative one over that of uniform choice. Drift compares mean and leverage at the end with those
computed from scratch in float64 for the same history and dictionary: the largest difference over the largest value.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time
from typing import Any, cast

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine import Ask, State, alpha, choose, measure, start
from app.engine.posterior import from_scratch
from app.engine.settings import RuleName
from app.engine.stability import Rescues
from benchmarks.datasets import FOLDER, Problem, load
from benchmarks.experiment import Experiment
from benchmarks.one_thread import one_blas_thread

Figures = dict[str, Any]


@dataclass(frozen=True)
class Run:
    """A whole study."""

    batches: list[IndexArray]
    state: State
    seconds: float
    regret: float


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    with one_blas_thread():
        for name in options.sets:
            for rule in options.rules:
                line = _compared(load(name, options.data), rule, options)
                print(json.dumps(line) if options.json else _text(line), flush=True)
    return 0


def _compared(problem: Problem, rule: RuleName, options: argparse.Namespace) -> Figures:
    runs: dict[str, list[Run]] = {"float64": [], "float64, list rounded": [], "float32": []}
    rounded = replace(problem, X=problem.X.astype("float32").astype(float))
    for seed in range(options.seeds):
        study = Experiment.of_the_paper(problem, rule, options.horizon, options.exploration, seed)
        study = replace(study, settings=study.settings.replace(focus=0.0))
        single = replace(study, settings=study.settings.replace(precision="float32"))
        for way, experiment in zip(runs, (study, replace(study, problem=rounded), single), strict=True):
            runs[way].append(_run(experiment))
    firsts = runs["float64"]
    return {
        "set": problem.name,
        "rule": rule,
        "horizon": options.horizon,
        "seeds": options.seeds,
        **{way: _figures(own, firsts) for way, own in runs.items()},
    }


def _run(experiment: Experiment) -> Run:
    began, X = process_time(), experiment.problem.X
    batches = [experiment.first]
    state = measure(start(X, experiment.settings), batches[0], experiment.values(batches[0], 0), expected=False)
    while (done := sum(map(len, batches))) < experiment.horizon:
        ask = Ask(len(batches), max_size=experiment.horizon - done, alpha=experiment.exploration * alpha(state))
        batches.append(choose(state, ask).picks)
        state = measure(state, batches[-1], experiment.values(batches[-1], done), expected=False)
    return Run(batches, state, process_time() - began, experiment.regret_ratio(batches))


def _figures(runs: Sequence[Run], firsts: Sequence[Run]) -> Figures:
    pairs = list(zip(runs, firsts, strict=True))
    drifts = [_drift(run.state) for run in runs]
    return {
        "studies with the same batches": sum(_agreeing(run, first) == len(first.batches) for run, first in pairs),
        "measurements before the first difference": [
            sum(map(len, first.batches[: _agreeing(run, first)])) for run, first in pairs
        ],
        "regret": [round(run.regret, 4) for run in runs],
        "drift of the mean": float(f"{max(mean for mean, _ in drifts):.2g}"),
        "drift of the leverage": float(f"{max(leverage for _, leverage in drifts):.2g}"),
        "seconds": round(float(np.mean([run.seconds for run in runs])), 2),
        "bytes of X and Z": int(np.mean([run.state.X.nbytes + run.state.embedding.nbytes for run in runs])),
        "dictionary": int(np.mean([len(run.state.S) for run in runs])),
    }


def _agreeing(run: Run, first: Run) -> int:
    """How many batches at the beginning are the same."""
    pairs = zip(run.batches, first.batches, strict=False)
    return next((n for n, (own, other) in enumerate(pairs) if not np.array_equal(own, other)), len(first.batches))


def _drift(state: State) -> tuple[float, float]:
    """Of the mean and of the leverage."""
    X = cast("FloatArray", state.X.astype(float))
    blank = start(X, state.settings.replace(precision="float64"))
    same = {name: getattr(state, name) for name in ("counts", "sums", "pending", "available", "latest", "step")}
    exact = from_scratch(blank.replace(**same), state.S, Rescues())
    pairs = ((state.mean, exact.mean), (state.leverage, exact.leverage))
    mean, leverage = (float(np.abs(own - other).max() / np.abs(other).max()) for own, other in pairs)
    return mean, leverage


def _text(line: Figures) -> str:
    return "\n".join(f"{name}: {value}" for name, value in line.items())


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.precision", description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=["abalone", "cadata"])
    parser.add_argument("--rules", nargs="+", default=["global", "local"])
    parser.add_argument("--horizon", type=int, default=1000, help="measurements of each study")
    parser.add_argument("--exploration", type=float, default=0.25, help="multiplies the theory's alpha")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
