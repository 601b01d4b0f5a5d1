"""What is kept of a run: a file of JSON with its figures, its curves, its seed and its build."""

import json
import os
import platform
import subprocess
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.modelling.drafting import build
from benchmarks.paper.cells import SHORT, Cell
from benchmarks.paper.objectives import Objective
from benchmarks.paper.running import Trace

FOLDER = Path(__file__).resolve().parents[1] / "results" / "paper"
POINTS = 60

Record = dict[str, Any]


def record(cell: Cell, objective: Objective, trace: Trace) -> Record:
    """Curves over the measurements t, and the figures at their ends."""
    curves = curves_of(cell, objective, trace)
    return {
        "cell": asdict(cell),
        "seed": cell.repetition,
        "build": build(),
        "machine": machine(),
        "figures": {
            **{name: values[-1] for name, values in curves.items()},
            "seconds_of_2000": float(np.interp(SHORT, curves["t"], curves["seconds"])),
            "wall": trace.wall,
            "started": trace.started,
            "measured": len(np.unique(np.concatenate(trace.batches))),
        },
        "curves": {name: [float(f"{value:.5g}") for value in values] for name, values in curves.items()},
    }


def curves_of(cell: Cell, objective: Objective, trace: Trace) -> dict[str, list[float]]:
    """Values at some t, of the batch in which t falls where they belong to batches."""
    f = objective.problem.f
    picks, t = np.concatenate(trace.batches), grid(cell.steps)
    regret, ended = f.max() - f[picks], np.cumsum([len(batch) for batch in trace.batches])
    best = np.maximum.accumulate(np.concatenate([f[trace.before], f[picks]]))[len(trace.before) :]
    at = np.searchsorted(ended, t)
    curves: dict[str, FloatArray | IndexArray] = {
        "t": t,
        "regret_ratio": (np.cumsum(regret) / np.arange(1, len(picks) + 1) / (f.max() - f.mean()))[t - 1],
        "simple_regret": (f.max() - best)[t - 1],
        "seconds": np.array(trace.seconds)[at],
        "members": np.array(trace.members)[at],
        "batch": np.array([len(batch) for batch in trace.batches])[at],
        "batches": np.asarray(at + 1, dtype=np.int64),
        "hours": hours(objective, trace)[at],
    }
    return {name: values.tolist() for name, values in curves.items()}


def hours(objective: Objective, trace: Trace) -> FloatArray:
    """Up to the end of each batch: a batch is measured in parallel and takes as long as its longest measurement."""
    longest = [objective.hours[batch].max() for batch in trace.batches]
    return np.cumsum(longest) + np.array(trace.seconds) / 3600


def grid(steps: int) -> IndexArray:
    """Evenly spaced on both scales."""
    both = np.concatenate([np.geomspace(2, steps, POINTS), np.linspace(steps / POINTS, steps, POINTS)])
    return np.unique(np.clip(np.round(both), 1, steps)).astype(np.int64)


@cache
def machine() -> dict[str, Any]:
    """What ran it."""
    processor = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)  # noqa: S607
    return {
        "processor": processor[0].partition(": ")[2] if processor else platform.processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "commit": commit.stdout.strip(),
    }


def path_of(cell: Cell, folder: Path = FOLDER) -> Path:
    """Where its record lies, once it has run."""
    return folder / f"{cell.name}.json"


def keep(made: Record, path: Path) -> None:
    """All or nothing: a record that is there is whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(made))
    draft.replace(path)


def read_all(folder: Path = FOLDER) -> list[Record]:
    """Every record that has been made."""
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
