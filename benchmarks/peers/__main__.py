"""Time what a user would pick instead, each in a process of its own, resumably, or print the tables of what was timed.

python -m benchmarks.peers run
python -m benchmarks.peers page
"""

import argparse
import sys
from functools import cache
from itertools import product
from pathlib import Path

from rich.progress import track

from benchmarks.datasets import FOLDER
from benchmarks.labs.contestants import LIBRARY as AUTO
from benchmarks.labs.records import Record
from benchmarks.labs.tables import load
from benchmarks.lines import append, read
from benchmarks.one_thread import one_blas_thread
from benchmarks.pages import DOCS, fill
from benchmarks.peers.plots import plot_timings
from benchmarks.peers.summary import regrets, speeds
from benchmarks.peers.timing import EVERYBODY, Timing, timed

RECORDS = Path("benchmarks/results/peers.jsonl")
STUDIES = [Path("benchmarks/results/labs.jsonl"), Path("benchmarks/results/peers-regret.jsonl")]
"""Those of the peers that are too slow for the labs lie apart."""
TABLES, RESULTS, BATCH = ("abalone", "cadata"), (100, 1000), 10


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.command == "run":
        with one_blas_thread():
            run(options)
    timings = read(options.out, Timing)
    print(speeds(timings))
    if options.command == "page":
        plot_timings(timings, options.pages / "peers")
        studies = [study for path in options.studies for study in read(path, Record) if study.policy != AUTO]
        fill(options.pages / "peers.md", {"timings": speeds(timings), "regrets": regrets(studies)})
    return 0


def run(options: argparse.Namespace) -> None:
    """Everything asked for that the file does not hold yet; the small before the large."""
    done = {timing.key for timing in read(options.out, Timing)}
    table = cache(lambda name: load(options.data, name))
    wanted = [
        key for key in product(options.tables, options.results, options.who) if (key[2], *key[:2], BATCH) not in done
    ]
    for name, n, who in track(wanted, "timings"):
        append(options.out, timed(who, table(name), n, BATCH, options.patience))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("command", choices=("run", "table", "page"))
    parser.add_argument("--data", type=Path, default=FOLDER, help="folder of the tables")
    parser.add_argument("--out", type=Path, default=RECORDS, help="file of timings, one line of JSON each")
    parser.add_argument("--pages", type=Path, default=DOCS, help="folder of the page and its figure")
    parser.add_argument(
        "--studies", type=Path, nargs="*", default=STUDIES, help="files of the labs' records, for the page"
    )
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--results", nargs="+", type=int, default=RESULTS, help="results recorded before the ask")
    parser.add_argument("--who", nargs="+", default=EVERYBODY, choices=EVERYBODY)
    parser.add_argument("--patience", type=float, default=900, help="seconds after which a call is given up")
    return parser


if __name__ == "__main__":
    sys.exit(main())
