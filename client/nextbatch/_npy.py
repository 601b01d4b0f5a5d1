"""A matrix as the bytes of a .npy file, with numpy or without."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Sequence
from itertools import chain
from typing import Any


def npy_bytes(matrix: Any) -> bytes:
    """Little-endian doubles in C order; `matrix` is a numpy array or a sequence of sequences of numbers."""
    rows, columns, cells = _numpy(matrix) if hasattr(matrix, "astype") else _plain(matrix)
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {columns}), }}"
    padded = header + " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded.encode() + cells


def _numpy(matrix: Any) -> tuple[int, int, bytes]:
    if matrix.ndim != 2:
        raise ValueError(f"candidates are the rows of a 2-d array; this array has {matrix.ndim} dimensions")
    return (*matrix.shape, matrix.astype("<f8").tobytes())


def _plain(matrix: Sequence[Sequence[float]]) -> tuple[int, int, bytes]:
    widths = {len(row) for row in matrix}
    if len(widths) != 1:
        raise ValueError("all rows of the array need the same number of columns, and at least one row")
    cells = array("d", chain.from_iterable(matrix))
    if sys.byteorder == "big":
        cells.byteswap()
    return len(matrix), widths.pop(), cells.tobytes()
