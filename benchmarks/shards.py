"""Whole studies of the paper with their list in one piece and in shards: whether every choice is the same.

    python -m benchmarks.shards [--set cadata] [--horizon 2000] [--rule global] [--shards 10000 3000 1000] [--seeds 3]

Processor seconds say what shards cost.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.datasets import FOLDER, generated, load
from benchmarks.experiment import Experiment, run_engine
from benchmarks.one_thread import one_blas_thread


def main(arguments: Sequence[str] | None = None) -> int:
    """A line for each size of shards: in how many studies every choice is the one made in one piece."""
    options = _options().parse_args(arguments)
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


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shards", description=__doc__.splitlines()[0])
    parser.add_argument("--set", default="cadata", help="of the paper by name, or generated")
    parser.add_argument("--data", type=Path, default=FOLDER, help="folder of the sets")
    parser.add_argument("--horizon", type=int, default=2_000, help="measurements of a study")
    parser.add_argument("--rule", default="global", choices=["global", "local", "exact"])
    parser.add_argument("--shards", type=int, nargs="+", default=[10_000, 3_000, 1_000], help="sizes of shards to try")
    parser.add_argument("--seeds", type=int, default=3, help="studies for each size")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
