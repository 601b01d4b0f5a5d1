"""The peers: which adapter, which of its variants, and how it takes a list of candidates."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Listed:
    """`native` peers take the list itself; the points of the others are moved to the nearest unused candidate."""

    adapter: str
    variant: str = ""
    native: bool = True


CATALOGUE = {
    "BayBE": Listed("baybe"),
    "BoFire": Listed("bofire"),
    "BoTorch qLogNEI": Listed("botorch", "qLogNEI"),
    "BoTorch qLogEI": Listed("botorch", "qLogEI"),
    "BoTorch qUCB": Listed("botorch", "qUCB"),
    "Syne Tune": Listed("syne_tune"),
    "scikit-learn GP-UCB": Listed("sklearn"),
    "Ax": Listed("ax", native=False),
    "Optuna GP": Listed("optuna", native=False),
}
