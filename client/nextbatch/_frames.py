"""Data frames in and out: pandas or polars when they are there, never needed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from typing import Any, TypeAlias

from .answers import Candidate

Frame: TypeAlias = Any
"""A pandas frame where pandas is installed, else a polars one."""


def is_frame(data: Any) -> bool:
    return hasattr(data, "write_csv") or hasattr(data, "to_csv")


def frame_csv(frame: Any) -> bytes:
    """A pandas or polars frame as CSV; a pandas index goes along if it has a name."""
    if hasattr(frame, "write_csv"):
        return str(frame.write_csv()).encode()
    return str(frame.to_csv(index=frame.index.name is not None)).encode()


def rows_csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Rows as CSV, in the columns of the first."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def frame_of(rows: Iterable[Mapping[str, Any]]) -> Frame:
    """A pandas frame, else a polars one."""
    table = list(rows)
    for library in ("pandas", "polars"):
        try:
            return import_module(library).DataFrame(table)
        except ImportError:
            continue
    raise ImportError("a frame needs pandas or polars: install one of them, or leave as_frame out")


def candidate_row(candidate: Candidate) -> dict[str, Any]:
    """A candidate as one flat row, with the posterior if it is there."""
    row = {"key": candidate.key, **candidate.features, **candidate.attributes, "available": candidate.available}
    return row | (asdict(candidate.posterior) if candidate.posterior else {})
