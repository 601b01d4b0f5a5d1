"""One long list, computed in one process, on two threads, in two worker processes and in two Ray actors.

Each way runs in a process of its own, so that its peak of memory is its own: a start with so many results, and batches
of ten. `seconds` are by the clock, `processor` seconds those of all processes that compute; bytes are those of the
arrays that the process which chooses sends to those that hold shards, and gets back. Everything else stays where it is.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from app.arrays import Array
from app.engine import Ask, EngineSettings, choose, measure, spread_over, start_from, sweep_threads
from app.engine.kernels import Gaussian
from benchmarks.one_thread import one_blas_thread
from benchmarks.shard_places import WAYS, Place, opened, peak_bytes, processor_seconds

ROUNDS, BATCH, COLUMNS = 3, 10, 20
PIECE = 250_000  # candidates that are made at once
MOST_SHARDS = 8
Figures = dict[str, Any]


def measured(candidates: Sequence[int], ways: Sequence[str], members: int, precision: str) -> list[Figures]:
    """A line for each length and way; `same choices` compares with the first way."""
    lines = []
    for length in candidates:
        picks: list[int] = []
        for way in ways:
            line = _in_a_process(way, length, members, precision)
            chosen = line.pop("picks")
            picks = picks or chosen
            lines.append({"candidates": length, "computing": way, **line, "same choices": chosen == picks})
            print(json.dumps(lines[-1]), file=sys.stderr, flush=True)
    return lines


def _in_a_process(way: str, length: int, members: int, precision: str) -> Figures:
    command = [sys.executable, "-m", "benchmarks.scale_lists", way, str(length), str(members), precision]
    told = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout  # noqa: S603
    line: Figures = json.loads(told.splitlines()[-1])
    return line


def _run(way: str, length: int, members: int, precision: str) -> Figures:
    """A study that knows `members` results: its start, and some batches."""
    X = _features(length, precision)
    counts, sums = np.zeros(length, dtype=np.int64), np.zeros(length)
    known = np.linspace(0, length - 1, members).astype(np.int64)
    counts[known], sums[known] = 1, _truth(X[known])
    settings = EngineSettings(Gaussian(2.0), lam=0.01, xi=0.1, dictionary="all", shard=-(-length // MOST_SHARDS))
    settings = settings.replace(precision=precision)
    with opened(way) as place, spread_over(place.spread), sweep_threads(WAYS[way]):
        watch = _Watch(place)
        state = start_from(X, settings, counts, sums)
        begun = watch.lap()
        picks: list[int] = []
        once = np.ones(length, dtype=np.int64)
        for number in range(1, ROUNDS + 1):
            chosen = choose(state, Ask(number, min_size=BATCH, max_size=BATCH, limit=once)).picks
            state = measure(state, chosen, _truth(X[chosen]), expected=False)
            picks += chosen.tolist()
        batch = watch.lap(ROUNDS)
        processes = {"process that chooses": os.getpid(), **place.others}
        peaks = {name: peak_bytes(pid) // 2**20 for name, pid in processes.items()}
    return {"start": begun, "batch": batch, "peak MB": peaks, "members": len(state.S), "picks": picks}


class _Watch:
    """What was spent since the last lap."""

    def __init__(self, place: Place) -> None:
        self._place, self._before = place, self._now(place)

    def lap(self, parts: int = 1) -> Figures:
        """Seconds, processor seconds, and megabytes out and back, of each of so many equal parts."""
        now = self._now(self._place)
        spent = [(after - before) / parts for after, before in zip(now, self._before, strict=True)]
        self._before = self._now(self._place)
        return {
            "seconds": round(spent[0], 3),
            "processor": round(spent[1], 2),
            "MB out": round(spent[2] / 1e6, 2),
            "MB back": round(spent[3] / 1e6, 2),
            "calls": spent[4],
        }

    @staticmethod
    def _now(place: Place) -> list[float]:
        processor = processor_seconds([os.getpid(), *place.others.values()])
        return [perf_counter(), processor, *(place.exchanged[name] for name in ("out", "back", "calls"))]


def _features(length: int, precision: str) -> Array:
    """(length, COLUMNS) random numbers, made a piece at a time."""
    rng, X = np.random.default_rng(1), np.empty((length, COLUMNS), dtype=precision)
    for first in range(0, length, PIECE):
        piece = X[first : first + PIECE]
        piece[...] = rng.random(piece.shape, dtype=np.float32)
    return X


def _truth(X: Array) -> Array:
    return np.asarray(np.sin(5 * X[:, 0].astype(float)) + X[:, -1])


def growth(lines: Sequence[Figures], part: str) -> Iterator[tuple[str, float]]:
    """Of each way, how the processor seconds grow with the length: 1 is linear."""
    for way in dict.fromkeys(line["computing"] for line in lines):
        own = [(line["candidates"], line[part]["processor"]) for line in lines if line["computing"] == way]
        (few, short), (many, long) = own[0], own[-1]
        if many > few and short > 0:
            yield way, float(np.log(long / short) / np.log(many / few))


def table(lines: Sequence[Figures]) -> str:
    """For people, and for docs/benchmarks."""
    columns: dict[str, Callable[[Figures], str]] = {
        "candidates": lambda line: f"{line['candidates']:,}",
        "computing": lambda line: str(line["computing"]),
        "start: seconds (processor)": lambda line: _seconds(line["start"]),
        "batch: seconds (processor)": lambda line: _seconds(line["batch"]),
        "start: MB out, back": lambda line: _exchanged(line["start"]),
        "batch: MB out, back": lambda line: _exchanged(line["batch"]),
        "peak MB of each process": lambda line: ", ".join(f"{peak:,}" for peak in line["peak MB"].values()),
        "same choices": lambda line: "yes" if line["same choices"] else "**no**",
    }
    rows = [[cell(line) for cell in columns.values()] for line in lines]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (list(columns), ["---"] * len(columns), *rows))


def _seconds(part: Figures) -> str:
    return f"{part['seconds']:.2f} ({part['processor']:.2f})"


def _exchanged(part: Figures) -> str:
    return f"{part['MB out']:.3g}, {part['MB back']:.3g}" if part["calls"] else "–"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale_lists", description="One way, for benchmarks.scale."
    )
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("candidates", type=int)
    parser.add_argument("members", type=int)
    parser.add_argument("precision", choices=["float32", "float64"])
    options = parser.parse_args()
    with one_blas_thread():
        print(json.dumps(_run(options.way, options.candidates, options.members, options.precision)))


if __name__ == "__main__":
    main()
