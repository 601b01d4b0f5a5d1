"""Simulated studies in a child process: started, watched and ended. One at a time in each server process."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Lock
from time import monotonic

import numpy as np

from app.compute.simulation_child import RUNS, read_task, write_task
from app.domain.backtests import BacktestPlan
from app.modelling.backtesting import Runs
from app.modelling.simulating import KnownTable
from app.temporary_folders import TemporaryFolder

POLL_SECONDS = 0.5


class SimulationFailed(Exception):
    """The child died, or took too long."""


class StoredTask:
    """What is to be simulated, in a temporary folder: it may wait for hours, and takes no memory until then."""

    def __init__(self, table: KnownTable, plan: BacktestPlan) -> None:
        self._temporary = TemporaryFolder()
        self.folder, self.discard = self._temporary.path, self._temporary.discard
        write_task(self.folder, table, plan)

    def table(self) -> KnownTable:
        return read_task(self.folder)[1]


class Simulations:
    """Runs backtests; closing it ends the one that runs."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._closed = Event()
        self._turn = Lock()  # one child at a time: the others wait for their turn

    def run(self, task: StoredTask, plan: BacktestPlan, proceed: Callable[[int], bool]) -> Runs | None:
        """Simulate every study of the plan; None if `proceed`, told how many are done, says no.

        Raises SimulationFailed.
        """
        with self._turn:
            return self._watch(_start(task.folder), task.folder, plan, proceed)

    def close(self) -> None:
        """End what runs; its backtest says so."""
        self._closed.set()

    def _watch(
        self, child: subprocess.Popen[bytes], folder: Path, plan: BacktestPlan, proceed: Callable[[int], bool]
    ) -> Runs | None:
        began = monotonic()
        try:
            while child.poll() is None:
                if self._closed.wait(POLL_SECONDS):
                    raise SimulationFailed("The server was stopped. Start the backtest again.")
                if monotonic() - began > self._seconds:
                    raise SimulationFailed(f"It took more than {self._seconds:g} seconds. Simulate less.")
                if not proceed(len(_lines(folder))):
                    return None
        finally:
            child.kill()
            child.communicate()
        runs = runs_in(folder)
        if sum(map(len, runs.values())) < plan.runs:
            raise SimulationFailed("The simulation ended early. See the log of the server.")
        return runs


def runs_in(folder: Path) -> Runs:
    """What the child has written: the candidates that each study measured, by batch size."""
    runs: Runs = {}
    for line in _lines(folder):
        size, measured = json.loads(line)
        runs.setdefault(size, []).append(np.array(measured, dtype=np.intp))
    return runs


def _lines(folder: Path) -> list[str]:
    file = folder / RUNS
    return [line for line in file.read_text().splitlines(keepends=True) if line.endswith("\n")] if file.exists() else []


def _start(folder: Path) -> subprocess.Popen[bytes]:
    """A child that ends when its standard input does: with this process, however that ends."""
    environment = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT") if name in os.environ}
    environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "app.compute.simulation_child", str(folder)]
    return subprocess.Popen(  # noqa: S603  (nothing of it was sent by anybody)
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
