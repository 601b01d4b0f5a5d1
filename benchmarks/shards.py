"""A long list in one piece, in shards, and in shards on two threads: seconds, and whether the choices are the same.

    python -m benchmarks.shards [--candidates 1000000] [--members 100] [--shard 250000] [--threads 2] [--json]
    python -m benchmarks.shards --set cadata [--horizon 2000] [--rule global] [--shards 10000 3000 1000] [--seeds 3]

The second command runs whole studies of the paper on a set, in one piece and in shards of several sizes.
Wall-clock time says what threads gain only on a quiet machine; processor time says what shards cost.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from app.engine import Ask, EngineSettings, choose, measure, start_from, sweep_threads
from app.engine.kernels import Gaussian
from benchmarks.datasets import FOLDER, generated, load
from benchmarks.experiment import Experiment, run_engine
from benchmarks.one_thread import one_blas_thread

ROUNDS = 3


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    return _whole_studies(options) if options.set else _long_list(options)


def _whole_studies(options: argparse.Namespace) -> int:
    """A line for each size of shards: in how many studies every choice is the one made in one piece."""
    alike: dict[int, int] = dict.fromkeys(options.shards, 0)
    seconds: dict[int, float] = dict.fromkeys((0, *options.shards), 0.0)
    with one_blas_thread():
        for seed in range(options.seeds):
            problem = generated(5_000, 8, seed) if options.set == "generated" else load(options.set, options.data, seed)
            made = Experiment.of_the_paper(problem, options.rule, options.horizon, 1.0, seed)
            expected: list[int] = []
            for size in seconds:
                trace = run_engine(replace(made, settings=made.settings.replace(shard=size, focus=0.0)))
                picks = [int(number) for batch in trace.batches for number in batch]
                seconds[size] += trace.seconds[-1] / options.seeds
                expected = expected or picks
                if size:
                    alike[size] += picks == expected
    if options.json:
        print(json.dumps({"set": options.set, "studies": options.seeds, "alike": alike, "CPU s": seconds}))
    else:
        print("| shards of | studies with the same choices | CPU s of a study |\n|---|---|---|")
        print(f"| one piece | | {seconds[0]:.2f} |")
        for size, count in alike.items():
            print(f"| {size:,} | {count} of {options.seeds} | {seconds[size]:.2f} |")
    return 0 if set(alike.values()) == {options.seeds} else 1


def _long_list(options: argparse.Namespace) -> int:
    X = np.random.default_rng(1).random((options.candidates, 5))
    ways = {
        "one piece": (0, 1),
        "shards": (options.shard, 1),
        f"shards, {options.threads} threads": (options.shard, options.threads),
    }
    with one_blas_thread():
        lines = [{"list": name, **_run(X, options.members, *way)} for name, way in ways.items()]
    picks = [line.pop("picks") for line in lines]
    same = all(chosen == picks[0] for chosen in picks)
    if options.json:
        print(json.dumps({"lines": lines, "same choices": same}))
    else:
        print("\n".join(" | ".join(f"{name}: {value}" for name, value in line.items()) for line in lines))
        print(f"same choices: {same}")
    return 0 if same else 1


def _run(X: np.ndarray[Any, Any], members: int, shard: int, threads: int) -> dict[str, Any]:
    """A study that knows `members` results, and some batches of ten."""
    counts, sums = np.zeros(len(X), dtype=np.int64), np.zeros(len(X))
    known = np.linspace(0, len(X) - 1, members).astype(np.int64)
    counts[known], sums[known] = 1, _truth(X[known])
    settings = EngineSettings(Gaussian(0.3), lam=0.01, xi=0.1, dictionary="all", shard=shard)
    with sweep_threads(threads):
        begun, spent = perf_counter(), process_time()
        state = start_from(X, settings, counts, sums)
        started = perf_counter() - begun, process_time() - spent
        picks: list[int] = []
        begun, spent = perf_counter(), process_time()
        for number in range(1, ROUNDS + 1):
            chosen = choose(state, Ask(number, min_size=10, max_size=10)).picks
            state = measure(state, chosen, _truth(X[chosen]), expected=False)
            picks += chosen.tolist()
        rounds = (perf_counter() - begun) / ROUNDS, (process_time() - spent) / ROUNDS
    figures = {"start s": started[0], "start CPU s": started[1], "batch s": rounds[0], "batch CPU s": rounds[1]}
    return {"picks": picks, **{name: round(value, 3) for name, value in figures.items()}}


def _truth(X: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.asarray(np.sin(5 * X[:, 0]) + X[:, -1])


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shards", description=__doc__.splitlines()[0])
    parser.add_argument("--candidates", type=int, default=1_000_000)
    parser.add_argument("--members", type=int, default=100, help="results that the study knows at first")
    parser.add_argument("--shard", type=int, default=250_000, help="candidates in one shard")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--set", help="whole studies on a set by name, or generated")
    parser.add_argument("--data", type=Path, default=FOLDER, help="folder of the sets")
    parser.add_argument("--horizon", type=int, default=2_000, help="measurements of a whole study")
    parser.add_argument("--rule", default="global", choices=["global", "local", "exact"])
    parser.add_argument("--shards", type=int, nargs="+", default=[10_000, 3_000, 1_000], help="sizes of shards to try")
    parser.add_argument("--seeds", type=int, default=3, help="whole studies for each size")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
