"""BayBE's task parameter on the same studies, up to 20 results: with the related task, with shuffled values, and alone.

    make .peers/baybe/ready
    .peers/baybe/bin/python -m benchmarks.transfer.baybe --seeds 2 --files buchwald_hartwig_tasks

It borrows from the earlier studies that `benchmarks.transfer run` has made, which comes first. The records have the
same arms, so that `python -m benchmarks.transfer report --out FILE` sums them up.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from baybe import Campaign, Settings
from baybe.parameters import CategoricalParameter, NumericalDiscreteParameter, TaskParameter
from baybe.searchspace import SearchSpace
from baybe.targets import NumericalTarget

from app.domain.events import EarlierResults
from app.modelling.simulating import KnownTable
from benchmarks.transfer.__main__ import BATCH, Arms, append
from benchmarks.transfer.tasks import FOLDER, SOURCES, TaskTable

MOST = 20
TARGET = "value"
ARMS = ("without", "related", "shuffled")


def frame(table: KnownTable) -> pd.DataFrame:
    """The candidates of a task, in the columns of the table."""
    numbers, texts = iter(table.numbers.T), iter(table.codes.T)
    columns: dict[str, Any] = {}
    for column in table.columns:
        if column.kind == "text":
            columns[column.name] = [column.levels[code] for code in next(texts)]
        else:
            columns[column.name] = next(numbers)
    return pd.DataFrame(columns)


def parameters(table: KnownTable, candidates: pd.DataFrame, *, with_task: bool) -> list[Any]:
    """Those of a campaign; what never changes is left out."""
    made: list[Any] = []
    for column in table.columns:
        if candidates[column.name].nunique() < 2:
            continue
        if column.kind == "text":
            made.append(CategoricalParameter(column.name, column.levels))
        else:
            made.append(NumericalDiscreteParameter(column.name, sorted(candidates[column.name].unique())))
    return [*made, TaskParameter("task", ("earlier", "new"), active_values=("new",))] if with_task else made


def regrets(table: KnownTable, seed: int, borrowed: tuple[EarlierResults, ...]) -> list[float]:
    """The regret after 1, 2 … results, as a share of the range."""
    Settings(random_seed=seed).activate()
    candidates = frame(table)
    made = parameters(table, candidates, with_task=bool(borrowed))
    names = [parameter.name for parameter in made if parameter.name != "task"]
    tasks = {"task": "new"} if borrowed else {}
    rows = candidates[names].assign(**tasks)
    space = SearchSpace.from_dataframe(rows, parameters=made)
    campaign = Campaign(space, NumericalTarget(TARGET), allow_recommending_already_measured=False)
    for results in borrowed:
        earlier = pd.DataFrame({name: ({**results.numbers, **results.texts})[name] for name in names})
        told = earlier.assign(task="earlier", **{TARGET: results.values})
        campaign.add_measurements(told, numerical_measurements_must_be_within_tolerance=False)
    measured: list[int] = []
    while len(measured) < MOST:
        chosen = list(campaign.recommend(BATCH).index)
        measured += chosen
        campaign.add_measurements(rows.loc[chosen].assign(**{TARGET: table.values[chosen]}))
    best = np.maximum.accumulate(table.values[measured])
    regret: list[float] = np.round((table.values.max() - best) / np.ptp(table.values), 5).tolist()
    return regret


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.transfer.baybe")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--tasks", type=int, help="The first so many of each table; by default all.")
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--files", nargs="+", default=["buchwald_hartwig_tasks", "suzuki_reizman_tasks"])
    parser.add_argument("--out", type=Path, default=Path("benchmarks/results/transfer-baybe.jsonl"))
    arguments = parser.parse_args()
    for source in (source for source in SOURCES if source.file in arguments.files):
        table = TaskTable.read(arguments.data, source)
        arms = Arms(table)
        for seed in range(arguments.seeds):
            for new in list(table.tasks)[: arguments.tasks]:
                for arm, borrowed in arms.of(new, seed):
                    if arm not in ARMS:
                        continue
                    record = {"file": source.file, "task": new, "arm": arm, "seed": seed}
                    record["regret"] = regrets(table.tasks[new], seed, borrowed)
                    append(arguments.out, record)


if __name__ == "__main__":
    main()
