"""The types of numpy arrays that pass between modules, each named once.

A type says what an array holds; the docstring of a function or field gives its shape, such as (A,) for one entry per
candidate or (m, A) for the embedding. Stored arrays are little-endian.
"""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""An array of any type."""

FloatArray: TypeAlias = NDArray[np.float64]
"""Real numbers: features, values, posterior means and variances."""

CodeArray: TypeAlias = NDArray[np.int32]
"""Positions in a list of texts: code 2 stands for the third text."""

IndexArray: TypeAlias = NDArray[np.int64]
"""Candidate numbers, positions in another array, or counts."""

BoolArray: TypeAlias = NDArray[np.bool_]
"""One truth value per element, used as a mask."""
