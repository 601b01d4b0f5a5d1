"""The header of a .npy file, read strictly: no evaluation, no pickle, no dtype but plain numbers."""

import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np

from app.domain.errors import InvalidCandidates
from app.services.intake.findings import refuse

_MAGIC = b"\x93NUMPY"
_LENGTH_FORMATS = {(1, 0): "<H", (2, 0): "<I"}
_LONGEST_HEADER = 4_096
_MEMBER = r"\s*'(?:descr|fortran_order|shape)'\s*:\s*(?:'[^']*'|True|False|\([0-9,\s]*\))\s*"
_HEADER = re.compile(rf"\{{{_MEMBER},{_MEMBER},{_MEMBER},?\s*\}}\s*")
_DESCR = re.compile(r"'descr'\s*:\s*'([^']*)'")
_ORDER = re.compile(r"'fortran_order'\s*:\s*(True|False)")
_SHAPE = re.compile(r"'shape'\s*:\s*\(\s*([0-9]{1,12})\s*,\s*([0-9]{1,12})\s*,?\s*\)")
_DTYPE = re.compile(r"[<>|=]?(?:f[248]|[iu][1248]|b1)")


@dataclass(frozen=True)
class NpyHeader:
    """Where the numbers of a two-dimensional array lie in the file, and how."""

    rows: int
    columns: int
    dtype: np.dtype[np.generic]
    fortran_order: bool
    offset: int


def read_header(path: Path) -> NpyHeader:
    """The header, checked against the size of the file; raises InvalidCandidates."""
    with path.open("rb") as file:
        text = _header_text(file)
        offset = file.tell()
    found = _parsed(text, offset)
    expected = offset + found.rows * found.columns * found.dtype.itemsize
    if path.stat().st_size != expected:
        raise refuse("npy-size", "the file is shorter or longer than its header says; upload it again")
    return found


def _header_text(file: BinaryIO) -> str:
    start = file.read(len(_MAGIC) + 2)
    if len(start) < len(_MAGIC) + 2 or not start.startswith(_MAGIC):
        raise refuse("not-npy", "not a .npy file; write it with numpy.save")
    length_format = _LENGTH_FORMATS.get((start[-2], start[-1]))
    if length_format is None:
        raise refuse("npy-version", "only versions 1.0 and 2.0 of the .npy format are read")
    size = struct.calcsize(length_format)
    (length,) = struct.unpack(length_format, file.read(size).ljust(size, b"\0"))
    if length > _LONGEST_HEADER:
        raise _bad_header()
    return file.read(length).decode("latin-1")


def _parsed(text: str, offset: int) -> NpyHeader:
    descr, order, shape = _DESCR.search(text), _ORDER.search(text), _SHAPE.search(text)
    if not _HEADER.fullmatch(text) or not descr or not order:
        raise _bad_header()
    if not shape:
        raise refuse("npy-shape", "the array must have two dimensions: candidates and features")
    if not _DTYPE.fullmatch(descr[1]):
        raise refuse("npy-dtype", "the array must hold plain integers, floats up to 64 bits, or booleans")
    return NpyHeader(int(shape[1]), int(shape[2]), np.dtype(descr[1]), order[1] == "True", offset)


def _bad_header() -> InvalidCandidates:
    return refuse("npy-header", "the header of the .npy file cannot be read; write it with numpy.save")
