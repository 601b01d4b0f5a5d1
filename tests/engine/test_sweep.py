"""The seam: one module touches the embedding of all candidates, and says what each of its verbs takes and gives."""

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

from app import engine
from app.engine import State, sweep
from app.engine.embedding import Embedding
from app.engine.shard_sweeps import PANEL, triangular_product
from app.engine.stability import LARGEST, Rescues, clip_extremes
from tests.engine.problems import lab

FOLDER = Path(engine.__file__).parent
KEEPERS = {"embedding.py", "state.py", "saving.py", "sweep.py"}
"""Where Z is defined, stored, and computed with."""


def touches_the_embedding(path: Path) -> bool:
    nodes = ast.walk(ast.parse(path.read_text()))
    return any(isinstance(node, ast.Attribute) and node.attr in {"Z", "embedding", "shards"} for node in nodes)


def test_no_other_module_touches_the_embedding_of_all_candidates() -> None:
    touching = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.py") if touches_the_embedding(path)}
    assert touching == KEEPERS


def test_every_verb_is_in_the_table_at_its_head() -> None:
    functions = inspect.getmembers(sweep, inspect.isfunction)
    own = [name for name, verb in functions if verb.__module__ == sweep.__name__]
    verbs = [name for name in own if not name.startswith("_")]
    table = [line for line in (sweep.__doc__ or "").splitlines() if line.startswith("|")]
    assert sorted(row.split("(")[0].strip("| ") for row in table[2:]) == verbs


def measured() -> State:
    state, _ = lab().run([0, 1], 40)
    return state


def test_the_embedding_of_a_few_candidates_is_their_columns() -> None:
    state = measured()
    np.testing.assert_array_equal(sweep.embedding_of(state, np.array([3, 17])), state.Z[:, [3, 17]])
    np.testing.assert_array_equal(sweep.embedding_of(state, 17), state.Z[:, 17])


@pytest.mark.parametrize("shard", [0, 7])
def test_some_candidates_have_the_rows_they_have_in_the_list(shard: int) -> None:
    Z, numbers = np.random.default_rng(0).normal(size=(5, 20)), np.array([3, 4, 11, 19])
    embedding = Embedding.empty(20, shard).filled(Z)
    np.testing.assert_array_equal(embedding.selected(numbers).array, Z[:, numbers])
    np.testing.assert_array_equal(embedding.columns(numbers, 2), Z[2:, numbers])


def test_a_combination_is_one_number_per_candidate() -> None:
    state = measured()
    a = np.random.default_rng(0).normal(size=len(state.S))
    np.testing.assert_allclose(sweep.combination(state, a), state.Z.T @ a, rtol=1e-12, atol=1e-12)


def test_appended_candidates_get_the_embedding_they_would_have_had() -> None:
    state = measured()
    longer = sweep.append(state, state.X[:5], Rescues())
    np.testing.assert_allclose(longer.Z[:, -5:], state.Z[:, :5], atol=1e-9)
    np.testing.assert_array_equal(longer.Z[:, :-5], state.Z)


def test_leverages_given_every_measured_candidate_are_those_of_the_exact_posterior() -> None:
    made = lab(dictionary="all")
    state, _ = made.run([0, 1], 40)
    everyone, weight = np.arange(len(state.X)), state.counts[state.measured].astype(float)
    leverages = sweep.leverages_given(state, everyone, state.measured, weight, made.settings.lam, Rescues())
    np.testing.assert_allclose(leverages, state.leverage, rtol=1e-6)


@pytest.mark.parametrize("m", [0, 1, PANEL - 1, PANEL, PANEL + 1, 2 * PANEL + 5])
def test_a_triangular_product_is_the_plain_product(m: int) -> None:
    rng = np.random.default_rng(m)
    L, B = np.tril(rng.normal(size=(m, m))), rng.normal(size=(m, 9))
    np.testing.assert_allclose(triangular_product(L, B), L @ B, rtol=1e-12, atol=1e-12)
    scratch = np.full((m, 9), np.nan)
    assert triangular_product(L, B, out=scratch) is scratch
    np.testing.assert_allclose(scratch, L @ B, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("value", [1e151, -1e151, np.inf, -np.inf, np.nan])
def test_one_extreme_number_among_many_is_found(value: float) -> None:
    values, rescues = np.ones((40, 50)), Rescues()
    assert clip_extremes(values, "values clipped", rescues) is values
    values[17, 3] = value
    clipped = clip_extremes(values, "values clipped", rescues)
    assert rescues == {"values clipped": 1}
    assert clipped[17, 3] == (0.0 if np.isnan(value) else np.sign(value) * LARGEST)


def test_many_numbers_just_below_the_largest_are_left_alone() -> None:
    values, rescues = np.full(100, LARGEST), Rescues()
    assert clip_extremes(values, "values clipped", rescues) is values
    assert not rescues
