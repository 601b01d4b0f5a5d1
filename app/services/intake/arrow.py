"""Candidates from a Parquet or Arrow file, if the extra `arrow` is installed."""

from importlib.util import find_spec
from pathlib import Path

from app.domain.errors import UnsupportedMediaType
from app.services.intake.build import build_table
from app.services.intake.declared import Declared
from app.services.intake.findings import Findings
from app.services.intake.limits import Limits
from app.services.intake.table import CandidateTable

_FIRST_ROW = 1


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
    from app.services.intake.arrow_columns import read_columns  # noqa: PLC0415 - polars is optional

    findings = Findings()
    columns = read_columns(path, form, declared, limits, _FIRST_ROW, findings)
    findings.stop_if_any()
    return build_table(columns, _FIRST_ROW, declared, limits, findings)
