"""Descriptions are plain JSON and lose nothing."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from app.engine.kernels import Kernel, Tanimoto, build
from tests.engine.kernels.strategies import mixed, smooth_kernels


@given(smooth_kernels())
def test_build_is_the_inverse_of_describe_through_json(kernel: Kernel) -> None:
    assert build(json.loads(json.dumps(kernel.describe()))) == kernel


@pytest.mark.parametrize("kernel", [Tanimoto(), mixed], ids=repr)
def test_kernels_of_bits_are_described_too(kernel: Kernel) -> None:
    assert build(json.loads(json.dumps(kernel.describe()))) == kernel


@pytest.mark.parametrize(
    ("description", "reason"),
    [
        ({"kind": "rbf"}, "unknown kernel kind 'rbf'"),
        ({}, "unknown kernel kind None"),
        ({"kind": "gaussian", "width": 1}, "cannot be built"),
        ({"kind": "gaussian", "lengthscale": 0}, "lengthscale must be positive"),
        ({"kind": "gaussian", "lengthscale": []}, "lengthscale must be positive"),
        ({"kind": "gaussian", "lengthscale": [1, float("nan")]}, "lengthscale must be positive"),
        ({"kind": "matern", "nu": 2}, "nu must be"),
        ({"kind": "polynomial", "degree": 0}, "degree must be"),
        ({"kind": "polynomial", "degree": 2.5}, "degree must be a whole number"),
        ({"kind": "polynomial", "degree": 10**9}, "degree must be a whole number from 1 to 100"),
        ({"kind": "scaled", "amplitude": -1, "part": {"kind": "linear"}}, "amplitude must be"),
        ({"kind": "scaled", "part": 3}, "cannot be built"),
        ({"kind": "columns", "columns": [1, 1], "part": {"kind": "linear"}}, "distinct"),
        ({"kind": "columns", "columns": [0.5], "part": {"kind": "linear"}}, "distinct column numbers"),
        ({"kind": "columns", "columns": [True], "part": {"kind": "linear"}}, "distinct column numbers"),
        ({"kind": "sum", "parts": []}, "at least one part"),
    ],
)
def test_a_wrong_description_says_what_is_wrong(description: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        build(description)


def test_a_column_beyond_the_table_is_named() -> None:
    with pytest.raises(ValueError, match="there is no column 2 among 2, counted from 0"):
        build({"kind": "columns", "columns": [0, 2], "part": {"kind": "linear"}}).diagonal(np.ones((3, 2)))
