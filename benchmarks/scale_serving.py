"""What compute workers are good for: reports while asks run all the time, and asks per second.

Each line is one server with so many compute workers (0: it computes itself), or with so many actors on a Ray cluster
that it starts on this machine. Reports are sent one after the other by one client, first at rest and then while others
ask and report in studies of their own. Milliseconds unless said otherwise. Rest and load are measured in the same run,
one after the other: compare within a line, and lines of one run. Memory is that of all processes of the server; a page
that several share is counted once.

The clients share the machine with the server. So those that ask are a process of their own
(`python -m benchmarks.scale_serving ADDRESS KEY`), which costs the one that reports no time but the processor's, and
what each of them costs is said.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, sleep
from typing import Any

import httpx
import numpy as np

from benchmarks.shard_places import processor_seconds
from tests import postgres
from tests.processes import descendants
from tests.server import Server, running

STUDIES = 4  # that are asked at the same time, by one client each
BATCH = 5
WORDS = {"processes": "workers", "ray": "Ray actors"}
Figures = dict[str, float | str]


def measured(options: argparse.Namespace) -> list[Figures]:
    """A line for each database and each way to compute."""
    return list(_lines(options))


def _lines(options: argparse.Namespace) -> Iterator[Figures]:
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
            _begin(client, study, options.length, options.results)
    rest = _reports(server, options.seconds)
    with _asking(server):
        busy = _reports(server, options.seconds)
    with _asking(server) as clients:
        own, below, theirs = server.process.pid, descendants(server.process.pid), clients.process.pid
        before, begun = [_processor([own]), _processor(below), _processor([theirs])], perf_counter()
        asked = clients.asked
        sleep(options.seconds)
        after, asks = [_processor([own]), _processor(below), _processor([theirs])], clients.asked - asked
        alone = asks / (perf_counter() - begun)
    spent = [(now - then) / max(1, asks) for now, then in zip(after, before, strict=True)]
    p99 = [float(np.quantile(times, 0.99)) for times in (rest, busy)]
    return {
        "report p50 at rest": float(np.median(rest)),
        "report p50 during asks": float(np.median(busy)),
        "report p99 at rest": p99[0],
        "report p99 during asks": p99[1],
        "p99 ratio": p99[1] / p99[0],
        "reports/s during asks": 1000 / float(np.mean(busy)),
        "asks/s alone": alone,
        "processor time per ask: server process": spent[0],
        "processor time per ask: what computes": spent[1],
        "processor time per ask: clients": spent[2],
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
    caller = Caller(server.address, server.key or "")
    for number in count():
        begun = perf_counter()
        if begun > end:
            break
        line = {"candidate": f"K{number % 1000}", "value": _truth(number), "ref": f"{begun}-{number}"}
        caller.post("/studies/reports/observations", line)
        times.append(1000 * (perf_counter() - begun))
    return times


class Caller:
    """As little of an HTTP client as will do: a client of more comforts takes a millisecond of the processor."""

    def __init__(self, address: str, key: str) -> None:
        self._connection = HTTPConnection(address.removeprefix("http://"), timeout=120)
        self._headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def post(self, path: str, content: Any) -> Any:
        self._connection.request("POST", f"/v1{path}", json.dumps(content), self._headers)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"{path}: {answer.status} {text.decode()}")
        return json.loads(text)


class AskingClients:
    """A process of its own whose threads ask, each in a study, until they are told to end."""

    def __init__(self, server: Server) -> None:
        command = [sys.executable, "-m", "benchmarks.scale_serving", server.address, server.key or ""]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603
        self.asked = 0
        self._reader = Thread(target=self._count, daemon=True)
        self._reader.start()

    def _count(self) -> None:
        for _ in self.process.stdout or ():
            self.asked += 1

    def close(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait()
        self._reader.join()


@contextmanager
def _asking(server: Server) -> Iterator[AskingClients]:
    """Clients that ask all the time, a new result between two asks."""
    clients = AskingClients(server)
    try:
        while clients.asked < 2 * STUDIES and clients.process.poll() is None:
            sleep(0.01)
        yield clients
        if clients.process.poll() is not None:
            raise SystemExit("the clients that ask have ended")
    finally:
        clients.close()


def _ask(address: str, key: str, study: str, ended: Event) -> None:
    caller = Caller(address, key)
    while not ended.is_set():
        asked = {"worker": f"w{perf_counter()}", "min_size": BATCH, "max_size": BATCH, "wait": 600}
        batch = caller.post(f"/studies/{study}/batches", asked)
        print("asked", flush=True)
        lines = [
            {"suggestion": line["suggestion"], "values": [_truth(int(line["key"][1:]))] * line["replicates"]}
            for line in batch["suggestions"]
        ]
        caller.post(f"/studies/{study}/observations", {"observations": lines})


def _ask_until_told(address: str, key: str) -> None:
    """The main function of the process that asks."""
    ended = Event()
    with ThreadPoolExecutor(STUDIES) as pool:
        clients = [pool.submit(_ask, address, key, study, ended) for study in _asked()]
        sys.stdin.read()
        ended.set()
    for client in clients:
        client.result()


def _processor(pids: Sequence[int]) -> float:
    """Milliseconds that some processes have used."""
    return 1000 * processor_seconds(list(pids))


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


def table(lines: Sequence[Figures]) -> str:
    names = list(lines[0])
    rows = [[_cell(line[name]) for name in names] for line in lines]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (names, ["---"] * len(names), *rows))


def _cell(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:.3g}"


def add_options(parser: argparse.ArgumentParser) -> None:
    """What `benchmarks.scale` can be told about this part."""
    group = parser.add_argument_group("serving")
    group.add_argument("--workers", type=int, nargs="*", default=[0, 1, 2], help="numbers of compute workers")
    group.add_argument("--actors", type=int, nargs="*", default=[2], help="numbers of Ray actors")
    group.add_argument("--databases", nargs="+", default=["sqlite", "postgresql"], choices=["sqlite", "postgresql"])
    group.add_argument("--seconds", type=float, default=20, help="of each measurement")
    group.add_argument("--length", type=int, default=20_000, help="candidates of each study")
    group.add_argument("--results", type=int, default=40, help="that each study has at the beginning")


if __name__ == "__main__":
    _ask_until_told(*sys.argv[1:])
