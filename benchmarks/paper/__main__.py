"""Run the experiments, resumably; report what has been run; or check a subset against the ratios committed."""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from threadpoolctl import threadpool_limits

from benchmarks import datasets
from benchmarks.paper import records
from benchmarks.paper.cells import REPETITIONS, STAGES, Cell, everything
from benchmarks.paper.objectives import objective
from benchmarks.paper.running import run


def main(arguments: list[str] | None = None) -> int:
    """0 when all is well, 1 when a ratio is out of its bounds, 2 when a set is missing."""
    options = _options().parse_args(arguments)
    try:
        with threadpool_limits(1):
            return int(COMMANDS[options.command](options) or 0)
    except datasets.MissingSetError as missing:
        print(missing, file=sys.stderr)
        return 2


def run_all(options: argparse.Namespace) -> None:
    """Every cell that has no record yet."""
    make(everything(options.stages, options.repetitions), options)


def make(cells: Iterable[Cell], options: argparse.Namespace) -> None:
    """The records of these cells, those that are not there yet."""
    wanted = dict.fromkeys(cells)
    columns = TextColumn("{task.description:40}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns) as progress:
        bar = progress.add_task("", total=len(wanted))
        for cell in wanted:
            progress.update(bar, description=f"{cell.set} {cell.system} {cell.repetition}")
            path = records.path_of(cell, options.results)
            if not path.exists():
                measured = objective(cell.set, options.data, cell.repetition)
                records.keep(records.record(cell, measured, run(cell, measured)), path)
            progress.advance(bar)


COMMANDS = {"run": run_all}


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__)
    parser.add_argument("command", choices=list(COMMANDS))
    parser.add_argument("--data", type=Path, default=datasets.FOLDER, help="folder of the sets")
    parser.add_argument("--results", type=Path, default=records.FOLDER, help="folder of the records")
    parser.add_argument("--stages", nargs="+", default=list(STAGES), choices=list(STAGES))
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
