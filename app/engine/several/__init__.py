"""Several posteriors over one list: choosing a front, constraints, and where measurements fail.

    fronts        which points no other dominates; the volume they dominate; what can still be among them
    scalarising   several utilities as one score: a random direction for each pick, or fixed preferences
    classifier    the chance that a measurement gives a value at all
    aims          what the choice is for: objectives, constraints, chances, in model units
    batch         one batch for all posteriors: `choose_for`

Notation as in `app.engine`. A utility is higher where a candidate is better; K objectives have utilities (A, K).
"""

from app.engine.several.aims import Aim, Aims, Bound
from app.engine.several.batch import QuantityPosterior, choose_for, promises_of
from app.engine.several.classifier import chances_of_success
from app.engine.several.fronts import hypervolume, is_possible, non_dominated
from app.engine.several.scalarising import sphere_weights

__all__ = [
    "Aim",
    "Aims",
    "Bound",
    "QuantityPosterior",
    "chances_of_success",
    "choose_for",
    "hypervolume",
    "is_possible",
    "non_dominated",
    "promises_of",
    "sphere_weights",
]
