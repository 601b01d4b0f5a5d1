"""Data frames in and out, with pandas or polars if one of them is installed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from typing import Any, TypeAlias

from .answers import Candidate

KEY_COLUMNS = {"key", "candidate", "suggestion"}

Frame: TypeAlias = Any
"""A pandas frame if pandas is installed, else a polars frame."""


def is_frame(data: Any) -> bool:
    return hasattr(data, "write_csv") or hasattr(data, "to_csv")


def frame_csv(frame: Any, key: str | None = None) -> bytes:
    """A pandas or polars frame as CSV. Labels in a pandas index are the keys, unless another column has them."""
    if hasattr(frame, "write_csv"):
        return str(frame.write_csv()).encode()
    index = frame.index
    named = all(name is not None for name in index.names)
    labelled = index.nlevels == 1 and (named or type(index).__name__ != "RangeIndex")
    if labelled and key is None and not KEY_COLUMNS & set(frame.columns):
        return str(frame.to_csv(index_label="key")).encode()
    return str(frame.to_csv(index=named)).encode()


def frame_rows(frame: Any) -> list[Mapping[str, Any]]:
    """The rows of a frame as plain values; None where one is missing."""
    if hasattr(frame, "to_dicts"):
        return list(frame.to_dicts())
    return list(json.loads(frame.to_json(orient="records")))


def frame_texts(frame: Any) -> list[str]:
    """The columns of a frame that hold texts."""
    return [str(name) for name in frame.columns if any(isinstance(value, str) for value in frame[name])]


def rows_csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Rows as CSV, with the columns of the first row."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def frame_of(rows: Iterable[Mapping[str, Any]]) -> Frame:
    """A pandas frame if pandas is installed, else a polars frame."""
    table = list(rows)
    for library in ("pandas", "polars"):
        try:
            return import_module(library).DataFrame(table)
        except ImportError:
            continue
    raise ImportError("as_frame=True needs pandas or polars: install one of them, or leave it out")


def candidate_row(candidate: Candidate) -> dict[str, Any]:
    """A candidate as one flat row, with its posterior if it has one."""
    row = {"key": candidate.key, **candidate.features, **candidate.attributes, "available": candidate.available}
    if candidate.posterior is None:
        return row
    known = asdict(candidate.posterior)
    quantities = known.pop("quantities")
    chances = {name: known.pop(name) for name in ("feasible", "success", "on_front", "front_chance")}
    named = {f"{name} {what}": number for name, numbers in quantities.items() for what, number in numbers.items()}
    return row | known | named | {name: chance for name, chance in chances.items() if chance is not None}


def observation_row(document: Mapping[str, Any]) -> dict[str, Any]:
    """An observation as one flat row; several quantities have a column each instead of `value`."""
    row = {name: value for name, value in document.items() if name not in ("values", "missing")}
    values = document.get("values", {})
    if len(values) + len(document.get("missing", ())) > 1:
        del row["value"]
        row |= {name: measured["value"] for name, measured in values.items()}
        row |= dict.fromkeys(document["missing"])
    return row
