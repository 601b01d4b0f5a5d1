"""Run simulated labs, resumably, and print the tables of what has been run."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path

from rich.progress import track

from benchmarks.datasets import FOLDER
from benchmarks.labs.calibration import RESULTS as MOMENTS
from benchmarks.labs.calibration import TABLES
from benchmarks.labs.contestants import CONTESTANTS, LIBRARY, UNSAID, contestants, installed
from benchmarks.labs.moments import Moment
from benchmarks.labs.page import BATCHES, ONE_AT_A_TIME, write
from benchmarks.labs.protocol import PROTOCOLS
from benchmarks.labs.records import Key, Record
from benchmarks.labs.simulation import simulate
from benchmarks.labs.summary import FIGURES, against, experiments, per_policy, per_table, standings
from benchmarks.labs.tables import LABS, REPLICATED, load
from benchmarks.lines import append, read
from benchmarks.one_thread import one_blas_thread
from benchmarks.pages import DOCS
from benchmarks.peers.catalogue import CATALOGUE
from benchmarks.peers.link import PeerError

RESULTS = Path("benchmarks/results")
COMPARED = ("random", LIBRARY, "BayBE", "BoTorch qLogNEI", "BoTorch qUCB", "Optuna GP")
QUICK = {"tables": ("agnp", "hpo_svm_letter", "esol_descriptors"), "seeds": "0:2", "out": RESULTS / "labs-quick.jsonl"}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = _parser()
    if parser.parse_args(arguments).quick:
        parser.set_defaults(**QUICK, policies=[policy for policy in COMPARED if installed(policy)])
    options = parser.parse_args(arguments)
    if options.command == "run":
        with one_blas_thread():
            run(options)
    records = read(options.out, Record)
    if options.command == "page":
        write(records, options.pages)
        return 0
    show([one for one in records if one.policy in options.policies and one.protocol in options.protocols], options)
    return 0


def run(options: argparse.Namespace) -> None:
    """Every study asked for that the file does not hold yet; all tables and policies with one seed, then the next."""
    done = {record.key for record in read(options.out, Record)}
    table = cache(lambda name, noisy: load(options.data, name, noisy))
    wanted = [study for study in _studies(options) if study not in done]
    with contestants() as make:
        for policy, name, protocol, seed in track(wanted, "studies"):
            of = PROTOCOLS[protocol]
            try:
                append(options.out, simulate(table(name, of.noisy), of, seed, policy, make[policy]))
            except PeerError as error:
                print(f"{policy} failed on {name}, {protocol}, seed {seed}:\n{error}", file=sys.stderr)


def show(records: Sequence[Record], options: argparse.Namespace) -> None:
    """The tables; those of `calibration` too, if it has been run."""
    for ours in (LIBRARY, UNSAID):
        if any(record.policy == ours for record in records):
            print(against(records, ours), standings(records, ours, CATALOGUE), sep="\n\n", end="\n\n")
    print(per_policy(records), experiments(records, LIBRARY, BATCHES, ONE_AT_A_TIME.T), sep="\n\n")
    if moments := read(options.calibration, Moment):
        print("\nWhat auto mode says, and what is true:", *(table(moments) for table in TABLES.values()), sep="\n\n")
    for protocol in dict.fromkeys(record.protocol for record in records):
        own = [record for record in records if record.protocol == protocol]
        print(f"\n{protocol}: {options.figure}\n", per_table(own, options.figure), sep="\n")


def _studies(options: argparse.Namespace) -> Iterator[Key]:
    for protocol, seed in product(options.protocols, _seeds(options.seeds)):
        tables = options.tables or (REPLICATED if PROTOCOLS[protocol].noisy else LABS)
        for name, policy in product(tables, options.policies):
            yield policy, name, protocol, seed


def _seeds(text: str) -> range:
    first, _, last = text.partition(":")
    return range(int(first), int(last))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labs", description=__doc__)
    parser.add_argument("command", nargs="?", choices=("run", "table", "page"), default="run")
    parser.add_argument("--quick", action="store_true", help="small tables, two seeds, whoever is installed")
    parser.add_argument("--data", type=Path, default=FOLDER, help="folder of the tables")
    parser.add_argument("--out", type=Path, default=RESULTS / "labs.jsonl", help="records, one line of JSON each")
    parser.add_argument("--calibration", type=Path, default=MOMENTS, help="records of `calibration`")
    parser.add_argument("--pages", type=Path, default=DOCS, help="folder of the figures and of the page")
    parser.add_argument("--tables", nargs="+", help="default: the labs, or those with replicates if noisy")
    parser.add_argument("--policies", nargs="+", default=COMPARED, choices=CONTESTANTS)
    parser.add_argument("--protocols", nargs="+", default=["T60 q5"], choices=list(PROTOCOLS))
    parser.add_argument("--seeds", default="0:20", help="first:last, the last not included")
    parser.add_argument("--figure", default="simple", choices=FIGURES, help="of the table by data set")
    return parser


if __name__ == "__main__":
    sys.exit(main())
