"""Uploads over HTTP to a really running server: seconds, memory, and what other requests feel meanwhile.

    python -m benchmarks.upload [folder]

A million × 20 as `.npy` and 100 000 × 20 as CSV. The first ratio is to writing and syncing the same bytes in the same
run, on the same disk: the least that any durable store needs. The second is to reading them twice with NumPy, checking
that every number is finite.
"""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import perf_counter, sleep

import httpx
import numpy as np

from tests.server import Server, running

IDLE_SECONDS = 5.0
NPY = "application/x-npy"


@dataclass(frozen=True)
class Result:
    name: str
    megabytes: float
    seconds: float
    processor_seconds: float  # of the server, the other reads included
    sync_seconds: float
    reading_seconds: float  # once
    peak_megabytes: float
    idle_p99: float
    busy_p99: float
    busy_max: float

    def row(self) -> str:
        return (
            f"| {self.name} | {self.megabytes:.0f} MB | {self.seconds:.2f} s | {self.processor_seconds:.2f} s "
            f"| {self.seconds / self.sync_seconds:.1f}× | {self.seconds / (2 * self.reading_seconds):.1f}× "
            f"| {self.peak_megabytes:.0f} MB | {self.idle_p99:.1f} ms | {self.busy_p99:.1f} ms "
            f"| {self.busy_max:.0f} ms |"
        )


HEADER = (
    "| upload | size | time | server's processor | against write + fsync | against reading twice "
    "| server's peak memory | idle p99 | p99 meanwhile | slowest |\n|---|---|---|---|---|---|---|---|---|---|"
)


def matrix() -> bytes:
    file = io.BytesIO()
    np.save(file, np.random.default_rng(0).standard_normal((1_000_000, 20)))
    return file.getvalue()


def table() -> bytes:
    values = np.random.default_rng(1).standard_normal((100_000, 20)).round(6)
    header = ",".join(["key", *(f"x{n}" for n in range(1, 21))])
    lines = (f"K{n},{','.join(map(repr, row))}" for n, row in enumerate(values.tolist()))
    return "\n".join([header, *lines, ""]).encode()


@contextmanager
def reading(server: Server) -> Iterator[list[float]]:
    """Somebody else's reads, one after the other, in milliseconds."""
    took: list[float] = []
    done = Event()

    def read() -> None:
        with httpx.Client(base_url=server.address, headers=_key(server)) as client:
            while not done.is_set():
                started = perf_counter()
                client.get("/v1/studies").raise_for_status()
                took.append((perf_counter() - started) * 1e3)
                sleep(0.002)

    thread = Thread(target=read)
    thread.start()
    try:
        yield took
    finally:
        done.set()
        thread.join()


def measure(name: str, body: bytes, media_type: str, folder: Path) -> Result:
    """One upload to a fresh server."""
    with running(folder) as server:
        with httpx.Client(base_url=server.address, headers=_key(server), timeout=600) as client:
            client.put("/v1/studies/s", json={}).raise_for_status()
            with reading(server) as idle:
                sleep(IDLE_SECONDS)
            with reading(server) as busy:
                started, processor = perf_counter(), _processor_seconds(server.process.pid)
                headers = {"Content-Type": media_type}
                answer = client.put("/v1/studies/s/candidates", content=_pieces(body), headers=headers)
                seconds = perf_counter() - started
                processor = _processor_seconds(server.process.pid) - processor
            answer.raise_for_status()
        return Result(
            name,
            len(body) / 1e6,
            seconds,
            processor,
            _write_and_sync(body, folder / "same-bytes"),
            _read(media_type, folder / "same-bytes"),
            _peak_megabytes(server.process.pid),
            float(np.percentile(idle, 99)),
            float(np.percentile(busy, 99)),
            max(busy),
        )


def _key(server: Server) -> dict[str, str]:
    return {"Authorization": f"Bearer {server.key}"}


def _pieces(body: bytes) -> Iterator[bytes]:
    yield from (body[start : start + 65536] for start in range(0, len(body), 65536))


def _write_and_sync(body: bytes, path: Path) -> float:
    started = perf_counter()
    with path.open("wb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())
    return perf_counter() - started


def _read(media_type: str, path: Path) -> float:
    """Seconds of reading a file that was just written."""
    started = perf_counter()
    values = np.load(path) if media_type == NPY else np.loadtxt(path, delimiter=",", skiprows=1, usecols=range(1, 21))
    if not np.isfinite(values).all():
        raise ValueError("the table has a number that is not finite")
    return perf_counter() - started


def _peak_megabytes(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM"))


def _processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    uploads = (
        ("1 000 000 × 20 `.npy`", matrix(), NPY),
        ("100 000 × 20 CSV", table(), "text/csv"),
    )
    print(HEADER)
    for name, body, media_type in uploads:
        with TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as folder:
            print(measure(name, body, media_type, Path(folder)).row(), flush=True)


if __name__ == "__main__":
    main()
