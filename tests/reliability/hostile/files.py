"""Uploads by a grammar: tables in CSV, arrays in .npy, archives; then damaged, or not."""

import io
import json
from collections.abc import Callable, Mapping
from random import Random

import numpy as np

from tests.api.operations import archive
from tests.reliability.hostile.values import damaged, value

CELLS = (
    *(
        "1",
        "-2.5",
        "1e400",
        "1e300",
        "5e-324",
        "nan",
        "inf",
        "-",
        "yes",
        "no",
        "TRUE",
        "",
        " ",
        "1,5",
        "1.234,5",
        "0x10",
    ),
    *('"', '""', '"a', 'a"b', '"a\nb"', "=1+1", "'=1+1", "@x", "\ufeff", "\ud800", "\0", "1_0", "٣", "ü", "x" * 5000),
    *("A1", "A2", "1-1", "1-2", "99-9", "DMF", "2026-01-01"),
)
HEADERS = ("key", "temperature", "suggestion", "value", "candidate", "replicate", "note", "failed", "a", "a", "", "=b")
SEPARATORS, ENDS = (",", ",", ",", ";", "\t", "|"), ("\n", "\n", "\r\n", "\r", "\n\n")
TYPES = ("<f8", "<f8", ">i4", "|b1", "<f2", "<c16", "|O", "<U3", "|S4", "<M8[s]", "[('a', '<f8')]", "|V8", "<f8,<f8")


def csv(random: Random) -> bytes:
    separator, width = random.choice(SEPARATORS), random.randint(1, 5)
    header = [random.choice(HEADERS) for _ in range(width)]
    rows = [[random.choice(CELLS) for _ in range(_about(width, random))] for _ in range(random.randrange(8))]
    lines = (separator.join(cells) + random.choice(ENDS) for cells in (header, *rows))
    return "".join(lines).encode(random.choice(("utf-8", "utf-8", "utf-16", "latin-1")), "replace")


def _about(width: int, random: Random) -> int:
    return width if random.random() < 0.9 else random.randrange(7)


def npy(random: Random) -> bytes:
    """A header that says anything, and some bytes."""
    if random.random() < 0.4:
        buffer = io.BytesIO()
        shape = tuple(random.randrange(4) for _ in range(random.randrange(4)))
        np.save(buffer, np.full(shape, random.choice((0.0, 1e300, np.nan, np.inf, -0.0))))
        return buffer.getvalue()
    shape = tuple(random.choice((0, 1, 2, 3, -1, 2**31, 2**62, 10**30)) for _ in range(random.randrange(4)))
    described = (
        f"{{'descr': {random.choice(TYPES)!r}, 'fortran_order': {random.choice((True, False, 7))}, 'shape': {shape}, }}"
    )
    header = described.encode().ljust(118) + b"\n"
    length = random.choice((len(header), 0, 65535, 10))
    version = random.choice((b"\x01\x00", b"\x01\x00", b"\x02\x00", b"\x09\x00"))
    return b"\x93NUMPY" + version + length.to_bytes(2, "little") + header + random.randbytes(random.randrange(100))


def zipped(random: Random) -> bytes:
    return archive(random.choice(("from-elsewhere", "s", "../up", "x" * 200)))


def rows(random: Random) -> bytes:
    """Candidates or a space as JSON."""
    names = ("a", "b", "key", "temperature")
    if random.random() < 0.5:
        lines = [{random.choice(names): value(random) for _ in range(3)} for _ in range(random.randrange(5))]
        return json.dumps({"candidates": lines}).encode()
    bounds = ("low", "high", "step", "count", "values", "levels", "scale", "boolean")
    space = {name: {random.choice(bounds): value(random) for _ in range(3)} for name in names[: random.randrange(4)]}
    return json.dumps({"parameters": space, random.choice(("sample", "constraints", "seed")): value(random)}).encode()


def form(random: Random) -> bytes:
    parts = (
        f'--b\r\nContent-Disposition: form-data; name="{name}"; filename="f"\r\n\r\n'.encode() + make(random) + b"\r\n"
        for name, make in (("features", npy), (random.choice(("keys", "other", "")), csv))
    )
    return b"".join(parts) + b"--b--\r\n"


FILES: Mapping[str, Callable[[Random], bytes]] = {
    "text/csv": csv,
    "application/x-npy": npy,
    "application/json": rows,
    "application/zip": zipped,
    "multipart/form-data; boundary=b": form,
}


def file(random: Random) -> tuple[str, bytes]:
    """A media type and a body that may be of that type."""
    media_type, make = random.choice(list(FILES.items()))
    content = make(random)
    if random.random() < 0.3:
        content = damaged(content, random)
    return media_type if random.random() < 0.95 else random.choice(list(FILES)), content
