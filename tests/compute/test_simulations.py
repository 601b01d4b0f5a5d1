"""The child process that simulates studies for a backtest."""

import subprocess
import sys
from pathlib import Path

from tests.compute.telling import until
from tests.processes import is_running
from tests.server import ROOT

PROGRAM = """
import time
import numpy as np
from app.compute.simulations import StoredTask, _start
from app.domain.backtests import BacktestPlan
from app.domain.candidates import Column
from app.domain.studies import Configuration
from app.modelling.simulating import KnownTable

rows = 2000
numbers, codes = np.linspace(0, 1, rows)[:, None], np.empty((rows, 0), dtype="<i4")
table = KnownTable((Column("t", "number", "feature"),), numbers, codes, np.sin(numbers[:, 0]), np.arange(1, rows + 1))
plan = BacktestPlan(Configuration(), seeds=100, batch_sizes=(1,), measurements=200, within=0.1)
task = StoredTask(table, plan)
print(task.folder, _start(task.folder).pid, flush=True)
time.sleep(600)
"""


def test_a_simulation_ends_with_its_server_and_leaves_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=ROOT, env={"TMPDIR": str(tmp_path)}
    ) as server:
        folder, child = server.stdout.readline().split()
        until(lambda: (Path(folder) / "runs.jsonl").exists() or not is_running(int(child)))
        server.kill()
    until(lambda: not is_running(int(child)))
    assert list(tmp_path.iterdir()) == []
