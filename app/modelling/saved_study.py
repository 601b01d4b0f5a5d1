"""The model of a study, of one quantity or of several, as plain JSON and plain arrays, and back.

The models of several quantities share the features of the candidates and the ledger: both are saved once. The ledger of
one quantity follows from that of the study.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.arrays import Array
from app.domain.codec import from_plain, to_plain
from app.engine import load as load_state
from app.engine import save as save_state
from app.engine.auto import Encoding, FittedModel, ObjectiveTransform
from app.modelling.ledger_state import LedgerState
from app.modelling.model import Model
from app.modelling.saved_model import (
    SavedLedger,
    SavedModel,
    load_ledger,
    load_model,
    observation_arrays,
    save_ledger,
    save_model,
)
from app.modelling.study_model import SeveralModels, StudyModel


@dataclass(frozen=True)
class _SavedQuantity:
    """Everything of a quantity's model but its arrays and its ledger; `rows` of Z are its own."""

    name: str
    rows: int
    engine: Mapping[str, Any]
    encoding: Mapping[str, Any]
    objective: Mapping[str, Any]
    fit: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class _SavedSeveral:
    """Everything of several models but their arrays; `further` and `errors` name the quantities that have such."""

    ledger: SavedLedger
    quantities: tuple[_SavedQuantity, ...]
    further: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


def save_study_model(model: StudyModel) -> SavedModel | None:
    """The model as a snapshot holds it; None if its quantities do not share their features."""
    if isinstance(model, Model):
        return save_model(model)
    X = model.first.state.X
    if not all(quantity.state.X is X or np.array_equal(quantity.state.X, X) for quantity in model.quantities.values()):
        return None
    ledger, arrays = model.ledger, observation_arrays(model.ledger)
    arrays |= {f"ledger further {name}": values for name, values in ledger.further.items()}
    arrays |= {f"ledger errors {name}": errors for name, errors in ledger.errors.items()}
    quantities, embeddings = [], []
    for number, (name, quantity) in enumerate(model.quantities.items()):
        state = save_state(quantity.state)
        embeddings.append(state.pop("Z"))
        own: dict[str, Array] = {part: value for part, value in state.items() if isinstance(value, np.ndarray)}
        arrays |= {f"quantity {number} {part}": array for part, array in own.items()}
        plain = {part: value for part, value in state.items() if part not in own}
        quantities.append(_saved_quantity(name, quantity, plain, len(embeddings[-1])))
    saved = _SavedSeveral(save_ledger(ledger), tuple(quantities), tuple(ledger.further), tuple(ledger.errors))
    return SavedModel(to_plain(saved), arrays, X, np.concatenate(embeddings))


def load_study_model(saved: SavedModel) -> StudyModel:
    """The model that was saved; raises ValueError, KeyError or TypeError if it is not one."""
    if "quantities" not in saved.plain:
        return load_model(saved)
    plain, arrays = from_plain(_SavedSeveral, saved.plain), saved.arrays
    ledger = replace(
        load_ledger(plain.ledger, arrays),
        further={name: arrays[f"ledger further {name}"] for name in plain.further},
        errors={name: arrays[f"ledger errors {name}"] for name in plain.errors},
    )
    measured = {quantity.name: quantity for quantity in ledger.configuration.quantities}
    models, first_row = {}, 0
    for number, quantity in enumerate(plain.quantities):
        mine = f"quantity {number} "
        own = {name.removeprefix(mine): array for name, array in arrays.items() if name.startswith(mine)}
        own["Z"] = saved.Z[first_row : first_row + quantity.rows]
        models[quantity.name] = _load_quantity(quantity, ledger.of(measured[quantity.name]), own, saved.X)
        first_row += quantity.rows
    return SeveralModels(ledger, models)


def _saved_quantity(name: str, model: Model, engine: Mapping[str, Any], rows: int) -> _SavedQuantity:
    fit = model.fit.describe() if model.fit else None
    return _SavedQuantity(name, rows, engine, model.encoding.describe(), model.objective.describe(), fit)


def _load_quantity(quantity: _SavedQuantity, ledger: LedgerState, arrays: Mapping[str, Array], X: Array) -> Model:
    return Model(
        ledger,
        Encoding.build(dict(quantity.encoding)),
        ObjectiveTransform.build(dict(quantity.objective)),
        load_state({**quantity.engine, **arrays}, X),
        FittedModel.build(dict(quantity.fit)) if quantity.fit else None,
    )
