"""The parts of a block of candidates as arrays: stored as blobs, named in the block."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.storage import blobs, texts
from app.storage.database import Database

Array = NDArray[Any]


def store(
    database: Database,
    numbers: Array,
    codes: Array,
    keys: Sequence[str] | None,
    attributes: Mapping[str, Sequence[Any]],
) -> dict[str, Any]:
    """Make every part durable; the digests by part, as a block names them."""
    return {
        "numbers": blobs.store(database, numbers),
        "codes": blobs.store(database, codes),
        "keys": None if keys is None else _store_all(database, {**_text(keys), **_index(keys)}),
        "attributes": {name: _store_all(database, _attribute(values)) for name, values in attributes.items()},
    }


def _store_all(database: Database, parts: Mapping[str, Array]) -> dict[str, str]:
    return {part: blobs.store(database, array) for part, array in parts.items()}


def _attribute(values: Sequence[Any]) -> dict[str, Array]:
    """Numbers and booleans as float64 with NaN where missing, anything else as text."""
    if any(isinstance(value, str) for value in values):
        return _text(values)
    return {"numbers": np.array([np.nan if value is None else float(value) for value in values], dtype="<f8")}


def _text(values: Sequence[str | None]) -> dict[str, Array]:
    ends, content = texts.pack(values)
    return {"ends": ends, "content": content}


def _index(keys: Sequence[str]) -> dict[str, Array]:
    hashes, rows = texts.index(keys)
    return {"hashes": hashes, "rows": rows}
