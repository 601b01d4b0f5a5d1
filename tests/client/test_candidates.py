"""Candidates in every form a person may have them in."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from app.settings import Settings
from nextbatch import InvalidInput
from nextbatch._npy import npy_bytes
from nextbatch._request_bodies import MAX_JSON_CELLS, MAX_JSON_ROWS
from tests.client.conftest import ROWS


@pytest.fixture
def empty(client: Any, study: Any) -> Any:
    return client.create_study(f"{study.name}-empty")


@pytest.mark.parametrize("frame", [pd.DataFrame(ROWS), pl.DataFrame(ROWS), pd.DataFrame(ROWS).set_index("key")])
def test_a_data_frame_is_uploaded(empty: Any, frame: Any) -> None:
    assert empty.upload(frame).candidates == 4
    assert empty.candidate("A2").features == {"temperature": 80.0, "solvent": "THF"}


NUMBERED = {"heat": [20.0, 30.0], "lot": ["007", "8"]}


@pytest.mark.parametrize(
    ("frame", "keys"),
    [
        (pd.DataFrame(NUMBERED), ["1", "2"]),
        (pd.DataFrame(NUMBERED, index=["a", "b"]), ["a", "b"]),
        (pd.DataFrame(NUMBERED, index=pd.Index([7, 8], name="reaction")), ["7", "8"]),
        (pd.DataFrame(NUMBERED | {"key": ["x", "y"]}, index=["a", "b"]), ["x", "y"]),
    ],
)
def test_the_labels_of_a_pandas_frame_are_the_keys_and_its_texts_stay_texts(
    empty: Any, frame: pd.DataFrame, keys: list[str]
) -> None:
    empty.upload(frame)
    assert [candidate.key for candidate in empty.candidates()] == keys
    assert empty.candidate(keys[0]).features == {"heat": 20.0, "lot": "007"}
    if keys == ["7", "8"]:  # compared as text
        assert empty.candidate(7) == empty.candidate("7")
        assert empty.switch_off(7, "broken").switched == 1


def test_results_in_a_pandas_frame_are_matched_by_its_labels(study: Any) -> None:
    assert study.report(pd.DataFrame({"value": [0.1, 0.2]}, index=["A3", "A1"])).recorded == 2
    assert [(result.key, result.value) for result in study.observations()] == [("A3", 0.1), ("A1", 0.2)]


@pytest.mark.parametrize("matrix", [np.arange(6.0).reshape(3, 2), [[0, 1], [2, 3], [4, 5]]])
def test_a_matrix_is_uploaded_with_keys_and_columns(empty: Any, matrix: Any) -> None:
    assert empty.upload(matrix, keys=["a", "b", "c"], columns=["heat", "pressure"]).added == 3
    assert empty.candidate("c").features == {"heat": 4.0, "pressure": 5.0}


def test_a_matrix_needs_no_keys(empty: Any) -> None:
    empty.upload(np.eye(3))
    assert [column.name for column in empty.details.columns] == ["x1", "x2", "x3"]


def test_our_npy_is_the_one_that_numpy_reads(tmp_path: Path) -> None:
    (tmp_path / "matrix.npy").write_bytes(npy_bytes([[1, 2.5], [3, -4]]))
    np.testing.assert_array_equal(np.load(tmp_path / "matrix.npy"), [[1, 2.5], [3, -4]])


@pytest.mark.parametrize("wrong", [np.zeros(3), [[1, 2], [3]]])
def test_an_array_without_two_dimensions_is_refused_before_it_is_sent(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"array"):
        npy_bytes(wrong)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "json", "npy"])
def test_a_file_is_uploaded_by_its_path(empty: Any, tmp_path: Path, suffix: str) -> None:
    path, frame = tmp_path / f"candidates.{suffix}", pl.DataFrame(ROWS)
    if suffix == "json":
        path.write_text(json.dumps({"candidates": ROWS}))
    elif suffix == "npy":
        np.save(path, np.eye(4))
    else:
        getattr(frame, f"write_{suffix}")(path)
    assert empty.upload(path).added == 4


def test_a_file_of_unknown_kind_is_refused_before_it_is_sent(empty: Any, tmp_path: Path) -> None:
    (tmp_path / "candidates.docx").touch()
    with pytest.raises(ValueError, match="unknown type"):
        empty.upload(tmp_path / "candidates.docx")


def test_a_space_is_described_by_parameters(empty: Any) -> None:
    receipt = empty.upload(parameters={"heat": {"low": 0, "high": 10, "step": 5}, "acid": {"levels": ["HCl", "HBr"]}})
    assert receipt.added == 6


def test_many_rows_go_as_csv(empty: Any) -> None:
    assert empty.upload([{"heat": float(n)} for n in range(MAX_JSON_ROWS + 1)]).added == MAX_JSON_ROWS + 1
    assert len(empty.candidates()) == MAX_JSON_ROWS + 1


@pytest.mark.parametrize("rows", [2, MAX_JSON_CELLS // 4 + 1])
def test_rows_mean_the_same_however_they_are_sent(empty: Any, rows: int) -> None:
    empty.upload([{"id": str(n), "lot": "07", "dry": n % 2 == 0, "heat": float(n)} for n in range(rows)], key="id")
    assert empty.candidate("1").features == {"lot": "07", "dry": False, "heat": 1.0}


def test_wide_rows_go_as_csv(empty: Any) -> None:
    """As JSON these would be more than the server takes."""
    rows = [
        {"key": f"m{n}", **{f"bit_{bit:04}_of_the_fingerprint": (n >> bit % 8) & 1 for bit in range(1024)}}
        for n in range(1200)
    ]
    assert len(json.dumps(rows, separators=(",", ":"))) > Settings().max_json_bytes
    assert empty.upload(rows).added == 1200
    assert empty.candidate("m3").features["bit_0001_of_the_fingerprint"] == 1


def test_nothing_and_everything_at_once_are_refused(empty: Any) -> None:
    for given in ({}, {"data": ROWS, "parameters": {}}):
        with pytest.raises(TypeError, match="either the candidates or parameters="):
            empty.upload(**given)


def test_columns_can_be_declared(empty: Any) -> None:
    empty.upload([{"id": "a", "lot": 7, "maker": "Acme"}], key="id", attributes=["maker"], text=["lot"])
    assert empty.candidate("a").attributes == {"maker": "Acme"}
    assert empty.candidate("a").features == {"lot": "7"}


def test_candidates_are_added_later_and_a_dry_run_stores_nothing(study: Any) -> None:
    more = [{"key": "B1", "temperature": 130.0, "solvent": "DMF"}]
    assert not study.append(more, dry_run=True).stored
    assert study.append(more).candidates == 5
    assert study.details.candidates == 5


def test_errors_name_row_and_column(empty: Any, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("key,heat\na,1\nb,\n")
    with pytest.raises(InvalidInput) as refused:
        empty.upload(tmp_path / "bad.csv")
    assert [(error.row, error.column) for error in refused.value.errors] == [(3, "heat")]
    assert "row 3, column heat" in str(refused.value)
    assert refused.value.request_id


def test_candidates_are_filtered_sorted_and_limited(study: Any) -> None:
    found = study.candidates(where=["solvent=THF"], sort="-temperature", available=True, search="A", limit=1)
    assert [candidate.key for candidate in found] == ["A4"]


def test_candidates_come_as_a_frame(study: Any) -> None:
    frame = study.candidates(as_frame=True)
    assert list(frame.columns) == ["key", "temperature", "solvent", "available"]
    assert len(frame) == 4


def test_candidates_come_with_what_the_model_believes(study: Any) -> None:
    study.report([{"key": "A1", "value": 0.4}, {"key": "A2", "value": 0.9}])
    first = study.candidates(posterior=True, sort="-mean")[0].posterior
    assert first.lower <= first.mean <= first.upper
    frame = study.candidates(posterior=True, as_frame=True)
    assert list(frame["counts"]) == [1, 1, 0, 0]


def test_a_candidate_is_switched_off_and_on(study: Any) -> None:
    assert study.switch_off("A1", "out of stock").switched == 1
    assert study.candidate("A1").reason == "out of stock"
    assert study.switch_off(["A2", "A3"], "too slow").switched == 2
    assert [candidate.key for candidate in study.candidates(available=False)] == ["A1", "A2", "A3"]
    assert study.switch_on(("A1", "A2")).switched == 2
    assert [candidate.key for candidate in study.candidates(available=False)] == ["A3"]
