"""Candidates from a Parquet or Arrow file, if the extra `arrow` is installed.

A damaged file can make polars abort the whole process (a length in the file becomes an allocation that fails), which no
`except` catches. So a child process reads it, with limits on memory and time; if the child dies, the file is refused.
"""

import json
import subprocess
import sys
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from app.domain.errors import UnsupportedMediaType
from app.services.intake.arrow_exchange import Request, load_columns
from app.services.intake.build import build_table
from app.services.intake.declared import Declared
from app.services.intake.findings import Findings, refuse
from app.services.intake.limits import Limits
from app.services.intake.table import CandidateTable

FIRST_ROW = 1


class ArrowNotInstalled(UnsupportedMediaType):
    """This server was set up without the extra `arrow`."""

    detail = "Parquet and Arrow need the extra `arrow` of nextbatch-server; upload CSV or .npy instead."


def read_parquet(path: Path, declared: Declared | None = None, limits: Limits | None = None) -> CandidateTable:
    """The candidates of a Parquet file; raises InvalidCandidates, or ArrowNotInstalled."""
    return _read(path, "parquet", declared or Declared(), limits or Limits())


def read_arrow(path: Path, declared: Declared | None = None, limits: Limits | None = None) -> CandidateTable:
    """The candidates of an Arrow IPC (Feather) file; raises InvalidCandidates, or ArrowNotInstalled."""
    return _read(path, "arrow", declared or Declared(), limits or Limits())


def _read(path: Path, form: str, declared: Declared, limits: Limits) -> CandidateTable:
    if find_spec("polars") is None:
        raise ArrowNotInstalled
    with TemporaryDirectory() as folder:
        _run_child(Request(str(path.absolute()), form, folder, FIRST_ROW, declared, limits), limits.arrow_seconds)
        columns = load_columns(Path(folder), form)
    return build_table(columns, FIRST_ROW, declared, limits, Findings())


def _run_child(request: Request, seconds: float) -> None:
    """Start the reader with nothing of our environment; what it could not do shows in what it did not write."""
    command = [sys.executable, "-I", "-m", "app.services.intake.arrow_child"]
    try:
        subprocess.run(  # noqa: S603 - our own module, and the request goes through the standard input
            command,
            input=json.dumps(asdict(request)).encode(),
            env={"POLARS_MAX_THREADS": "2"},
            cwd=request.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        message = f"reading took more than {seconds:g} seconds; upload CSV or .npy"
        raise refuse(f"slow-{request.form}", message) from None
