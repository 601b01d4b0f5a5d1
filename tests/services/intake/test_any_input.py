"""Whatever is uploaded, the answer is a table or InvalidCandidates in whole sentences, and no other exception."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.errors import InvalidCandidates
from app.services.intake.arrow_reading import read_arrow, read_parquet
from app.services.intake.columns import Declared
from app.services.intake.csv_reading import read_csv
from app.services.intake.json_reading import read_json_rows
from app.services.intake.keys import keys_from_lines
from app.services.intake.limits import IntakeLimits
from app.services.intake.npy_reading import read_npy
from app.services.intake.space.reading import read_space

LIMITS = IntakeLimits(rows=1_000, columns=50, levels=50, product=5_000, draws=20_000)
DECLARED = st.builds(
    Declared,
    key=st.none() | st.sampled_from(["a", "key"]),
    roles=st.dictionaries(st.sampled_from("abc"), st.sampled_from(["key", "feature", "attribute"])),
    kinds=st.dictionaries(st.sampled_from("abc"), st.sampled_from(["number", "boolean", "text"])),
)
CELLS = st.sampled_from(
    [
        "1",
        "-2.5",
        "1e400",
        "nan",
        "yes",
        "no",
        "",
        " ",
        "1,5",
        '"1,5"',
        '"',
        "'=x",
        "a",
        "ü",
        "\r",
        "\ud800",
        "\0",
        "1_0",
    ]
)
SEPARATORS = st.sampled_from([",", ";", "\t", "\n", "\r\n"])
CSV = st.lists(CELLS | SEPARATORS, max_size=60).map(lambda cells: "a,b,c\n" + "".join(cells))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**4000) | st.floats() | st.text() | st.sampled_from("abc"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc") | st.text(), inner, max_size=4),
)
NUMBERS = st.sampled_from([0, 1, -1, 0.1, 1e-300, 1e308, -1e308, 5e-324, 3, 10**400, True, "a", None, float("nan")])
PARAMETERS = st.one_of(
    st.dictionaries(st.sampled_from(["low", "high", "step", "count"]), NUMBERS),
    st.fixed_dictionaries(
        {"low": NUMBERS, "high": NUMBERS},
        optional={"step": NUMBERS, "count": NUMBERS, "scale": st.sampled_from(["log", "linear"])},
    ),
    st.fixed_dictionaries({"values": st.lists(NUMBERS)}),
    st.fixed_dictionaries({"levels": st.lists(st.text())}),
    st.just({"boolean": True}),
    JSON,
)
BOUNDS = st.dictionaries(st.sampled_from(["at_least", "at_most", "equals"]), NUMBERS)
SPACES = st.fixed_dictionaries(
    {"parameters": st.dictionaries(st.sampled_from("abc"), PARAMETERS, min_size=1)},
    optional={
        "constraints": st.lists(
            st.tuples(st.dictionaries(st.sampled_from("abc"), NUMBERS), BOUNDS).map(
                lambda pair: {"coefficients": pair[0], **pair[1]}
            )
        ),
        "exclude": st.lists(st.dictionaries(st.sampled_from("abc"), BOUNDS | NUMBERS | st.lists(NUMBERS))),
        "sample": NUMBERS | st.integers(1, 50),
        "seed": NUMBERS,
    },
)


SENTENCES = re.compile(r"[A-Z0-9`].*\.")


@contextmanager
def refused_in_sentences() -> Iterator[None]:
    try:
        yield
    except InvalidCandidates as refused:
        messages = [finding.message for finding in refused.findings]
        assert messages
        assert [message for message in messages if not SENTENCES.fullmatch(message)] == []


def saved(array):
    buffer = BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def frame(write):
    buffer = BytesIO()
    write(pl.DataFrame({"a": [1.0, 2.0], "b": ["x", None], "c": [True, False]}), buffer)
    return buffer.getvalue()


NPY = [saved(np.ones((2, 3))), saved(np.ones((3, 2), dtype=">i4", order="F"))]
ARROW = [frame(pl.DataFrame.write_parquet), frame(pl.DataFrame.write_ipc)]


@st.composite
def damaged(draw, originals):
    """A valid file with some bytes overwritten, removed or added."""
    content = bytearray(draw(st.sampled_from(originals)))
    for _ in range(draw(st.integers(0, 4))):
        start = draw(st.integers(0, len(content)))
        content[start : start + draw(st.integers(0, 8))] = draw(st.binary(max_size=8))
    return bytes(content)


def read_file(content, *readers):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "upload"
        path.write_bytes(content)
        for read in readers:
            with refused_in_sentences():
                read(path)


@given(st.binary() | CSV.map(lambda text: text.encode("utf-8", "surrogatepass")), DECLARED)
@settings(deadline=None, max_examples=200)
def test_any_bytes_are_a_csv_table_or_refused(content, declared):
    read_file(content, lambda path: read_csv(path, declared, LIMITS), keys_from_lines)


@given(st.binary() | damaged(NPY), DECLARED)
@settings(deadline=None, max_examples=200)
def test_any_bytes_are_a_npy_table_or_refused(content, declared):
    read_file(content, lambda path: read_npy(path, ["A", "B"], ["a", "b", "c"], declared, LIMITS))


@given(damaged(ARROW))
@settings(deadline=None, max_examples=5)
def test_any_bytes_are_an_arrow_table_or_refused(content):
    read_file(content, read_parquet, read_arrow)


@given(JSON | st.lists(st.dictionaries(st.sampled_from("abc"), JSON, min_size=1)), DECLARED)
@settings(deadline=None, max_examples=200)
def test_any_json_is_a_table_or_refused(document, declared):
    with refused_in_sentences():
        read_json_rows(document, declared, LIMITS)


@given(JSON | SPACES)
@settings(deadline=None, max_examples=200)
def test_any_json_is_a_space_or_refused(document):
    with refused_in_sentences():
        read_space(document, LIMITS)
