"""Candidates as Parquet or Arrow."""

from datetime import date
from pathlib import Path

import polars as pl
import pytest

from app.domain.errors import InvalidCandidates
from app.services.intake import arrow_reading, children
from app.services.intake.arrow_reading import ArrowNotInstalled, read_arrow, read_parquet
from app.services.intake.columns import Declared
from app.services.intake.limits import IntakeLimits

FRAME = pl.DataFrame(
    {
        "key": [1, 2, 3],
        "x": [1.5, 2.5, 3.5],
        "s": ["1", "2", "1"],
        "b": [True, False, True],
        "made": [date(2026, 1, 1), None, date(2026, 1, 3)],
        "cost": pl.Series([1, None, 3], dtype=pl.Int32),
    }
)
DECLARED = Declared(roles={"made": "attribute", "cost": "attribute"})


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_typed_columns_keep_their_types(tmp_path, form):
    path = tmp_path / "candidates"
    if form == "parquet":
        FRAME.write_parquet(path)
        table = read_parquet(path, DECLARED)
    else:
        FRAME.write_ipc(path)
        table = read_arrow(path, DECLARED)
    assert table.keys == ["1", "2", "3"]
    assert table.numbers.tolist() == [[1.5, 1.0], [2.5, 0.0], [3.5, 1.0]]
    assert table.columns[2].levels == ("1", "2")
    assert table.attributes == {"made": ["2026-01-01", None, "2026-01-03"], "cost": [1.0, None, 3.0]}


@pytest.mark.parametrize(
    ("series", "mistake"),
    [
        (pl.Series("x", [1.0, float("nan")]), ("not-finite", 2, "x")),
        (pl.Series("x", [1.0, None]), ("missing-value", 2, "x")),
        (pl.Series("x", [2**53 + 1, 1]), ("not-exact", 1, "x")),
        (pl.Series("x", [[1], [2]]), ("column-type", None, "x")),
        (pl.Series("x", [b"a", b"b"]), ("column-type", None, "x")),
        (pl.Series("x", [], dtype=pl.Float64), ("no-candidates", None, None)),
        (pl.Series("x\n", [1.0]), ("name-control-character", None, None)),
    ],
)
def test_what_cannot_be_a_column_is_named(tmp_path, series, mistake):
    path = tmp_path / "candidates"
    pl.DataFrame([series]).write_parquet(path)
    with pytest.raises(InvalidCandidates) as refused:
        read_parquet(path)
    assert [(finding.code, finding.row, finding.column) for finding in refused.value.findings] == [mistake]


def test_the_size_is_checked_before_the_cells_are_read(tmp_path):
    path = tmp_path / "candidates"
    FRAME.write_parquet(path)
    with pytest.raises(InvalidCandidates) as refused:
        read_parquet(path, limits=IntakeLimits(rows=2))
    assert [finding.code for finding in refused.value.findings] == ["too-many-rows"]


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + b"\xff" * 64 + b"PAR1", b"ARROW1\0\0" + b"\xff" * 64])
def test_a_broken_file_is_refused(tmp_path, content):
    path = tmp_path / "candidates"
    path.write_bytes(content)
    for read in (read_parquet, read_arrow):
        with pytest.raises(InvalidCandidates):
            read(path)


def test_without_polars_the_answer_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(arrow_reading, "find_spec", lambda _: None)
    with pytest.raises(ArrowNotInstalled, match=r"CSV or \.npy"):
        read_parquet(tmp_path / "candidates")


def test_a_file_that_makes_polars_abort_is_refused_and_the_server_lives():
    """Found by fuzzing: a length in this file becomes an allocation of 2^61 bytes, and polars 2.1 aborts."""
    with pytest.raises(InvalidCandidates) as refused:
        read_parquet(Path(__file__).with_name("aborts_polars.parquet"))
    assert [finding.code for finding in refused.value.findings] == ["broken-parquet"]


def test_a_file_over_which_the_reader_dies_is_refused_and_the_server_lives(tmp_path, monkeypatch):
    path, dying = tmp_path / "candidates", tmp_path / "dying"
    FRAME.write_parquet(path)
    dying.write_text("#!/bin/sh\nkill -ABRT $$\n")
    dying.chmod(0o700)
    monkeypatch.setattr(children.sys, "executable", str(dying))
    with pytest.raises(InvalidCandidates) as refused:
        read_parquet(path, DECLARED)
    assert [finding.code for finding in refused.value.findings] == ["broken-parquet"]


def test_a_file_that_needs_too_much_memory_is_refused(tmp_path):
    path = tmp_path / "candidates"
    FRAME.write_parquet(path)
    with pytest.raises(InvalidCandidates) as refused:
        read_parquet(path, DECLARED, IntakeLimits(arrow_memory=1 << 20))
    assert [finding.code for finding in refused.value.findings] == ["broken-parquet"]


def test_a_file_that_takes_too_long_is_refused(tmp_path):
    path = tmp_path / "candidates"
    FRAME.write_parquet(path)
    with pytest.raises(InvalidCandidates) as refused:
        read_parquet(path, DECLARED, IntakeLimits(arrow_seconds=0.001))
    assert [finding.code for finding in refused.value.findings] == ["slow-parquet"]
