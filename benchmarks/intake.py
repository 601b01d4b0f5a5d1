"""How fast candidates are taken in, and how much memory a million of them needs.

    python -m benchmarks.intake [--rows 100000] [--npy-rows 1000000] [--columns 20]

CSV is compared with Python's csv.reader alone on the same file in the same run, since the machine may be busy. Memory
is that of a fresh process: `own` is what it allocated, `resident` counts the pages of the mapped file as well, which
the system can take back at any time.
"""

import argparse
import csv
import multiprocessing
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from app.services.intake.csv_reading import read_csv
from app.services.intake.npy_reading import read_npy

_RUNS = 5
_STATUS = Path("/proc/self/status")


def main() -> None:
    """Print one line per figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--npy-rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    wanted = parser.parse_args()
    with TemporaryDirectory() as folder:
        _csv(Path(folder) / "candidates.csv", wanted.rows, wanted.columns)
        for dtype in ("<f8", "<f4"):
            _npy(Path(folder) / "candidates.npy", wanted.npy_rows, wanted.columns, dtype)


def _csv(path: Path, rows: int, columns: int) -> None:
    values = np.random.default_rng(0).normal(size=(rows, columns)).tolist()
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["key", *(f"x{number}" for number in range(columns))])
        writer.writerows([f"c{number}", *row] for number, row in enumerate(values))
    ours, plain = _alternately(lambda: read_csv(path), lambda: _read_plainly(path))
    print(f"CSV {rows} x {columns}: {ours:.2f} s, {rows / ours:,.0f} rows/s, {ours / plain:.1f} x csv.reader alone")


def _read_plainly(path: Path) -> None:
    with path.open(newline="", encoding="utf-8") as file:
        for _ in csv.reader(file):
            pass


def _alternately(first: Callable[[], object], second: Callable[[], object]) -> tuple[float, float]:
    """The best time of each, taken in turns so that a busy moment hurts both."""
    times = [(_seconds(first), _seconds(second)) for _ in range(_RUNS)]
    return min(time for time, _ in times), min(time for _, time in times)


def _seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def _npy(path: Path, rows: int, columns: int, dtype: str) -> None:
    array = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(rows, columns))
    array[:] = np.random.default_rng(0).normal(size=(rows, columns))
    array.flush()
    del array
    with multiprocessing.get_context("spawn").Pool(1) as fresh:
        seconds, own, resident = fresh.apply(_read_npy_watched, (path,))
    size = path.stat().st_size / 2**20
    print(
        f".npy {rows} x {columns} {dtype} ({size:.0f} MiB): {seconds:.2f} s, {rows / seconds:,.0f} rows/s,"
        f" memory above the start: own {own:.0f} MiB, resident {resident:.0f} MiB"
    )


def _read_npy_watched(path: Path) -> tuple[float, float, float]:
    """Seconds, and the peaks of own and resident memory above those before reading."""
    before, peaks, done = _memory(), [_memory()], threading.Event()

    def watch() -> None:
        while not done.wait(0.002):
            peaks.append(_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    seconds = _seconds(lambda: read_npy(path))
    done.set()
    watcher.join()
    own, resident = (max(peak[kind] for peak in peaks) - before[kind] for kind in (0, 1))
    return seconds, own, resident


def _memory() -> tuple[float, float]:
    """Anonymous and resident memory of this process in MiB."""
    fields = dict(line.split(":", 1) for line in _STATUS.read_text().splitlines())
    return int(fields["RssAnon"].split()[0]) / 1024, int(fields["VmRSS"].split()[0]) / 1024


if __name__ == "__main__":
    if not _STATUS.exists():
        sys.exit("memory is read from /proc, which this system does not have")
    main()
