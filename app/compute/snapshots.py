"""Models in the database, so that a fresh process need not compute them again. A cache: any of it may be missing.

Arrays are blobs within the scope of the study, Z in groups of rows: rows that did not change since the last snapshot
are stored already and cost nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection

from app.arrays import Array
from app.compute.ledger_states import LedgerPrefix
from app.domain.codec import canonical, from_plain, read_json, to_plain
from app.modelling.drafting import build
from app.modelling.model import LoadFeatures
from app.modelling.outline import is_outline, restore_outline
from app.modelling.saved_model import SavedModel
from app.modelling.saved_study import load_study_model
from app.modelling.study_model import StudyModel
from app.storage import blobs
from app.storage import snapshots as rows
from app.storage.array_cache import ArrayCache
from app.storage.database import Database

ROWS_PER_BLOB = 16  # of Z


@dataclass(frozen=True)
class SnapshotRecord:
    """A saved model whose arrays are named by their digests."""

    plain: Mapping[str, Any]
    arrays: Mapping[str, str]
    X: str
    Z: tuple[str, ...] = ()

    def digests(self) -> set[str]:
        return {*self.arrays.values(), self.X, *self.Z}


def save(database: Database, prefix: LedgerPrefix, saved: SavedModel) -> None:
    """Save the model after a prefix; older ones of the study make room."""

    def store(array: Array) -> str:
        return blobs.store(database, array, scope=f"study {prefix.study_id}")

    record = SnapshotRecord(
        plain=saved.plain,
        arrays={name: store(array) for name, array in saved.arrays.items()},
        X=store(saved.X),
        Z=tuple(store(saved.Z[start : start + ROWS_PER_BLOB]) for start in range(0, len(saved.Z), ROWS_PER_BLOB)),
    )
    text = canonical(to_plain(record))
    rows.keep(database, prefix.study_id, prefix.head, prefix.seq, build(), text, record.digests())


def load(connection: Connection, study_id: int, head: str, arrays: ArrayCache) -> SavedModel | None:
    """The saved model after the entry `head`; None if there is none of this build. May raise DamagedBlob."""
    text = rows.find(connection, study_id, head, build())
    if text is None:
        return None
    try:
        record = from_plain(SnapshotRecord, read_json(text))
        X = arrays.load(connection, record.X)
        Z = [blobs.load(connection, digest) for digest in record.Z]
        stacked = np.concatenate(Z) if Z else np.empty((0, len(X)))
        loaded = {name: blobs.load(connection, digest) for name, digest in record.arrays.items()}
        return SavedModel(record.plain, loaded, X, stacked)
    except (ValueError, KeyError, TypeError):
        return None


def restore(saved: SavedModel, features: LoadFeatures) -> StudyModel | None:
    """The model that was saved; None if this program cannot read it. It may take as long as a start over the list."""
    try:
        return restore_outline(saved, features) if is_outline(saved) else load_study_model(saved)
    except (ValueError, KeyError, TypeError):
        return None


def forget(database: Database, study_id: int, head: str) -> None:
    """Drop a damaged snapshot with its arrays, so that the next one writes them again."""
    rows.forget(database, study_id, head, build())
