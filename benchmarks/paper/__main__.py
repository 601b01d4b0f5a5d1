"""Run the experiments, resumably; report what has been run; or check a subset against the ratios committed."""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks import datasets
from benchmarks.one_thread import one_blas_thread
from benchmarks.paper import page, records, subset
from benchmarks.paper.cells import NAS, REGRESSION, REPETITIONS, STAGES, Cell, everything
from benchmarks.paper.objectives import objective
from benchmarks.paper.running import run
from benchmarks.paper.systems import SYSTEMS
from benchmarks.paper.theory import theory


def main(arguments: list[str] | None = None) -> int:
    """0 when all is well, 1 when a ratio is out of its bounds, 2 when a set is missing."""
    options = _options().parse_args(arguments)
    try:
        with one_blas_thread():
            return int(COMMANDS[options.command](options) or 0)
    except datasets.MissingSetError as missing:
        print(missing, file=sys.stderr)
        return 2


def run_all(options: argparse.Namespace) -> None:
    """Every cell asked for that has no record yet."""
    planned = everything(options.stages, options.repetitions)
    make((cell for cell in planned if cell.set in options.sets and cell.system in options.systems), options)


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


def find_theory(options: argparse.Namespace) -> None:
    """The theory in numbers, for the page."""
    page.THEORY.parent.mkdir(parents=True, exist_ok=True)
    page.THEORY.write_text(json.dumps(theory(options.data)) + "\n")


def report(options: argparse.Namespace) -> None:
    """Tables, pictures and raw results of all records."""
    page.write(options.results, add=options.add)


def check(options: argparse.Namespace) -> int:
    """A subset afresh, beside the ratios committed; with --accept they become the committed ones."""
    found = subset.ratios(list(_afresh(options)))
    if options.accept:
        subset.accept(found)
    comparisons = [subset.compared(figures, subset.read()[cell]) for cell, figures in found.items()]
    print("measured (committed), the time as a multiple of Global-BBKB's on the same set")
    for cell, comparison in zip(found, comparisons, strict=True):
        print(f"{cell:40}", *map(str, comparison))
    return 0 if all(figure.within for comparison in comparisons for figure in comparison) else 1


def _afresh(options: argparse.Namespace) -> Iterator[records.Record]:
    """The subset's records; a set that is not there is named and left out, but for the generated one."""
    for cell in subset.subset():
        try:
            measured = objective(cell.set, options.data, cell.repetition)
        except datasets.MissingSetError as missing:
            print(f"not checked: {cell.name}. {missing}", file=sys.stderr)
            continue
        yield records.record(cell, measured, run(cell, measured))


COMMANDS = {"run": run_all, "theory": find_theory, "report": report, "check": check}


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.paper", description=__doc__)
    parser.add_argument("command", choices=list(COMMANDS))
    parser.add_argument("--data", type=Path, default=datasets.FOLDER, help="folder of the sets")
    parser.add_argument("--results", type=Path, default=records.FOLDER, help="folder of the records")
    parser.add_argument("--stages", nargs="+", default=list(STAGES), choices=list(STAGES))
    parser.add_argument("--sets", nargs="+", default=[*REGRESSION, *NAS])
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    parser.add_argument("--add", action="store_true", help="report: add the records to the published ones")
    parser.add_argument("--accept", action="store_true", help="check: commit to the ratios measured now")
    return parser


if __name__ == "__main__":
    sys.exit(main())
