"""Raw columns to features: learnt once, applied to every later candidate."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engine.auto import Encoding, FeatureColumn, learn_encoding
from app.engine.auto.encoding import SIGNATURE, most_levels
from tests.engine.auto.strategies import Table, tables

NO_CODES = np.zeros((3, 0), dtype=np.int32)


def learn(*columns: list[float], **overrides: str) -> tuple[Encoding, np.ndarray]:
    """An encoding of columns of numbers named c0, c1, … and the features it gives them."""
    numbers = np.array(columns, dtype=float).T
    named = [FeatureColumn(f"c{i}", "number") for i in range(len(columns))]
    decided = {name: {"scale": scale} for name, scale in overrides.items()}
    codes = np.zeros((len(numbers), 0), dtype=np.int32)
    encoding = learn_encoding(named, numbers, codes, decided)
    return encoding, encoding.apply(numbers, codes)


@given(tables())
def test_features_are_finite_and_lie_between_0_and_1(table: Table) -> None:
    columns, numbers, codes = table
    encoding = learn_encoding(columns, numbers, codes)
    X = encoding.apply(numbers, codes)
    assert X.shape == (len(numbers), len(encoding.layout.roles))
    assert X.shape[1] >= 1
    assert np.isfinite(X).all()
    assert X.min() >= -1e-12
    assert X.max() <= 1 + 1e-12


@given(tables())
def test_an_encoding_survives_json(table: Table) -> None:
    encoding = learn_encoding(*table)
    again = Encoding.build(json.loads(json.dumps(encoding.describe())))
    assert again == encoding
    np.testing.assert_array_equal(again.apply(*table[1:]), encoding.apply(*table[1:]))


@given(tables(), tables())
def test_later_candidates_have_as_many_features_and_the_old_ones_keep_theirs(old: Table, new: Table) -> None:
    columns, numbers, codes = old
    encoding = learn_encoding(columns, numbers, codes)
    rng = np.random.default_rng(len(new[1]))
    later = rng.choice(np.append(new[1].ravel(), 0.0), (4, numbers.shape[1]))
    words = rng.integers(-1, 9, (4, codes.shape[1])).astype(np.int32)
    X = encoding.apply(np.vstack((numbers, later)), np.vstack((codes, words)))
    np.testing.assert_array_equal(X[: len(numbers)], encoding.apply(numbers, codes))
    assert np.isfinite(X).all()


def test_a_column_that_spans_decades_is_read_in_its_logarithm() -> None:
    _, X = learn([1, 10, 100], [0, 10, 100], [2, 10, 99])
    np.testing.assert_allclose(X, [[0, 0, 0], [0.5, 0.1, 8 / 97], [1, 1, 1]])


def test_a_user_may_choose_the_scale_of_a_column() -> None:
    _, X = learn([1, 10, 100], [1, 10, 100], [1, 3, 9], c0="linear", c1="none", c2="log")
    np.testing.assert_allclose(X, [[0, 1, 0], [1 / 11, 10, 0.5], [1, 100, 1]])


@pytest.mark.parametrize("column", [[0, 5e-324, 0], [-5e-324, 5e-324, 0], [-1.7e308, 1.7e308, 0]])
def test_the_smallest_and_the_largest_numbers_have_a_range(column: list[float]) -> None:
    _, X = learn(column, c0="linear")
    assert sorted({X.min(), X.max()}) == [0, 1]


def test_values_outside_the_learnt_range_extrapolate() -> None:
    encoding, _ = learn([0, 1, 2], [1, 10, 100])
    later = encoding.apply(np.array([[4.0, 1000], [-1, 0.001], [1, 0], [1, -5]]), np.zeros((4, 0), dtype=np.int32))
    np.testing.assert_allclose(later, [[2, 1.5], [-0.5, -1], [0.5, -1], [0.5, -1]])


def test_a_level_unknown_when_the_encoding_was_learnt_is_all_zeros() -> None:
    columns = [FeatureColumn("solvent", "text", ("water", "ethanol"))]
    codes = np.array([[0], [1], [0]], dtype=np.int32)
    encoding = learn_encoding(columns, np.zeros((3, 0)), codes)
    later = encoding.apply(np.zeros((3, 0)), np.array([[1], [2], [-1]], dtype=np.int32))
    np.testing.assert_array_equal(later, [[0, 1], [0, 0], [0, 0]])


def test_constant_columns_are_left_out() -> None:
    encoding, X = learn([7, 7, 7], [1, 2, 3])
    np.testing.assert_allclose(X, [[0], [0.5], [1]])
    assert [column.source for column in encoding.columns] == [1]


def test_a_table_without_information_still_has_a_feature() -> None:
    encoding, X = learn([7, 7, 7])
    np.testing.assert_array_equal(X, np.zeros((3, 1)))
    assert encoding.layout.roles == ("number",)


@pytest.mark.parametrize(("bits", "role"), [(63, "number"), (64, "bit")])
def test_many_columns_of_0_and_1_are_a_fingerprint(bits: int, role: str) -> None:
    rng = np.random.default_rng(0)
    numbers = np.column_stack((rng.integers(0, 2, (40, bits)), rng.random(40)))
    columns = [FeatureColumn(f"bit {i}", "number") for i in range(bits)] + [FeatureColumn("t", "number")]
    encoding = learn_encoding(columns, numbers, np.zeros((40, 0), dtype=np.int32))
    assert encoding.layout.roles == (role,) * bits + ("number",)


@pytest.mark.parametrize("overrides", [{"c9": {"scale": "log"}}, {"c0": {"scale": "cubic"}}, {"c0": {"size": 1}}])
def test_an_override_that_makes_no_sense_is_refused(overrides: dict[str, dict[str, str]]) -> None:
    with pytest.raises(ValueError, match=r"override|scale"):
        learn_encoding([FeatureColumn("c0", "number")], np.arange(3.0)[:, None], NO_CODES, overrides)


def test_a_logarithm_of_zero_is_refused() -> None:
    with pytest.raises(ValueError, match="logarithm"):
        learn([0, 1, 2], c0="log")


def test_numbers_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        learn([np.nan, 1, 2])


@given(st.permutations(range(4)))
def test_the_order_of_the_candidates_changes_nothing(order: list[int]) -> None:
    columns = [FeatureColumn("a", "number"), FeatureColumn("b", "text", tuple("xyz"))]
    numbers, codes = np.array([[1.0], [5], [2], [90]]), np.array([[2], [0], [2], [1]], dtype=np.int32)
    X = learn_encoding(columns, numbers, codes).apply(numbers, codes)
    moved = learn_encoding(columns, numbers[order], codes[order]).apply(numbers[order], codes[order])
    np.testing.assert_array_equal(moved, X[order])


def test_a_text_with_too_many_levels_for_columns_of_their_own_gets_signatures() -> None:
    """10,000 levels of 100,000 candidates filled 8 GB."""
    rows, levels = 4_000, 3_000
    codes = (np.arange(rows) % levels).astype(np.int32)[:, None]
    column = FeatureColumn("catalyst", "text", tuple(f"L{level}" for level in range(levels)))
    encoding = learn_encoding([column], np.empty((rows, 0)), codes)
    X = encoding.apply(np.empty((rows, 0)), codes)
    assert X.shape == (rows, SIGNATURE) == (rows, len(encoding.layout.roles))
    assert len(encoding.layout.texts) == 1
    assert Encoding.build(encoding.describe()) == encoding
    assert np.allclose((X**2).sum(axis=1), 1.0)
    assert (X[0] == X[levels]).all()  # the same text
    distances = ((X[:500, None] - X[None, :500]) ** 2).sum(axis=2)[~np.eye(500, dtype=bool)]
    assert abs(distances.mean() - 2.0) < 0.01
    assert distances.std() < 0.27
    assert distances.min() > 0.5


def test_as_many_levels_as_fit_keep_columns_of_their_own() -> None:
    rows, levels = 3_000, 3_000
    codes = np.arange(rows, dtype=np.int32)[:, None]
    column = FeatureColumn("catalyst", "text", tuple(f"L{level}" for level in range(levels)))
    assert len(learn_encoding([column], np.empty((rows, 0)), codes).layout.roles) == levels == most_levels(rows) - 333
