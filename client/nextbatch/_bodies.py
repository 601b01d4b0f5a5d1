"""What a person has at hand, as the body of a request."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from ._frames import frame_csv, is_frame, rows_csv
from ._npy import npy

MOST_JSON_ROWS = 10_000
MOST_JSON_CELLS = 200_000
"""Of a longer or wider table CSV is a third in size, and the server takes more of it."""

Parts: TypeAlias = dict[str, Any]
Table: TypeAlias = Any
"""A pandas or polars frame, a path (CSV, .npy, Parquet, Arrow), a 2-d array, or rows as mappings."""

_FILES = {
    ".csv": "text/csv",
    ".npy": "application/x-npy",
    ".parquet": "application/vnd.apache.parquet",
    ".arrow": "application/vnd.apache.arrow.file",
    ".feather": "application/vnd.apache.arrow.file",
    ".json": "application/json",
}


def candidates_body(data: Table, keys: Sequence[object] | None, parameters: Mapping[str, Any] | None) -> Parts:
    """The parts of a request that uploads `data` or describes a space by `parameters`."""
    if (data is None) == (parameters is None):
        raise TypeError("give the candidates, or parameters= to describe them: one of the two")
    if parameters is not None:
        return {"json": parameters if "parameters" in parameters else {"parameters": parameters}}
    if isinstance(data, str | os.PathLike):
        return file_body(Path(data), keys)
    if is_frame(data):
        return _typed("text/csv", frame_csv(data))
    if _is_rows(data):
        return {"json": {"candidates": data}} if _is_small(data) else _typed("text/csv", rows_csv(data))
    return _array(npy(data), keys)


def texts_of(data: Table, key: str | None) -> list[str]:
    """The columns of text, but for the key, where `data` are rows that go as CSV, which cannot tell "7" from 7."""
    if not _is_rows(data) or _is_small(data):
        return []
    texts = {name for row in data for name, value in row.items() if isinstance(value, str)}
    return sorted(texts - {key or "key"})


def reports_body(data: Any) -> Parts:
    """The parts of a request that reports `data`: a frame or a CSV file, one mapping or many."""
    if isinstance(data, str | os.PathLike):
        return _typed("text/csv", Path(data).read_bytes())
    if is_frame(data):
        return _typed("text/csv", frame_csv(data))
    if isinstance(data, Mapping):
        return {"json": report_of(data)}
    return {"json": {"observations": [report_of(one) for one in data]}}


def report_of(one: Mapping[str, Any]) -> dict[str, Any]:
    """A report as the server reads it; `key` may be said for `candidate`."""
    plain = {name: value for name, value in one.items() if value is not None}
    if "key" in plain:
        plain["candidate"] = plain.pop("key")
    moment = plain.get("measured_at")
    if isinstance(moment, datetime):
        plain["measured_at"] = moment.isoformat()
    return plain


def file_body(path: Path, keys: Sequence[object] | None = None) -> Parts:
    media_type = _FILES.get(path.suffix.lower())
    if media_type is None:
        raise ValueError(f"cannot tell what {path.name} is; known are {', '.join(_FILES)}")
    content = path.read_bytes()
    return _array(content, keys) if media_type == "application/x-npy" else _typed(media_type, content)


def _array(content: bytes, keys: Sequence[object] | None) -> Parts:
    if keys is None:
        return _typed("application/x-npy", content)
    lines = "".join(f"{key}\n" for key in keys).encode()
    return {"files": {"features": ("features.npy", content), "keys": ("keys.txt", lines)}}


def _typed(media_type: str, content: bytes) -> Parts:
    return {"content": content, "headers": {"Content-Type": media_type}}


def _is_rows(data: Any) -> bool:
    return isinstance(data, Sequence) and bool(data) and isinstance(data[0], Mapping)


def _is_small(rows: Sequence[Mapping[str, Any]]) -> bool:
    return len(rows) <= min(MOST_JSON_ROWS, MOST_JSON_CELLS // max(1, len(rows[0])))
