"""What compute workers are good for: reports while asks run all the time, and asks per second.

    python -m benchmarks.scale [--workers 0 1 2] [--actors 2] [--databases sqlite postgresql] [--seconds 20] [--json]

Each line is one server with so many compute workers (0: it computes itself), or with so many actors on a Ray cluster
that it starts on this machine. Reports are sent one after the other by one client, first at rest and then while others
ask and report in studies of their own. Milliseconds unless said otherwise. Rest and load are measured in the same run,
one after the other: compare within a line, and lines of one run. Memory is that of all processes of the server; a page
that several share is counted once.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from time import perf_counter, sleep

import httpx
import numpy as np

from tests import postgres
from tests.processes import descendants
from tests.server import Server, running

STUDIES = 4  # that are asked at the same time, by one client each
BATCH = 5
WORDS = {"processes": "workers", "ray": "Ray actors"}
Figures = dict[str, float | str]


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    lines = list(_measured(options))
    if options.json:
        print(json.dumps(lines))
    else:
        print(_table(lines))
    return 0


def _measured(options: argparse.Namespace) -> Iterator[Figures]:
    with TemporaryDirectory(prefix="nextbatch-scale-") as folder:
        for name in options.databases:
            for kind, workers in (*(("processes", n) for n in options.workers), *(("ray", n) for n in options.actors)):
                own = Path(folder) / f"{name}-{kind}-{workers}"
                with _database(name) as address, _server(own, address, kind, workers) as server:
                    line: Figures = {"database": name, "computing": f"{workers} {WORDS[kind]}"}
                    yield {**line, **_figures(server, options), "memory of all processes (MB)": _memory(server)}


def _figures(server: Server, options: argparse.Namespace) -> Figures:
    with _client(server) as client:
        for study in ("reports", *_asked()):
            _begin(client, study, options.candidates, options.results)
        rest = _reports(server, options.seconds)
        with _asking(server) as batches:
            begun, before = perf_counter(), len(batches)
            busy = _reports(server, options.seconds)
            with_reports = (len(batches) - before) / (perf_counter() - begun)
        spent = _processor(server)
        with _asking(server) as batches:
            sleep(options.seconds)
            alone = len(batches) / options.seconds
        spent = _processor(server) - spent
    p99 = [float(np.quantile(times, 0.99)) for times in (rest, busy)]
    return {
        "report p50 at rest": float(np.median(rest)),
        "report p50 during asks": float(np.median(busy)),
        "report p99 at rest": p99[0],
        "report p99 during asks": p99[1],
        "p99 ratio": p99[1] / p99[0],
        "reports/s during asks": 1000 / float(np.mean(busy)),
        "asks/s beside reports": with_reports,
        "asks/s alone": alone,
        "ask p50": float(np.median(batches)) if batches else float("nan"),
        "processor time of the server process per ask": spent / max(1, len(batches)),
    }


def _asked() -> list[str]:
    return [f"asked-{number}" for number in range(STUDIES)]


def _begin(client: httpx.Client, study: str, candidates: int, results: int) -> None:
    """A study in auto mode that knows some results already."""
    rng = np.random.default_rng(1)
    X = rng.random((candidates, 5))
    rows = "".join(f"K{number},{','.join(f'{x:.5f}' for x in row)}\n" for number, row in enumerate(X))
    client.put(f"/studies/{study}", json={}).raise_for_status()
    csv = {"Content-Type": "text/csv"}
    client.put(f"/studies/{study}/candidates", content=f"key,a,b,c,d,e\n{rows}", headers=csv).raise_for_status()
    measured = [{"candidate": f"K{number}", "value": _truth(number)} for number in range(results)]
    client.post(f"/studies/{study}/observations", json={"observations": measured}).raise_for_status()


def _truth(number: int) -> float:
    return float(np.sin(number / 7) + number % 13 / 13)


def _reports(server: Server, seconds: float) -> list[float]:
    """Milliseconds of each report, one after the other for so long."""
    times, end = [], perf_counter() + seconds
    with _client(server) as client:
        for number in count():
            begun = perf_counter()
            if begun > end:
                break
            line = {"candidate": f"K{number % 1000}", "value": _truth(number), "ref": f"{begun}-{number}"}
            client.post("/studies/reports/observations", json=line).raise_for_status()
            times.append(1000 * (perf_counter() - begun))
    return times


@contextmanager
def _asking(server: Server) -> Iterator[list[float]]:
    """Milliseconds of each ask that clients make all the time, a new result between two of them."""
    times: list[float] = []
    ended = Event()
    with ThreadPoolExecutor(STUDIES) as pool:
        clients = [pool.submit(_ask, server, study, times, ended) for study in _asked()]
        try:
            yield times
        finally:
            ended.set()
    for client in clients:
        client.result()


def _ask(server: Server, study: str, times: list[float], ended: Event) -> None:
    with _client(server) as client:
        while not ended.is_set():
            begun = perf_counter()
            asked = {"worker": f"w{begun}", "min_size": BATCH, "max_size": BATCH, "wait": 600}
            batch = client.post(f"/studies/{study}/batches", json=asked).raise_for_status().json()
            times.append(1000 * (perf_counter() - begun))
            lines = [
                {"suggestion": line["suggestion"], "values": [_truth(int(line["key"][1:]))] * line["replicates"]}
                for line in batch["suggestions"]
            ]
            client.post(f"/studies/{study}/observations", json={"observations": lines}).raise_for_status()


def _processor(server: Server) -> float:
    """Milliseconds that the server process itself has used, without its workers."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(server: Server) -> float:
    """Megabytes of the server and everything below it; a page that several share is counted once."""
    rollups = [Path(f"/proc/{pid}/smaps_rollup") for pid in (server.process.pid, *descendants(server.process.pid))]
    shares = [line.split()[1] for rollup in rollups for line in rollup.read_text().splitlines() if line[:4] == "Pss:"]
    return sum(map(int, shares)) / 1024


