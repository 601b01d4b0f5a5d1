"""Molecules: counts of a fingerprint for each level of a text, compared by Tanimoto beside numbers and other texts."""

import numpy as np
import pytest

from app.arrays import FloatArray
from app.engine.auto import Encoding, FeatureColumn, Observed, fit, learn_encoding
from app.engine.auto.kernel_forms import MainEffects, form_for
from app.engine.kernels import Tanimoto

LEVELS = ("CO", "CCO", "CCCO", "c1ccccc1")
COLUMNS = {
    "molecule": FeatureColumn("molecule", "text", LEVELS, is_molecule=True),
    "ligand": FeatureColumn("ligand", "text", LEVELS, is_molecule=True),
    "solvent": FeatureColumn("solvent", "text", ("DMF", "THF")),
    "heat": FeatureColumn("heat", "number"),
}
MIXTURES = [["molecule"], ["molecule", "heat"], ["molecule", "ligand"], ["molecule", "solvent", "ligand", "heat"]]


def encoded(names: list[str], n: int = 30) -> tuple[Encoding, FloatArray, dict[int, FloatArray]]:
    rng = np.random.default_rng(len(names))
    texts = [name for name in names if name != "heat"]
    codes = np.column_stack([rng.integers(0, len(COLUMNS[name].levels), n) for name in texts]).astype("<i4")
    numbers = rng.random((n, names.count("heat")))
    molecules = [slot for slot, name in enumerate(texts) if COLUMNS[name].is_molecule]
    fingerprints = {slot: rng.integers(0, 4, (len(LEVELS), 16)).astype("|u1") for slot in molecules}
    encoding = learn_encoding([COLUMNS[name] for name in names], numbers, codes, None, fingerprints)
    return encoding, encoding.apply(numbers, codes, fingerprints), fingerprints


@pytest.mark.parametrize("names", MIXTURES, ids="+".join)
def test_the_form_its_kernel_and_its_gradient_agree(names: list[str]) -> None:
    encoding, X, _ = encoded(names)
    _, form = form_for(encoding.layout)
    rng = np.random.default_rng(0)
    theta = np.array([prior.mode for prior in form.priors]) + 0.3 * rng.standard_normal(len(form.priors))
    K, pull_back = form.on(X)(theta)
    np.testing.assert_allclose(K, form.kernel(theta).matrix(X, X), atol=1e-10)
    np.testing.assert_allclose(np.diag(K), form.kernel(theta).diagonal(X), atol=1e-10)
    W = rng.standard_normal(K.shape)
    W += W.T
    for position, step in enumerate(np.eye(len(theta)) * 1e-5):
        numeric = np.vdot(W, form.on(X)(theta + step)[0] - form.on(X)(theta - step)[0]) / 2e-5
        assert pull_back(W)[position] == pytest.approx(numeric, rel=1e-4, abs=1e-6)


def test_molecules_are_as_alike_as_their_fingerprints_and_as_long_as_other_texts() -> None:
    encoding, X, fingerprints = encoded(["molecule", "heat"], 15)
    [columns] = encoding.layout.molecules
    assert encoding.layout.texts == ()
    counts = np.unique(X[:, list(columns)], axis=0)
    assert np.mean((counts**2).sum(axis=1)) == pytest.approx(1.0)
    expected = np.unique(np.round(Tanimoto().matrix(*[fingerprints[0].astype(float)] * 2), 9))
    found = np.unique(np.round(Tanimoto().matrix(counts, counts), 9))
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_a_molecule_in_many_candidates_has_a_column_per_level_as_well_which_decides_what_is_far() -> None:
    encoding, X, fingerprints = encoded(["molecule", "heat"], 30)
    [columns], [levels] = encoding.layout.molecules, encoding.layout.texts
    assert len(levels) == len(LEVELS)
    counts = X[:, list(columns)]
    assert np.abs(counts).max() < 0.01
    shown = fingerprints[0][np.argmax(X[:, list(levels)], axis=1)].astype(float)
    np.testing.assert_allclose(Tanimoto().matrix(counts, counts), Tanimoto().matrix(shown, shown), atol=1e-9)


def test_an_encoding_with_molecules_comes_back_as_it_was() -> None:
    encoding, X, fingerprints = encoded(["molecule", "solvent", "heat"])
    again = Encoding.build(encoding.describe())
    assert again == encoding
    assert X.shape[1] == len(encoding.layout.roles) == 16 + 4 + 2 + 1
    later = again.apply(np.array([[0.5]]), np.array([[3, 1]], dtype="<i4"), fingerprints)
    assert np.isfinite(later).all()


def test_a_list_of_one_molecule_is_encoded_without_it() -> None:
    codes = np.zeros((5, 1), dtype="<i4")
    fingerprints = {0: np.ones((1, 8), dtype="|u1")}
    columns = [COLUMNS["molecule"], COLUMNS["heat"]]
    encoding = learn_encoding(columns, np.linspace(0, 1, 5)[:, None], codes, None, fingerprints)
    assert encoding.layout.roles == ("number",)


def test_the_fit_weighs_the_molecule_that_matters() -> None:
    encoding, X, _ = encoded(["molecule", "ligand"], 60)
    first, _ = encoding.layout.molecules
    values = 10 * X[:, first[0]] + 5 * X[:, first[3]] - 4 * X[:, first[7]]
    observed = Observed.of(60, np.arange(60), values)
    fitted = fit(X, encoding.layout, observed, "maximize")
    _, form = form_for(encoding.layout)
    assert isinstance(form, MainEffects)
    assert fitted.theta[0] > fitted.theta[1] + 1
