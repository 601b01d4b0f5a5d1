"""A peer's process as the driver sees it."""

import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path
from threading import Timer
from time import monotonic
from typing import IO, Any, Self

from benchmarks.labs.tables import Table

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENTS = ROOT / ".peers"
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}


class PeerError(Exception):
    """The peer failed; the message is its own."""


class Link:
    """One worker process; `processor` and `peak` are its seconds and its largest memory in bytes so far."""

    def __init__(self, adapter: str, python: Path | None = None, patience: float = 900) -> None:
        self._command = [str(python or python_of(adapter)), "-m", "benchmarks.peers.worker", adapter]
        self.patience, self._process = patience, self._begun()
        self.seconds = self.processor = self.peak = 0.0

    def start(self, **study: Any) -> None:
        """Begin a study, in a new process if the one before ended."""
        if self._process.poll() is not None:
            self._end()
            self._process = self._begun()
        self.call("start", **study)

    def call(self, do: str, **message: Any) -> Any:
        """What the peer answers; PeerError if it fails or takes too long."""
        timer, begun = Timer(self.patience, self._process.kill), monotonic()
        timer.start()
        try:
            answer = json.loads(self._exchange(json.dumps({"do": do, **message})))
        except PeerError as error:
            if monotonic() - begun > self.patience:
                raise PeerError(f"no answer in {self.patience:g} s") from error
            raise
        finally:
            timer.cancel()
        self.seconds, self.processor, self.peak = answer["seconds"], answer["processor"], answer["peak"]
        if "error" in answer:
            raise PeerError(answer["error"])
        return answer["result"]

    def _exchange(self, line: str) -> str:
        with suppress(BrokenPipeError):
            _there(self._process.stdin).write(line + "\n")
            _there(self._process.stdin).flush()
        answer = _there(self._process.stdout).readline()
        if not answer:
            raise PeerError(f"the process ended with {self._process.wait()}")
        return answer

    def _begun(self) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        environment = os.environ | ONE_THREAD
        return subprocess.Popen(  # noqa: S603
            self._command, cwd=ROOT, env=environment, text=True, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        self._process.kill()
        with suppress(BrokenPipeError):
            self._process.communicate()


def given(table: Table) -> dict[str, Any]:
    """What a peer gets to know of a table before anything is measured."""
    return {"columns": [column.name for column in table.columns], "values": table.cells()}


def python_of(adapter: str) -> Path:
    """The Python of the peer's environment."""
    return ENVIRONMENTS / adapter / "bin" / "python"


def _there(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe
