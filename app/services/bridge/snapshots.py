"""Models kept in the database, so that a fresh process need not compute them again. A cache: any of it may be missing.

Arrays are blobs named within the study, Z in groups of rows: what did not change since the last snapshot is there
already and costs nothing.
"""

import json
from dataclasses import asdict
from typing import Any

import numpy as np
from sqlalchemy import Connection

from app.domain.ledger import canonical
from app.domain.studies import Study
from app.engine import load as load_state
from app.engine import save as save_state
from app.engine.auto import Encoding, Fit, Objective
from app.services.arrays import ArrayCache
from app.services.bridge.build import build
from app.services.bridge.model import Array, Model
from app.services.tally import Tally, tally_from
from app.storage import blobs, engine_states
from app.storage.database import Database

ROWS = 16  # of Z in one blob
TALLY_ARRAYS = ("candidates", "values", "alive")


def save(database: Database, study: Study, model: Model) -> None:
    """Keep the model; older ones of the study make room."""
    saved = save_state(model.state)
    Z = saved.pop("Z")
    arrays = {name: value for name, value in saved.items() if isinstance(value, np.ndarray)}
    plain = {name: value for name, value in saved.items() if name not in arrays}
    scope = f"study {study.id}"
    record = {
        "state": plain,
        "arrays": {name: blobs.store(database, array, scope) for name, array in arrays.items()},
        "Z": [blobs.store(database, Z[start : start + ROWS], scope) for start in range(0, len(Z), ROWS)],
        "X": blobs.store(database, model.state.X, scope),
        "encoding": model.encoding.describe(),
        "objective": model.objective.describe(),
        "fit": model.fit.describe() if model.fit else None,
        "tally": {name: value for name, value in _tally(model.tally).items() if name not in TALLY_ARRAYS},
        "observations": {name: blobs.store(database, getattr(model.tally, name), scope) for name in TALLY_ARRAYS},
    }
    engine_states.keep(database, study, model.tally.head, model.tally.seq, build(), canonical(record))


def load(connection: Connection, study: Study, head: str, arrays: ArrayCache) -> Model | None:
    """The model after the event `head`; None if it is not there or of another build. May raise DamagedBlob."""
    kept = engine_states.find(connection, study, head, build())
    if kept is None:
        return None
    try:
        record = json.loads(kept)
        saved = {name: blobs.load(connection, digest) for name, digest in record["arrays"].items()}
        X = arrays.load(connection, record["X"])
        saved["Z"] = _stacked([blobs.load(connection, digest) for digest in record["Z"]], len(X))
        observed = {name: blobs.load(connection, digest) for name, digest in record["observations"].items()}
        return Model(
            tally_from({**record["tally"], **observed}),
            Encoding.build(record["encoding"]),
            Objective.build(record["objective"]),
            load_state({**record["state"], **saved}, X),
            Fit.build(record["fit"]) if record["fit"] else None,
        )
    except (ValueError, KeyError, TypeError):
        return None


def forget(database: Database, study: Study, head: str) -> None:
    """Drop a damaged model with its arrays, so that the next one writes them again."""
    engine_states.forget(database, study, head, build())


def _stacked(parts: list[Array], width: int) -> Array:
    return np.concatenate(parts) if parts else np.empty((0, width))


def _tally(tally: Tally) -> dict[str, Any]:
    plain = asdict(tally)
    pending = [[*place, *one.values()] for place, one in plain["pending"].items()]
    return plain | {"pending": pending, "unavailable": sorted(tally.unavailable)}
