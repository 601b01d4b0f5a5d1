"""Run simulated labs with several objectives and print what they reached."""

import argparse
import sys
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.objectives.simulation import POLICIES, Run, simulate
from benchmarks.objectives.tables import FOLDER, TABLES, load


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=",".join(TABLES), help="names of tables, with commas between them")
    parser.add_argument("--policies", default=",".join(POLICIES), help="ours, no failure model, random")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tries", type=int, default=60, help="measurements in a study")
    parser.add_argument("--size", type=int, default=5, help="measurements in a batch")
    parser.add_argument("--data", type=Path, default=FOLDER, help="the folder of the tables")
    chosen = parser.parse_args(arguments)
    print(f"| table | policy | regret after {chosen.tries} | ± | mean regret on the way | wasted | seconds per ask |")
    print("|---|---|---|---|---|---|---|")
    with threadpool_limits(1):
        for name in chosen.tables.split(","):
            table = load(name, chosen.data)
            for policy in chosen.policies.split(","):
                if policy == "no failure model" and table.works.all():
                    continue
                runs = [simulate(table, policy, seed, chosen.tries, chosen.size) for seed in range(chosen.seeds)]
                print(_line(name, policy, runs), flush=True)


def _line(name: str, policy: str, runs: list[Run]) -> str:
    last = np.array([run.regrets[-1] for run in runs])
    way = np.mean([np.mean(run.regrets) for run in runs])
    error = last.std(ddof=1) / np.sqrt(len(last)) if len(last) > 1 else float("nan")
    wasted, seconds = np.mean([run.wasted for run in runs]), np.mean([run.seconds for run in runs])
    cells = [name, policy, f"{last.mean():.4f}", f"{error:.4f}", f"{way:.4f}", f"{wasted:.1f}", f"{seconds:.3f}"]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main(sys.argv[1:])
