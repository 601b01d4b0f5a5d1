"""Run simulated labs with several objectives; go on where an earlier run ended; print what all of them reached."""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np

from benchmarks.lines import append, read
from benchmarks.objectives.simulation import POLICIES, Run, Simulation
from benchmarks.objectives.standings import standard_error, standings
from benchmarks.objectives.tables import FOLDER, TABLES, load
from benchmarks.one_thread import one_blas_thread
from benchmarks.peers.link import PeerError

RECORDS = Path(__file__).resolve().parents[2] / "docs" / "benchmarks" / "objectives.jsonl"
HEADER = "| table | policy | seeds | regret after 60 | ± | mean on the way | wasted | s per ask | of processor |"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=",".join(TABLES), help="names of tables, with commas between them")
    parser.add_argument("--policies", default=",".join(POLICIES), help=", ".join(POLICIES))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tries", type=int, default=60, help="measurements in a study")
    parser.add_argument("--size", type=int, default=5, help="measurements in a batch")
    parser.add_argument("--data", type=Path, default=FOLDER, help="the folder of the tables")
    parser.add_argument("--out", type=Path, default=RECORDS, help="the file of the records")
    parser.add_argument("--only-print", action="store_true", help="run nothing")
    chosen = parser.parse_args(arguments)
    if not chosen.only_print:
        with one_blas_thread(), Simulation(chosen.tries, chosen.size) as simulation:
            _run(chosen, simulation)
    runs = read(chosen.out, Run)
    print("\n".join((*lines(runs), "", *standings(runs))))


def _run(chosen: argparse.Namespace, simulation: Simulation) -> None:
    done = {(run.table, run.policy, run.seed) for run in read(chosen.out, Run)}
    for seed in range(chosen.seeds):
        for name in chosen.tables.split(","):
            table = load(name, chosen.data)
            for policy in chosen.policies.split(","):
                if (name, policy, seed) in done or (policy == "no failure model" and table.works.all()):
                    continue
                try:
                    append(chosen.out, simulation.run(table, policy, seed))
                except PeerError as error:
                    print(f"{name}, {policy}, seed {seed}: {error}", file=sys.stderr, flush=True)


def lines(runs: list[Run]) -> list[str]:
    """A table of what all runs reached."""
    groups: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.table, run.policy].append(run)
    places = {name: place for place, name in enumerate((*TABLES, *POLICIES))}
    ordered = sorted(groups, key=lambda group: [places.get(name, len(places)) for name in group])
    return [HEADER, "|---" * HEADER.count(" |") + "|", *(_line(*group, groups[group]) for group in ordered)]


def _line(name: str, policy: str, runs: list[Run]) -> str:
    last = np.array([run.regrets[-1] for run in runs])
    way = np.mean([np.mean(run.regrets) for run in runs])
    wasted = np.mean([run.wasted for run in runs])
    seconds, processor = (np.mean([getattr(run, part) for run in runs]) for part in ("seconds", "processor"))
    cells = [name, policy, str(len(runs)), f"{last.mean():.4f}", standard_error(last), f"{way:.4f}", f"{wasted:.1f}"]
    return f"| {' | '.join(cells)} | {seconds:.2f} | {processor:.2f} |"


if __name__ == "__main__":
    main(sys.argv[1:])
