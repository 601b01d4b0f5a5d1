"""The engine's benchmarks.

python -m benchmarks.engine --set cadata --horizon 2000 --rule global --json
python -m benchmarks.engine --check
python -m benchmarks.engine --scaling
python -m benchmarks.engine --sparse 2000
python -m benchmarks.engine --coverage 1000
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

from benchmarks import scaling
from benchmarks.check import check
from benchmarks.coverage import coverage
from benchmarks.datasets import FOLDER, MissingSetError, Problem, generated, load
from benchmarks.experiment import Experiment
from benchmarks.one_thread import one_blas_thread
from benchmarks.plots import plot_runs, plot_scaling
from benchmarks.sparse import losses
from benchmarks.speed import compare


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for; 0 when all of it holds."""
    options = _options().parse_args(arguments)
    mpl.use("agg")
    try:
        with one_blas_thread():
            figures = _asked_for(options)
    except MissingSetError as missing:
        print(missing, file=sys.stderr)
        return 2
    _print(figures, as_json=options.json)
    return 0 if figures.get("agrees", True) else 1


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.engine", description="The engine's benchmarks.")
    parser.add_argument("--set", default="cadata", help="a set by name, or generated")
    parser.add_argument("--horizon", type=int, help="measurements (2000; 500 for --check)")
    parser.add_argument("--rule", default="global", choices=["global", "local", "exact", "product", "sequential"])
    parser.add_argument("--exploration", type=float, default=1.0, help="multiplies the theory's alpha")
    parser.add_argument("--resparsify", default="lazy", choices=["lazy", "strict"])
    parser.add_argument("--no-focus", action="store_true", help="bring all candidates up to date after every batch")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", type=Path, default=FOLDER, help="folder of the sets")
    parser.add_argument("--plots", type=Path, help="folder to draw figures into")
    parser.add_argument("--engine-only", action="store_true", help="without the literal form")
    parser.add_argument("--check", action="store_true", help="naive, literal and engine choose the same")
    parser.add_argument("--scaling", action="store_true", help="history, candidates, members, a million candidates")
    parser.add_argument("--sparse", type=int, metavar="N", help="what the sparse model loses with N results")
    parser.add_argument("--lengthscale", type=float, default=3.0, help="of the sparse model's kernel; small is rough")
    parser.add_argument(
        "--coverage", type=int, metavar="N", help="how often bounds fail in N small studies of each kind"
    )
    parser.add_argument(
        "--threads", type=int, default=1, help="of a sweep over all candidates; seconds are then the clock's"
    )
    parser.add_argument("--json", action="store_true")
    return parser


def _asked_for(options: argparse.Namespace) -> dict[str, Any]:
    if options.check:
        return _check(options)
    if options.coverage:
        return coverage(options.coverage)
    if options.sparse:
        return losses(_problem(options), options.sparse, options.lengthscale)
    return _scaling(options) if options.scaling else _speed(options)


def _check(options: argparse.Namespace) -> dict[str, Any]:
    options.set = "abalone" if options.set == "cadata" else options.set
    result = check(_experiment(options, options.horizon or 500))
    return {
        "set": options.set,
        "rule": options.rule,
        "steps": sum(map(len, result.engine)),
        "batches": len(result.engine),
        "agrees": result.agrees,
        "first_difference": result.first_difference(),
    }


def _speed(options: argparse.Namespace) -> dict[str, Any]:
    experiment = _experiment(options, options.horizon or 2000)
    literal = not options.engine_only and options.rule != "exact"
    figures, traces = compare(experiment, with_literal=literal)
    if options.plots:
        title = f"{options.set}, {options.rule} rule, exploration {options.exploration:g}"
        plot_runs(traces, title, options.plots / f"{options.set}-{options.rule}-{options.exploration:g}")
    return figures


def _scaling(options: argparse.Namespace) -> dict[str, Any]:
    figures = {
        "history": scaling.history(),
        "candidates": scaling.candidates(),
        "members": scaling.members(),
        "million": scaling.million(options.threads),
    }
    if options.plots:
        plot_scaling(figures["candidates"], figures["members"], options.plots / "scaling")
    return figures


def _experiment(options: argparse.Namespace, horizon: int) -> Experiment:
    problem = _problem(options)
    made = Experiment.of_the_paper(problem, options.rule, horizon, options.exploration, options.seed)
    focus = 0.0 if options.no_focus else made.settings.focus
    chosen = made.settings.replace(resparsify=options.resparsify, focus=focus)
    return Experiment(problem, chosen, horizon, options.exploration)


def _problem(options: argparse.Namespace) -> Problem:
    if options.set == "generated":
        return generated(1_000, 8, options.seed)
    return load(options.set, options.data, options.seed)


def _print(figures: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        print(f"{name:>22}  {value:.4g}" if isinstance(value, float) else f"{name:>22}  {value}")


if __name__ == "__main__":
    sys.exit(main())
