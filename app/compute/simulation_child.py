"""The child process that simulates studies for a backtest: its own process, at low priority, so that no ask waits.

It runs as `python -m app.compute.simulation_child FOLDER`. The folder has `plan.json` and the arrays of the table; the
child appends a line to `runs.jsonl` for every simulated study. If its standard input ends, the server is gone; then it
deletes the folder and ends.
"""

import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from threading import Thread

import numpy as np

from app.arrays import Array
from app.domain.backtests import BacktestPlan
from app.domain.candidates import Column
from app.domain.codec import canonical, from_plain, read_json, to_plain
from app.modelling.simulating import KnownTable, simulate

if sys.platform == "linux":
    import resource

LOWEST_PRIORITY = 19
MEMORY = 8 << 30  # bytes that the process may allocate
RUNS = "runs.jsonl"


@dataclass(frozen=True)
class SimulationTask:
    """What the child needs to know beside the arrays."""

    plan: BacktestPlan
    columns: tuple[Column, ...]
    molecules: tuple[str, ...] = ()


def write_task(folder: Path, table: KnownTable, plan: BacktestPlan) -> None:
    """Leave everything for the child in the folder."""
    task = SimulationTask(plan, table.columns, tuple(table.fingerprints))
    (folder / "plan.json").write_text(canonical(to_plain(task)))
    arrays: dict[str, Array] = {"numbers": table.numbers, "codes": table.codes, "values": table.values}
    arrays["ends"] = table.ends
    arrays |= {f"molecule {n}": table.fingerprints[name] for n, name in enumerate(task.molecules)}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)


def read_task(folder: Path) -> tuple[BacktestPlan, KnownTable]:
    task = from_plain(SimulationTask, read_json((folder / "plan.json").read_text()))

    def load(name: str) -> Array:
        return np.asarray(np.load(folder / f"{name}.npy", allow_pickle=False))

    fingerprints = {name: load(f"molecule {n}") for n, name in enumerate(task.molecules)}
    table = KnownTable(task.columns, load("numbers"), load("codes"), load("values"), load("ends"), fingerprints)
    return task.plan, table


def main(folder: Path) -> None:
    with suppress(AttributeError, OSError):
        os.nice(LOWEST_PRIORITY)
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    plan, table = read_task(folder)
    with (folder / RUNS).open("w") as lines:
        for seed in range(plan.seeds):
            for size in plan.batch_sizes:
                configuration = replace(plan.configuration, seed=plan.configuration.seed + seed)
                measured = simulate(table, configuration, size, plan.measurements)
                lines.write(json.dumps([size, measured.tolist()]) + "\n")
                lines.flush()


def _end_with_server(folder: Path) -> None:
    os.read(sys.stdin.fileno(), 1)
    rmtree(folder, ignore_errors=True)
    os._exit(1)


if __name__ == "__main__":
    Thread(target=_end_with_server, args=(Path(sys.argv[1]),), daemon=True).start()
    main(Path(sys.argv[1]))
