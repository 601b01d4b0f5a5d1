"""A state as a plain dictionary of arrays, numbers and texts, and back: the same bits, no pickle.

The features X are not part of it, because the caller keeps them anyway: `load(saved, X)`. A state with a focus is saved
as the state of its last sweep, with what it knows of the candidates near the top beside it, and nothing is computed.
"""

from typing import Any, cast

import numpy as np

from app.arrays import FloatArray
from app.engine.focus import Focused, advanced, with_focus
from app.engine.remote_shards import embedding_over
from app.engine.settings import EngineSettings
from app.engine.state import State

FORMAT = 1
WITH_FOCUS = 2
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


NOW = ("pending", "available", "latest", "information", "step")
"""What a state with a focus has of its own."""


def save(state: State) -> dict[str, Any]:
    """Everything the next batch depends on except X; "Z" is the large one, (m, A)."""
    if state.focus is not None:
        return _save_focus(state)
    arrays = {name: getattr(state, name) for name in ARRAYS}
    scalars = {name: getattr(state, name) for name in SCALARS}
    plain = {"settings": state.settings.describe(), "rescues": dict(state.rescues)}
    weights = {} if state.weights is None else {"weights": state.weights}
    return {"format": FORMAT, **plain, **scalars, **arrays, **weights, "Z": state.Z}


def load(saved: dict[str, Any], X: FloatArray) -> State:
    """The state that was saved, over the same features."""
    if saved["format"] not in (FORMAT, WITH_FOCUS):
        raise ValueError(f"this engine reads formats {FORMAT} and {WITH_FOCUS}, not {saved['format']}")
    settings = EngineSettings.build(saved["settings"])
    Z = np.asarray(saved["Z"], dtype=settings.precision)
    if len(X) != Z.shape[1]:
        raise ValueError(f"{len(X)} rows of features for a state of {Z.shape[1]} candidates")
    arrays: dict[str, Any] = {name: np.array(saved[name]) for name in ARRAYS}
    scalars: dict[str, Any] = {name: saved[name] for name in SCALARS}
    weights = saved.get("weights")
    features = np.ascontiguousarray(X, dtype=settings.precision)
    state = State(
        settings=settings,
        X=features,
        embedding=embedding_over(features, settings.shard, settings.precision).filled(Z),
        rescues=dict(saved["rescues"]),
        weights=None if weights is None else np.array(weights),
        **arrays,
        **scalars,
    )
    return state if saved["format"] == FORMAT else _load_focus(state, saved)


def _save_focus(state: State) -> dict[str, Any]:
    focus = cast("Focused", state.focus)
    near = {f"near {name}": value for name, value in save(focus.near).items()}
    now = {f"now {name}": getattr(state, name) for name in NOW}
    own = {"numbers": focus.numbers, "now rescues": dict(state.rescues), "format": WITH_FOCUS}
    return {**save(focus.anchor), **near, **now, **own}


def _load_focus(anchor: State, saved: dict[str, Any]) -> State:
    numbers = np.array(saved["numbers"])
    near = load({name[5:]: value for name, value in saved.items() if name.startswith("near ")}, anchor.X[numbers])
    counts, sums = anchor.counts.copy(), anchor.sums.copy()
    counts[numbers], sums[numbers] = near.counts, near.sums
    state = advanced(with_focus(anchor, Focused.on(anchor, numbers, near)), near, counts, sums)
    now = {name: saved[f"now {name}"] for name in NOW}
    now = {name: np.array(value) if isinstance(value, np.ndarray) else value for name, value in now.items()}
    return state.replace(**now, rescues=dict(saved["now rescues"]))
