"""What earlier studies expect of this one's candidates: one more feature for each study.

The results of an earlier study are fitted in the columns that both have, encoded as this study encodes them. The mean
of that model at a candidate, standardised over the first list of candidates, is the feature. How much of it counts is
fitted with everything else (`Borrowing` of the engine), so that an unrelated study does not mislead.

A text that this study does not know is as far from every known text as they are from each other. Rows with a molecule
that it does not know are left out.
"""

from collections.abc import Sequence

import numpy as np

from app.arrays import Array, BoolArray, FloatArray
from app.domain.candidates import Column
from app.domain.events import EarlierResults
from app.domain.studies import Direction
from app.engine.auto import Encoding, Layout, ObjectiveDirection, Observed, fit
from app.engine.auto.columns import BORROWED_SCALE
from app.engine.auto.encoding import Fingerprints

FEWEST = 3
"""Results that an expectation can be made from."""

UNKNOWN = -1
"""The code of a text that this study does not have."""


def borrowed_features(
    earlier: Sequence[EarlierResults],
    columns: Sequence[Column],
    encoding: Encoding,
    first: FloatArray,
    X: FloatArray,
    fingerprints: Fingerprints,
) -> FloatArray:
    """(n, k): what each earlier study expects at the features X (n, d), for the engine's columns `borrowed`."""
    features = [column for column in columns if column.role == "feature"]
    expected = [_expected(results, features, encoding, first, X, fingerprints) for results in earlier]
    return BORROWED_SCALE * np.column_stack(expected) if expected else np.empty((len(X), 0))


def _expected(
    results: EarlierResults,
    features: Sequence[Column],
    encoding: Encoding,
    first: FloatArray,
    X: FloatArray,
    fingerprints: Fingerprints,
) -> FloatArray:
    shared, layout = _shared(results, features, encoding)
    rows, known = _encoded(results, features, encoding, fingerprints)
    values = np.array(results.values)[known]
    if not shared or len(values) < FEWEST:
        return np.zeros(len(X))
    points = np.ascontiguousarray(rows[known][:, shared])
    direction: ObjectiveDirection = "minimize" if results.direction is Direction.MINIMIZE else "maximize"
    fitted = fit(points, layout.only(shared), Observed.of(len(points), np.arange(len(points)), values), direction)
    K = fitted.kernel.matrix(points, points) + fitted.lam * np.eye(len(points))
    weights = np.linalg.solve(K, fitted.objective.to_model(values))

    def mean_at(where: FloatArray) -> FloatArray:
        return np.asarray(fitted.kernel.matrix(np.ascontiguousarray(where[:, shared]), points) @ weights)

    on_list = mean_at(first)
    deviation = float(on_list.std())
    return (mean_at(X) - on_list.mean()) / deviation if deviation > 0 else np.zeros(len(X))


def usable_results(results: EarlierResults, columns: Sequence[Column]) -> int:
    """How many rows have no molecule that this study does not know; a column of one molecule alone is no feature."""
    molecules = [column for column in columns if column.fingerprint is not None and len(column.levels) > 1]
    usable = np.ones(len(results.values), dtype=bool)
    for column in (column for column in molecules if column.name in results.texts):
        usable &= _codes(column, results.texts[column.name]) != UNKNOWN
    return int(usable.sum())


def _shared(results: EarlierResults, features: Sequence[Column], encoding: Encoding) -> tuple[list[int], Layout]:
    """The encoded columns whose raw columns the earlier study has, too."""
    layout = encoding.layout
    if not encoding.columns:
        return [], layout
    shared = [column.name in (results.texts if column.kind == "text" else results.numbers) for column in features]
    return [q for q, source in enumerate(layout.sources) if shared[source]], layout


def _encoded(
    results: EarlierResults, features: Sequence[Column], encoding: Encoding, fingerprints: Fingerprints
) -> tuple[FloatArray, BoolArray]:
    """The earlier candidates as this study encodes its own, and which of them have known molecules alone."""
    n = len(results.values)
    absent, unknown = np.zeros(n), np.full(n, UNKNOWN, dtype="<i4")
    numbers = [np.array(results.numbers.get(column.name, absent)) for column in features if column.kind != "text"]
    texts = [column for column in features if column.kind == "text"]
    codes = [
        _codes(column, results.texts[column.name]) if column.name in results.texts else unknown for column in texts
    ]
    stacked = np.column_stack(codes).astype("<i4") if codes else np.empty((n, 0), dtype="<i4")
    known = np.ones(n, dtype=bool)
    for column in encoding.columns:
        if column.role == "count" and texts[column.slot].name in results.texts:
            known &= stacked[:, column.slot] != UNKNOWN
    encoded = encoding.apply(np.column_stack(numbers) if numbers else np.empty((n, 0)), stacked, fingerprints)
    return encoded, known


def _codes(column: Column, cells: Sequence[str]) -> Array:
    code_of = {level: code for code, level in enumerate(column.levels)}
    return np.array([code_of.get(cell, UNKNOWN) for cell in cells])
