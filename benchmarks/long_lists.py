"""A long list through a really running server: upload, pages, asks, restart; seconds, and memory of each process.

    python -m benchmarks.long_lists [--candidates 1000000 …] [--workers 0 2] [--actors 2] [--keys] [--json]

The file is written a piece at a time, and sent the same way. Every figure is [seconds, processor seconds of server and
workers]; on a busy machine only the second says much. Every read is done twice: the first also pays for what it loads.
Memory is in megabytes. Peaks are those of the system (VmHWM), which counts pages of mapped files while they are in
memory; "own" are the pages that belong to the process alone.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, sleep
from typing import Any, NamedTuple

import httpx
import numpy as np

from tests.processes import descendants
from tests.server import Server, running

PIECE = 1 << 20
ROWS = 100_000  # that are made at once
STUDY = "/studies/long"
BATCH = 5
COLUMNS = 20
WORDS = {"processes": "workers", "ray": "Ray actors"}
PLAIN = {
    "page": "limit=50",
    "search": "limit=50&search=99999",
    "sort": "limit=50&sort=-x1",
    "filter": "limit=50&where=x2>0.9995",
}
POSTERIOR = {
    "page with posterior": "limit=50&posterior=true",
    "sort by mean": "limit=50&posterior=true&sort=-mean",
    "filter by mean": "limit=50&posterior=true&where=mean>0.9",
}
THEORY = {"kernel": {"kind": "gaussian", "lengthscale": 2.0}, "noise": 0.1, "scale": 1.0}
Figures = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    ways = [*(Way("processes", workers) for workers in options.workers), *(Way("ray", n) for n in options.actors)]
    agree = True
    for candidates in options.candidates:
        chosen = []
        for way in ways:
            with TemporaryDirectory(prefix="nextbatch-long-", dir=options.folder) as folder:
                figures = _measured(Path(folder), candidates, way, options)
            chosen.append(figures.pop("choices"))
            agree &= chosen[-1] == chosen[0]
            figures["same choices"] = chosen[-1] == chosen[0]
            print(json.dumps(figures) if options.json else _table(figures), flush=True)
    return 0 if agree else 1


class Way(NamedTuple):
    """Where batches are computed: in so many worker processes (0: the server's own) or Ray actors."""

    kind: str
    workers: int


def _measured(folder: Path, candidates: int, way: Way, options: argparse.Namespace) -> Figures:
    files = _write(folder, candidates, options)
    left_out = ("candidates", "workers", "actors", "folder", "json")
    figures: Figures = {"candidates": candidates, "computing": f"{way.workers} {WORDS[way.kind]}"}
    figures |= {name: value for name, value in vars(options).items() if name not in left_out}
    choices: list[list[str]] = []
    with _server(folder / "data", candidates, way) as server, _client(server, server.key) as client:
        watch = Watch(server, figures)
        client.put(STUDY, json=_study(options)).raise_for_status()
        watch("upload", lambda: _upload(client, files, options.form))
        watch.memory("memory after the upload")
        _read(client, watch, PLAIN)
        for number in range(1, options.asks + 1):
            watch(f"ask {number}", lambda: choices.append(_ask_and_report(client)))
        _read(client, watch, POSTERIOR)
        watch("report", lambda: _report(client))
        watch.memory("memory")
        key = server.key
    with _server(folder / "data", candidates, way) as server, _client(server, key) as client:
        watch = Watch(server, figures, " after a restart")
        _read(client, watch, PLAIN)
        for number in (1, 2):
            watch(f"ask {number}", lambda: choices.append(_ask_and_report(client)))
        watch.memory("memory")
    return figures | {"choices": choices}


class Watch:
    """Seconds of what a server does, by the clock and of the processor, and its memory; told as soon as it is known."""

    def __init__(self, server: Server, figures: Figures, when: str = "") -> None:
        self._server, self._figures, self._when = server, figures, when

    def __call__(self, name: str, work: Callable[[], Any]) -> None:
        begun, spent = perf_counter(), self._processor()
        work()
        self._note(name, [round(perf_counter() - begun, 3), round(self._processor() - spent, 2)])

    def memory(self, name: str) -> None:
        """Note the memory of all processes."""
        self._note(name, _memory(self._server))

    def _note(self, name: str, value: Any) -> None:
        self._figures[f"{name}{self._when}"] = value
        print(f"{name}{self._when}: {value}", file=sys.stderr, flush=True)

    def _processor(self) -> float:
        """Of the server and everything below it, and of what these started and has ended."""
        pids = (self._server.process.pid, *descendants(self._server.process.pid))
        fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
        ticks = sum(int(ticks) for own in fields for ticks in own[11:15])
        return ticks / os.sysconf("SC_CLK_TCK")


def _write(folder: Path, candidates: int, options: argparse.Namespace) -> dict[str, Path]:
    files = {"features": folder / f"list.{options.form}"}
    (_write_npy if options.form == "npy" else _write_parquet)(files["features"], candidates, options)
    if options.keys and options.form == "npy":
        files["keys"] = folder / "keys.txt"
        with files["keys"].open("w") as file:
            for start in range(0, candidates, ROWS):
                file.writelines(f"CPD-{number:08d}\n" for number in range(start, min(start + ROWS, candidates)))
    return files


def _write_npy(path: Path, candidates: int, options: argparse.Namespace) -> None:
    array = np.lib.format.open_memmap(path, "w+", np.dtype(f"<{options.dtype}"), (candidates, COLUMNS))
    for rows, block in _blocks(candidates, COLUMNS):
        array[rows] = block
    array.flush()


def _write_parquet(path: Path, candidates: int, options: argparse.Namespace) -> None:
    import polars as pl  # noqa: PLC0415  (an extra)

    dtype = pl.Float32 if options.dtype == "f4" else pl.Float64
    X = np.concatenate([block for _, block in _blocks(candidates, COLUMNS)])
    frame = pl.DataFrame({f"x{column + 1}": X[:, column] for column in range(COLUMNS)}).cast(dtype)
    if options.keys:
        frame = frame.with_columns(key=pl.format("CPD-{}", pl.int_range(candidates)))
    frame.write_parquet(path, row_group_size=ROWS)


def _blocks(candidates: int, columns: int) -> Iterator[tuple[slice, np.ndarray[Any, Any]]]:
    rng = np.random.default_rng(1)
    for start in range(0, candidates, ROWS):
        rows = slice(start, min(start + ROWS, candidates))
        yield rows, rng.random((rows.stop - rows.start, columns)).round(4)


def _upload(client: httpx.Client, files: dict[str, Path], form: str) -> None:
    url = f"{STUDY}/candidates"
    if "keys" in files:
        with files["features"].open("rb") as features, files["keys"].open("rb") as keys:
            answer = client.put(url, files={"features": features, "keys": keys})
    else:
        kind = "application/x-npy" if form == "npy" else "application/vnd.apache.parquet"
        with files["features"].open("rb") as features:
            pieces = iter(lambda: features.read(PIECE), b"")
            answer = client.put(url, content=pieces, headers={"Content-Type": kind})
    if answer.is_error:
        raise SystemExit(answer.text)


def _read(client: httpx.Client, watch: Watch, queries: Mapping[str, str]) -> None:
    """Each kind of page twice; another offset asks for what no cache of answers holds."""
    for name, text in queries.items():
        for again, offset in {"": 0, ", again": 10}.items():
            watch(f"{name}{again}", partial(_get, client, f"{STUDY}/candidates?{text}&offset={offset}"))


def _get(client: httpx.Client, url: str) -> Any:
    answer = client.get(url)
    if answer.is_error:
        raise SystemExit(f"{url}: {answer.text}")
    return answer.json()


def _ask_and_report(client: httpx.Client) -> list[str]:
    """The keys of a batch, whose results are then reported."""
    asked = {"worker": f"w{perf_counter()}", "min_size": BATCH, "max_size": BATCH, "wait": 600}
    answer = client.post(f"{STUDY}/batches", json=asked)
    if answer.is_error:
        raise SystemExit(answer.text)
    lines = [
        {"suggestion": line["suggestion"], "values": [_truth(line["features"])] * line["replicates"]}
        for line in answer.json()["suggestions"]
    ]
    client.post(f"{STUDY}/observations", json={"observations": lines}).raise_for_status()
    return [line["key"] for line in answer.json()["suggestions"]]


def _report(client: httpx.Client) -> None:
    key = _get(client, f"{STUDY}/candidates?limit=1")["candidates"][0]["key"]
    client.post(f"{STUDY}/observations", json={"candidate": key, "value": 0.5}).raise_for_status()


def _truth(features: dict[str, float]) -> float:
    return float(np.sin(3 * features["x1"]) + features["x2"] * features["x3"])


def _memory(server: Server) -> dict[str, dict[str, int]]:
    """Megabytes of the server process and of every process below it, by what they are."""
    below = [Path(f"/proc/{pid}") for pid in descendants(server.process.pid)]
    named = {f"{_name(process)} {process.name}": _memory_of(process) for process in below}
    return {"server": _memory_of(Path(f"/proc/{server.process.pid}")), **named}


def _name(process: Path) -> str:
    """What a process is, in a word or two."""
    words = (process / "cmdline").read_text().replace("\0", " ")
    known = {"app.compute.worker": "worker", "on_ray.gateway": "gateway", "on_ray.head": "cluster", "Actor": "actor"}
    return next((word for sign, word in known.items() if sign in words), "of Ray" if "ray" in words else "other")


def _memory_of(process: Path) -> dict[str, int]:
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    wanted = {"peak": "VmHWM", "now": "VmRSS", "own": "RssAnon"}
    return {word: int(status[name].split()[0]) // 1024 for word, name in wanted.items()}


def _client(server: Server, key: str | None) -> httpx.Client:
    return httpx.Client(base_url=f"{server.address}/v1", headers={"Authorization": f"Bearer {key}"}, timeout=1200)


@contextmanager
def _server(data: Path, candidates: int, way: Way) -> Iterator[Server]:
    cells = candidates * COLUMNS
    settings = {
        "NEXTBATCH_MAX_CANDIDATES": candidates,
        "NEXTBATCH_MAX_CELLS": max(20_000_000, cells),
        "NEXTBATCH_MAX_BODY_BYTES": 2**30 + 10 * cells,
        "NEXTBATCH_COMPUTE": way.kind,
        "NEXTBATCH_COMPUTE_WORKERS": way.workers,
        "NEXTBATCH_ENGINE_SECONDS": 600,
        "NEXTBATCH_WORK_SECONDS": 1200,
        "NEXTBATCH_ARRAY_FOLDER": data / "arrays",
    }
    with running(data, None, 1, **{name: str(value) for name, value in settings.items()}) as server:
        while httpx.get(f"{server.address}/readyz").json()["compute"]["ready"] < way.workers:
            sleep(0.2)
        yield server


def _study(options: argparse.Namespace) -> dict[str, Any]:
    study: dict[str, Any] = {"shard": options.shard or None, "precision": options.precision}
    return study | ({"theory": THEORY} if options.mode == "theory" else {})


def _table(figures: Figures) -> str:
    return "\n".join(f"{name}: {value}" for name, value in figures.items())


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.long_lists", description=__doc__.splitlines()[0])
    parser.add_argument("--candidates", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--form", choices=["npy", "parquet"], default="npy")
    parser.add_argument("--dtype", choices=["f4", "f8"], default="f8")
    parser.add_argument("--keys", action="store_true", help="with keys of their own, not only numbers")
    parser.add_argument("--mode", choices=["auto", "theory"], default="auto")
    parser.add_argument("--workers", type=int, nargs="*", default=[1], help="numbers of compute workers")
    parser.add_argument("--actors", type=int, nargs="*", default=[], help="numbers of Ray actors")
    parser.add_argument("--precision", choices=["float32"], help="of the study; by default float64")
    parser.add_argument("--shard", type=int, default=0, help="candidates in a shard; 0 for one piece")
    parser.add_argument("--asks", type=int, default=3, help="before the restart")
    parser.add_argument("--folder", type=Path, help="for the data; by default the system's")
    parser.add_argument("--json", action="store_true")
    return parser


if __name__ == "__main__":
    sys.exit(main())
