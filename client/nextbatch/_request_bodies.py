"""Request bodies from what people have: frames, files, arrays, rows."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from ._frames import frame_csv, frame_rows, frame_texts, is_frame, rows_csv
from ._npy import npy_bytes

# Larger tables go as CSV: a third of the size, and the server accepts more of it.
MAX_JSON_ROWS = 10_000
MAX_JSON_CELLS = 200_000

Body: TypeAlias = dict[str, Any]
"""The arguments of an httpx request that make up its body."""

Table: TypeAlias = Any
"""A pandas or polars frame, a path (CSV, .xlsx, .npy, Parquet, Arrow), a 2-d array, or rows as mappings."""

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

_MEDIA_TYPES = {
    ".csv": "text/csv",
    ".xlsx": XLSX,
    ".npy": "application/x-npy",
    ".parquet": "application/vnd.apache.parquet",
    ".arrow": "application/vnd.apache.arrow.file",
    ".feather": "application/vnd.apache.arrow.file",
    ".json": "application/json",
}


def candidates_body(
    data: Table, keys: Sequence[object] | None, parameters: Mapping[str, Any] | None, key: str | None = None
) -> Body:
    """The body that uploads `data`, or the space that `parameters` describe."""
    if (data is None) == (parameters is None):
        raise TypeError("pass either the candidates or parameters=")
    if parameters is not None:
        return {"json": parameters if "parameters" in parameters else {"parameters": parameters}}
    if isinstance(data, str | os.PathLike):
        return _file(Path(data), keys)
    if is_frame(data):
        return _content("text/csv", frame_csv(data, key))
    if _is_rows(data):
        return {"json": {"candidates": data}} if _is_small(data) else _content("text/csv", rows_csv(data))
    return _array(npy_bytes(data), keys)


def described_body(data: Table, descriptors: Mapping[str, Table]) -> Body:
    """The body that uploads rows, and what is known of the levels of some columns."""
    tables = {column: _as_rows(table, f"the descriptors of {column}") for column, table in descriptors.items()}
    return {"json": {"candidates": _as_rows(data, "the candidates"), "descriptors": tables}}


def _as_rows(data: Table, what: str) -> list[Mapping[str, Any]]:
    if data is not None and is_frame(data):
        return frame_rows(data)
    if _is_rows(data):
        return list(data)
    raise TypeError(f"pass {what} as a list of dicts or a frame: descriptors are joined row by row")


def text_columns(data: Table, key: str | None) -> list[str]:
    """The columns of texts in what goes as CSV, which cannot tell "7" from 7: they are declared."""
    if data is not None and is_frame(data):
        texts = set(frame_texts(data))
    elif _is_rows(data) and not _is_small(data):
        texts = {name for row in data for name, value in row.items() if isinstance(value, str)}
    else:
        return []
    return sorted(texts - {key or "key"})


def reports_body(data: Any) -> Body:
    """The body that reports `data`: a frame or a CSV file, one mapping or many."""
    if isinstance(data, str | os.PathLike):
        path = Path(data)
        return _content(XLSX if path.suffix.lower() == ".xlsx" else "text/csv", path.read_bytes())
    if is_frame(data):
        return _content("text/csv", frame_csv(data))
    if isinstance(data, Mapping):
        return {"json": report_of(data)}
    return {"json": {"observations": [report_of(report) for report in data]}}


def is_suggestion(text: str) -> bool:
    """Whether a text is the id of a suggestion, such as B3-S1. Only the full form: a key such as 3-1 is a key."""
    return re.fullmatch(r"B[0-9]+-S[0-9]+", text, re.IGNORECASE) is not None


def report_of(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report as the server expects it. (`candidate` is another word for `key`, which older servers know alone.)"""
    body = {name: value for name, value in report.items() if value is not None}
    if "key" in body:
        body["candidate"] = body.pop("key")
    measured_at = body.get("measured_at")
    if isinstance(measured_at, datetime):
        body["measured_at"] = measured_at.isoformat()
    return body


def _file(path: Path, keys: Sequence[object] | None) -> Body:
    media_type = _MEDIA_TYPES.get(path.suffix.lower())
    if media_type is None:
        raise ValueError(f"{path.name} is of an unknown type; pass a file that ends in {', '.join(_MEDIA_TYPES)}")
    content = path.read_bytes()
    return _array(content, keys) if media_type == "application/x-npy" else _content(media_type, content)


def _array(content: bytes, keys: Sequence[object] | None) -> Body:
    if keys is None:
        return _content("application/x-npy", content)
    lines = "".join(f"{key}\n" for key in keys).encode()
    return {"files": {"features": ("features.npy", content), "keys": ("keys.txt", lines)}}


def _content(media_type: str, content: bytes) -> Body:
    return {"content": content, "headers": {"Content-Type": media_type}}


def _is_rows(data: Any) -> bool:
    return isinstance(data, Sequence) and bool(data) and isinstance(data[0], Mapping)


def _is_small(rows: Sequence[Mapping[str, Any]]) -> bool:
    columns = max(1, len(rows[0]))
    return len(rows) <= MAX_JSON_ROWS and len(rows) * columns <= MAX_JSON_CELLS
