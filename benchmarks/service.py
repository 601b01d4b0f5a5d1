"""The service's benchmarks, over HTTP against really running servers; ratios are of one run on one machine.

    python -m benchmarks.service [--data FOLDER] [--set cadata|generated] [--reports] [--seconds 5] [--json]

Milliseconds unless said otherwise.
"""

import argparse
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.asking import Figures, asking
from benchmarks.datasets import FOLDER, MissingSetError, Problem, generated, load
from benchmarks.one_thread import one_blas_thread
from benchmarks.reporting import reporting


def main(arguments: list[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    with one_blas_thread(), TemporaryDirectory(prefix="nextbatch-bench-") as folder:
        try:
            asked = {} if options.reports else asking(_problem(options), Path(folder) / "asking")
        except MissingSetError as missing:
            print(missing, file=sys.stderr)
            return 2
        figures = {**asked, **reporting(Path(folder), options.seconds)}
    print(json.dumps(figures) if options.json else table(figures))
    return 0


def table(figures: dict[str, Figures]) -> str:
    """Markdown, a line a figure."""
    lines = [f"| {what} | {name} | {value:.4g} |" for what, part in figures.items() for name, value in part.items()]
    return "\n".join(["| what | figure | value |", "|---|---|---|", *lines])


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.service", description="The service's benchmarks.")
    parser.add_argument("--set", default="cadata", help="a set by name, or generated")
    parser.add_argument("--candidates", type=int, default=20_640, help="of the generated set")
    parser.add_argument("--data", type=Path, default=FOLDER, help="folder of the sets")
    parser.add_argument("--reports", action="store_true", help="reports and polls alone, no asks")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measurement of reports and polls")
    parser.add_argument("--json", action="store_true")
    return parser


def _problem(options: argparse.Namespace) -> Problem:
    return generated(options.candidates, 8) if options.set == "generated" else load(options.set, options.data)


if __name__ == "__main__":
    sys.exit(main())
