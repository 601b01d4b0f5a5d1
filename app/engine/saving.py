"""A state as a plain dictionary of arrays, numbers and texts, and back: the same bits, no pickle.

The features X are not part of it, because the caller keeps them anyway: `load(saved, X)`.
"""

from typing import Any

import numpy as np

from app.arrays import FloatArray
from app.engine.embedding import Embedding
from app.engine.settings import EngineSettings
from app.engine.state import State

FORMAT = 1
ARRAYS = (
    "counts",
    "sums",
    "pending",
    "available",
    "latest",
    "S",
    "G",
    "H",
    "w",
    "mean",
    "residual",
    "projected_leverage",
)
SCALARS = ("information", "step", "updates")


def save(state: State) -> dict[str, Any]:
    """Everything the next batch depends on except X; "Z" is the large one, (m, A)."""
    arrays = {name: getattr(state, name) for name in ARRAYS}
    scalars = {name: getattr(state, name) for name in SCALARS}
    plain = {"settings": state.settings.describe(), "rescues": dict(state.rescues)}
    weights = {} if state.weights is None else {"weights": state.weights}
    return {"format": FORMAT, **plain, **scalars, **arrays, **weights, "Z": state.Z}


def load(saved: dict[str, Any], X: FloatArray) -> State:
    """The state that was saved, over the same features."""
    if saved["format"] != FORMAT:
        raise ValueError(f"this engine reads format {FORMAT}, not {saved['format']}")
    Z = np.asarray(saved["Z"], dtype=float)
    if len(X) != Z.shape[1]:
        raise ValueError(f"{len(X)} rows of features for a state of {Z.shape[1]} candidates")
    arrays: dict[str, Any] = {name: np.array(saved[name]) for name in ARRAYS}
    scalars: dict[str, Any] = {name: saved[name] for name in SCALARS}
    weights = saved.get("weights")
    settings = EngineSettings.build(saved["settings"])
    return State(
        settings=settings,
        X=np.ascontiguousarray(X, dtype=float),
        embedding=Embedding.empty(len(X), settings.shard).filled(Z),
        rescues=dict(saved["rescues"]),
        weights=None if weights is None else np.array(weights),
        **arrays,
        **scalars,
    )
