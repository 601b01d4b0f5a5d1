"""Run simulated labs in this process, resumably, or print the tables of what has been run."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from threadpoolctl import threadpool_limits

from benchmarks.labs.policies import POLICIES
from benchmarks.labs.protocol import PROTOCOLS
from benchmarks.labs.records import append, read
from benchmarks.labs.simulation import simulate
from benchmarks.labs.summary import FIGURES, per_policy, per_table
from benchmarks.labs.tables import LABS, load


def main() -> None:
    arguments = _parser().parse_args()
    if arguments.command == "run":
        with threadpool_limits(1):
            run(arguments)
    else:
        records = [record for path in arguments.files for record in read(path)]
        print(per_policy(records), per_table(records, arguments.figure), sep="\n\n")


def run(arguments: argparse.Namespace) -> None:
    """Every study asked for that the file does not hold yet."""
    done = {record.key for record in read(arguments.out)}
    protocol = PROTOCOLS[arguments.protocol]
    for name in arguments.tables:
        table = load(arguments.data, name, protocol.noisy)
        for seed in _seeds(arguments.seeds):
            for policy in arguments.policies:
                if (policy, name, protocol.name, seed) not in done:
                    append(arguments.out, simulate(table, protocol, seed, policy, POLICIES[policy]))
        print(name, "done", flush=True)


def _seeds(text: str) -> Iterator[int]:
    first, _, last = text.partition(":")
    yield from range(int(first), int(last))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="benchmarks.labs", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    doing = commands.add_parser("run", help="simulate studies")
    doing.add_argument("--data", type=Path, required=True, help="folder of the tables")
    doing.add_argument("--out", type=Path, required=True, help="file of records, one line of JSON each")
    doing.add_argument("--tables", nargs="+", default=list(LABS))
    doing.add_argument("--policies", nargs="+", default=["auto"], choices=list(POLICIES))
    doing.add_argument("--protocol", default="T60 q5", choices=list(PROTOCOLS))
    doing.add_argument("--seeds", default="0:20", help="first:last, the last not included")
    showing = commands.add_parser("table", help="print means")
    showing.add_argument("files", nargs="+", type=Path)
    showing.add_argument("--figure", default="simple", choices=FIGURES)
    return parser


if __name__ == "__main__":
    main()
