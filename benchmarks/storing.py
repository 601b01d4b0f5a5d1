"""Durable results a second of what people would use instead, each in an environment of its own (`make peers`).

    .peers/optuna/bin/python -m benchmarks.storing optuna FILE SECONDS

This module is run by the peer's own Python, so it imports nothing of the server.
"""

import subprocess
import sys
from pathlib import Path
from time import perf_counter

ROOT = Path(__file__).resolve().parents[1]


def rate_of(peer: str, folder: Path, seconds: float) -> float | None:
    """Results a second of a peer that stores them in SQLite; None if its environment was not made."""
    python = ROOT / ".peers" / peer / "bin" / "python"
    if not python.exists():
        print(f"{peer} was not measured: it has no environment here (make peers)", file=sys.stderr)
        return None
    command = [str(python), "-m", "benchmarks.storing", peer, str(folder / f"{peer}.sqlite3"), str(seconds)]
    return float(subprocess.check_output(command, cwd=ROOT, text=True).splitlines()[-1])  # noqa: S603


def _optuna(file: str, seconds: float) -> float:
    """`study.tell` on trials that were asked for before: each is a few transactions of the storage."""
    import optuna  # noqa: PLC0415

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(storage=f"sqlite:///{file}", sampler=optuna.samplers.RandomSampler(seed=0))
    asked = [study.ask({"t": optuna.distributions.IntDistribution(0, 999)}) for _ in range(200)]
    begun, told = perf_counter(), 0
    while told < len(asked) and perf_counter() - begun < seconds:
        study.tell(asked[told], told / 7)
        told += 1
    return told / (perf_counter() - begun)


PEERS = {"optuna": _optuna}

if __name__ == "__main__":
    print(PEERS[sys.argv[1]](sys.argv[2], float(sys.argv[3])))
