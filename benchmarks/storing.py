"""Durable results a second of what people would use instead, each in an environment of its own (`make peers`).

    .peers/optuna/bin/python -m benchmarks.storing optuna FILE SECONDS

This module is run by the peer's own Python, so it imports nothing of the server.
"""

import logging
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import TypeVar

T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[1]


def rate_of(peer: str, folder: Path, seconds: float) -> float | None:
    """Results a second of a peer that stores them in SQLite; None if its environment was not made."""
    python = ROOT / ".peers" / peer / "bin" / "python"
    if not python.exists():
        print(f"{peer} was not measured: it has no environment here (make peers)", file=sys.stderr)
        return None
    command = [str(python), "-m", "benchmarks.storing", peer, str(folder / f"{peer}.sqlite3"), str(seconds)]
    told = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)  # noqa: S603
    if told.returncode:
        print(f"{peer} was not measured: {told.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return float(told.stdout.splitlines()[-1])


def _optuna(file: str, seconds: float) -> float:
    """`study.tell` on trials that were asked for before: each is a few transactions of the storage."""
    import optuna  # noqa: PLC0415

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(storage=f"sqlite:///{file}", sampler=optuna.samplers.RandomSampler(seed=0))
    asked = [study.ask({"t": optuna.distributions.IntDistribution(0, 999)}) for _ in range(200)]
    return _rate(asked, seconds, lambda trial: study.tell(trial, trial.number / 7))


def _ax(file: str, seconds: float) -> float:
    """`complete_trial` on trials that were attached before, with the client that saves each change to its database."""
    from ax.service.ax_client import AxClient, ObjectiveProperties  # noqa: PLC0415
    from ax.storage.sqa_store.db import create_all_tables, get_engine, init_engine_and_session_factory  # noqa: PLC0415
    from ax.storage.sqa_store.structs import DBSettings  # noqa: PLC0415

    logging.disable(logging.WARNING)
    address = f"sqlite:///{file}"
    init_engine_and_session_factory(url=address)
    create_all_tables(get_engine())
    client = AxClient(db_settings=DBSettings(url=address), verbose_logging=False, random_seed=0)
    client.create_experiment(
        name="s",
        parameters=[{"name": "t", "type": "range", "bounds": [0, 999], "value_type": "int"}],
        objectives={"y": ObjectiveProperties(minimize=False)},
    )
    attached = [client.attach_trial({"t": number})[1] for number in range(60)]
    return _rate(attached, seconds, lambda trial: client.complete_trial(trial, raw_data={"y": trial / 7}))


def _vizier(file: str, seconds: float) -> float:
    """`complete` on suggestions of random search, over gRPC to a server with its database, in this process."""
    from vizier.service import clients, pyvizier, servers  # noqa: PLC0415

    logging.disable(logging.WARNING)
    server = servers.DefaultVizierServer(host="127.0.0.1", database_url=f"sqlite:///{file}")
    clients.environment_variables.server_endpoint = server.endpoint
    config = pyvizier.StudyConfig(algorithm="RANDOM_SEARCH")
    config.search_space.root.add_int_param("t", 0, 999)
    config.metric_information.append(pyvizier.MetricInformation("y", goal=pyvizier.ObjectiveMetricGoal.MAXIMIZE))
    study = clients.Study.from_study_config(config, owner="bench", study_id="s")
    suggested = study.suggest(count=1000, client_id="bench")
    return _rate(suggested, seconds, lambda trial: trial.complete(pyvizier.Measurement({"y": trial.id / 7})))


def _rate(items: Sequence[T], seconds: float, tell: Callable[[T], object]) -> float:
    """How many a second can be told, for some seconds or until all are."""
    begun, told = perf_counter(), 0
    while told < len(items) and perf_counter() - begun < seconds:
        tell(items[told])
        told += 1
    return told / (perf_counter() - begun)


PEERS = {"optuna": _optuna, "ax": _ax, "vizier": _vizier}

if __name__ == "__main__":
    print(PEERS[sys.argv[1]](sys.argv[2], float(sys.argv[3])), flush=True)
    os._exit(0)  # servers and threads of a peer may not end by themselves
