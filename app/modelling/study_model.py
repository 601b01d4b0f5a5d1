"""The model of a study: one model for each quantity that it measures, on the same list.

A study of one quantity has the `Model` of that quantity and nothing else. A study of several has a `Model` of each, as
if it were a study of that quantity alone; they share the features of the candidates.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from app.modelling.ledger_state import LedgerState
from app.modelling.model import LoadFeatures, Model, advance, with_features


@dataclass(frozen=True, eq=False)
class SeveralModels:
    """The ledger state of a study, and a model for each of its quantities by name, the first objective first."""

    ledger: LedgerState
    quantities: Mapping[str, Model]

    @property
    def first(self) -> Model:
        return next(iter(self.quantities.values()))

    @property
    def nbytes(self) -> int:
        shared = self.first.state.X.nbytes * (len(self.quantities) - 1)
        return sum(model.nbytes for model in self.quantities.values()) - shared


StudyModel: TypeAlias = Model | SeveralModels


def advance_study(base: StudyModel | None, ledger: LedgerState, load: LoadFeatures) -> StudyModel:
    """The model after `ledger`, from that of an earlier prefix where nothing in between forbids it."""
    if ledger.configuration.is_plain:
        return advance(base if isinstance(base, Model) else None, ledger.of_first(), load)
    known = base.quantities if isinstance(base, SeveralModels) else {}
    quantities: dict[str, Model] = {}
    features: Model | None = None
    for quantity in ledger.configuration.quantities:
        own = ledger.of(quantity)
        before = known.get(quantity.name)
        if before is None:  # encode the list once for all quantities
            features = features or with_features(None, own, load)
            before = Model(own, features.encoding, features.objective, features.state)
        quantities[quantity.name] = advance(before, own, load)
    return SeveralModels(ledger, quantities)
