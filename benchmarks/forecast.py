"""Whether a backtest's forecast holds: of further simulated studies, how many need what the interval says?

    python -m benchmarks.forecast --seeds 40

Each table is backtested with ten seeds, again and again; the other seeds are held back and compared with the interval,
which should cover four of five.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from app.domain.candidates import Column
from app.domain.studies import Configuration, Direction, Objective
from app.modelling.backtesting import losses_of, needed_of
from app.modelling.simulating import KnownTable, simulate
from benchmarks.datasets import FOLDER
from benchmarks.labs import tables

TABLES = ("agnp", "crossed_barrel", "direct_arylation", "hpo_svm_letter", "buchwald_hartwig")
FORECAST, BATCH, MOST, WITHIN = 10, 5, 60, 0.05


def known(folder: Path, name: str) -> tuple[KnownTable, Objective]:
    """A table of the labs, as a backtest sees it."""
    table = tables.load(folder, name)
    columns = tuple(Column(column.name, column.kind, "feature", column.levels) for column in table.columns)
    ends = np.arange(1, len(table.truth) + 1)
    objective = Objective("value", direction=Direction(table.direction))
    return KnownTable(columns, table.numbers, table.codes, table.truth, ends), objective


def coverage(folder: Path, name: str, seeds: int) -> tuple[float, float, float]:
    """The share of held-back studies inside the interval, and of those below and above it."""
    table, objective = known(folder, name)
    losses = losses_of(objective, table.means)
    configuration = Configuration(objectives=(objective,))
    runs = [losses[simulate(table, replace(configuration, seed=seed), BATCH, MOST)] for seed in range(seeds)]
    within = WITHIN * float(losses.max())
    inside, below, above = [], [], []
    rng = np.random.default_rng(0)
    for _ in range(200):
        order = rng.permutation(seeds)
        forecast = needed_of([runs[seed] for seed in order[:FORECAST]], within)
        for seed in order[FORECAST:]:
            count = needed_of([runs[seed]], within).median or MOST + 1
            below.append(count < (forecast.low or MOST + 1))
            above.append(count > (forecast.high or MOST + 1))
            inside.append(not (below[-1] or above[-1]))
    return float(np.mean(inside)), float(np.mean(below)), float(np.mean(above))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--data", type=Path, default=FOLDER)
    arguments = parser.parse_args()
    print("table                 inside  below  above")
    for name in TABLES:
        inside, below, above = coverage(arguments.data, name, arguments.seeds)
        print(f"{name:<20}  {inside:6.2f} {below:6.2f} {above:6.2f}", flush=True)


if __name__ == "__main__":
    main()