def _client(server: Server) -> httpx.Client:
    headers = {"Authorization": f"Bearer {server.key}"}
    return httpx.Client(base_url=f"{server.address}/v1", headers=headers, timeout=120)


@contextmanager
def _server(folder: Path, address: str | None, kind: str, workers: int) -> Iterator[Server]:
    settings = {"NEXTBATCH_MAX_REQUESTS_PER_SECOND": "0", "NEXTBATCH_COMPUTE": kind}
    settings["NEXTBATCH_COMPUTE_WORKERS"] = str(workers)
    # One key asks here, and one key holds all threads but one at the most.
    settings["NEXTBATCH_ENGINE_THREADS"] = str(STUDIES + 1)
    with running(folder, address, 1, **settings) as server:
        while httpx.get(f"{server.address}/readyz").json()["compute"]["ready"] < workers:
            sleep(0.05)
        yield server


@contextmanager
def _database(name: str) -> Iterator[str | None]:
    if name == "sqlite":
        yield None
        return
    with postgres.running_server() as server:
        yield postgres.create_database(server, "scale")


def _table(lines: Sequence[Figures]) -> str:
    names = list(lines[0])
    rows = [[_cell(line[name]) for name in names] for line in lines]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (names, ["---"] * len(names), *rows))


def _cell(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.3g}"


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 1, 2], help="numbers of compute workers")
    parser.add_argument("--actors", type=int, nargs="*", default=[2], help="numbers of Ray actors")
    parser.add_argument("--databases", nargs="+", default=["sqlite", "postgresql"], choices=["sqlite", "postgresql"])
    parser.add_argument("--seconds", type=float, default=20, help="of each measurement")
    parser.add_argument("--candidates", type=int, default=20_000, help="of each study")
    parser.add_argument("--results", type=int, default=40, help="that each study has at the beginning")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
