"""Randomness is addressed, not consumed: the same address always gives the same numbers."""

import hashlib

import numpy as np


def rng_at(seed: int, purpose: str, step: int) -> np.random.Generator:
    """The generator of one purpose ("dictionary", "thompson", …) at one step of the study with this seed."""
    address = f"{seed}/{purpose}/{step}".encode()
    return np.random.Generator(np.random.PCG64(int.from_bytes(hashlib.sha256(address).digest(), "big")))
