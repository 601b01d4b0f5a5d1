"""A model of a long list as the little that it follows from: its ledger and its fit.

A model that was begun anew at its last fit, with no result taken in since, is a function of the two and of the list. So
an outline of some kilobytes brings back the same bits, for one start over the list, where an embedding takes gigabytes.
Without it a fresh process would compute every batch of the study again, one after the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.domain.codec import from_plain, to_plain
from app.engine.auto import FittedModel
from app.modelling.model import LoadFeatures, Model, with_features
from app.modelling.saved_model import SavedLedger, SavedModel, ledger_arrays, load_ledger, save_ledger
from app.modelling.study_model import StudyModel

_NOTHING = np.empty((0, 0))


@dataclass(frozen=True)
class _Outline:
    """`step` addresses the draw of the dictionary."""

    outline_of: SavedLedger
    fit: Mapping[str, Any]
    step: int


def has_outline(model: StudyModel) -> bool:
    """Whether the model follows from its ledger and its fit alone."""
    return isinstance(model, Model) and model.fit is not None and model.begun_at is not None


def save_outline(model: StudyModel) -> SavedModel | None:
    """The model in outline; None if it has none."""
    if not isinstance(model, Model) or model.fit is None or model.begun_at is None:
        return None
    outline = _Outline(save_ledger(model.ledger), model.fit.describe(), model.begun_at)
    return SavedModel(to_plain(outline), ledger_arrays(model.ledger), _NOTHING, _NOTHING)


def is_outline(saved: SavedModel) -> bool:
    return "outline_of" in saved.plain


def restore_outline(saved: SavedModel, load: LoadFeatures) -> Model:
    """The features and the fit of the model that the outline is of; `model.whole` makes the rest of it.

    Often nobody needs the rest: the next batch fits anew. Raises ValueError, KeyError or TypeError if it is of none.
    """
    outline = from_plain(_Outline, saved.plain)
    ledger = load_ledger(outline.outline_of, saved.arrays)
    features = with_features(None, ledger, load)
    return replace(features, fit=FittedModel.build(dict(outline.fit)), begun_at=outline.step, is_outline=True)
