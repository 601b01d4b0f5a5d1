"""Asks while a backtest runs: simulations must not starve them.

    python -m benchmarks.beside_backtests

A server of its own, on SQLite. A study of 1,000 candidates asks for batches of five and reports them; rounds without a
backtest and rounds beside one take turns, so that whatever else the machine does disturbs both alike.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep

import httpx
import numpy as np

from benchmarks.asking import client_of
from tests.server import running

CANDIDATES, BATCH, KNOWN = 1000, 5, 400
QUANTILES = (0.5, 0.9)

X = np.random.default_rng(0).random((CANDIDATES, 4))
VALUES = 10 - 20 * np.abs(X - 0.4).sum(axis=1)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beside_backtests", description=__doc__)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--asks", type=int, default=10, help="In each round.")
    arguments = parser.parse_args()
    alone, beside = list[float](), list[float]()
    with TemporaryDirectory() as folder, running(Path(folder)) as server, client_of(server) as client:
        begin(client)
        for _ in range(arguments.rounds):
            alone += [ask(client) for _ in range(arguments.asks)]
            with backtesting(client):
                beside += [ask(client) for _ in range(arguments.asks)]
    for words, took in (("alone", alone), ("beside a backtest", beside)):
        cells = ", ".join(f"{1e3 * np.quantile(took, share):.0f} ms ({share:.0%})" for share in QUANTILES)
        print(f"{len(took)} asks {words}: {cells}, longest {1e3 * max(took):.0f} ms")


def begin(client: httpx.Client) -> None:
    """A study with some results, whose model is there."""
    names = ("a", "b", "c", "d")
    rows = [{"key": f"K{n}", **dict(zip(names, row, strict=True))} for n, row in enumerate(X.tolist())]
    client.put("/studies/asked", json={"repeats": "never"}).raise_for_status()
    client.put("/studies/asked/candidates", json={"candidates": rows}).raise_for_status()
    for _ in range(4):
        ask(client)


def ask(client: httpx.Client) -> float:
    """The seconds of an ask; its results are reported afterwards."""
    started = perf_counter()
    wanted = {"min_size": BATCH, "max_size": BATCH, "wait": 600}
    batch = client.post("/studies/asked/batches", json=wanted).raise_for_status().json()
    took = perf_counter() - started
    lines = [
        {"suggestion": one["suggestion"], "values": [float(VALUES[int(one["key"][1:])])] * one["replicates"]}
        for one in batch["suggestions"]
    ]
    client.post("/studies/asked/observations", json={"observations": lines}).raise_for_status()
    return took


@contextmanager
def backtesting(client: httpx.Client) -> Iterator[None]:
    """A backtest of a list, which must run all the time."""
    header = "a,b,c,d,value\n"
    lines = (",".join(map(str, [*row, value])) for row, value in zip(X[:KNOWN].tolist(), VALUES[:KNOWN], strict=True))
    params: dict[str, str | int] = {"objective": "value", "seeds": 100, "batch_size": 1, "measurements": 150}
    headers = {"Content-Type": "text/csv"}
    content = header + "\n".join(lines)
    made = client.post("/backtests", params=params, content=content, headers=headers).raise_for_status().json()
    path = f"/backtests/{made['number']}"
    while client.get(path).raise_for_status().json()["done"] < 1:
        sleep(0.1)
    yield
    state = client.get(path).raise_for_status().json()["state"]
    if state != "running":
        raise SystemExit(f"The backtest was {state} before the asks were through: raise its seeds.")
    client.post(f"{path}/cancel").raise_for_status()


if __name__ == "__main__":
    main()
