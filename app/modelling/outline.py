"""A model of a long list as the little that it follows from: its ledger and its fit.

A model that was begun anew at its last fit, with no result taken in since, is a function of the two and of the list. So
an outline of some kilobytes brings back the same bits, for one start over the list, where an embedding takes gigabytes.
Without it a fresh process would compute every batch of the study again, one after the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.domain.codec import from_plain, to_plain
from app.engine.auto import FittedModel
from app.modelling.model import LoadFeatures, Model, begun_with, with_features
from app.modelling.saved_model import SavedLedger, SavedModel, ledger_arrays, load_ledger, save_ledger
from app.modelling.study_model import StudyModel

_NOTHING = np.empty((0, 0))


@dataclass(frozen=True)
class _Outline:
    """`step` addresses the draw of the dictionary."""

    outline_of: SavedLedger
    fit: Mapping[str, Any]
    step: int


def save_outline(model: StudyModel) -> SavedModel | None:
    """The model in outline; None if it does not follow from its fit alone."""
    if not isinstance(model, Model) or model.fit is None or model.begun_at is None:
        return None
    outline = _Outline(save_ledger(model.ledger), model.fit.describe(), model.begun_at)
    return SavedModel(to_plain(outline), ledger_arrays(model.ledger), _NOTHING, _NOTHING)


def is_outline(saved: SavedModel) -> bool:
    return "outline_of" in saved.plain


def restore_outline(saved: SavedModel, load: LoadFeatures) -> Model:
    """The model that the outline is of; raises ValueError, KeyError or TypeError if it is of none."""
    outline = from_plain(_Outline, saved.plain)
    ledger = load_ledger(outline.outline_of, saved.arrays)
    features = with_features(None, ledger, load)
    return begun_with(features, FittedModel.build(dict(outline.fit)), outline.step)
