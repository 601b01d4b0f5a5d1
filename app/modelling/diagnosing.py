"""Whether to trust the model of a study, and what it has learnt: in the user's units, with the names of columns."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from app.arrays import FloatArray
from app.domain.diagnoses import CalibrationPoint, ColumnEffect, Diagnoses, LeftOut, Outlier, SlicePoint
from app.engine.auto import FittedModel, LeaveOneOut, importances, leave_one_out, predictive_at
from app.engine.auto.encoding import ColumnEncoding
from app.engine.auto.predictive import HEAVY_TAILS
from app.modelling.engine_settings import auto_options
from app.modelling.model import Model

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
SURPRISING = 4.0
"""Predicted standard deviations between a result and what the others predict for it, from which it is an outlier."""

POINTS = 25
"""Of a slice along a column of numbers."""

FINGERPRINT = "fingerprint"


def earlier_name(study: str) -> str:
    """How the results of an earlier study are called among the columns."""
    return f"results of {study}"


def diagnose(model: Model, recommended: int) -> Diagnoses:
    """Everything there is to say; nothing in theory mode and before the first result."""
    if model.fit is None or not model.observed.size:
        return Diagnoses()
    columns = sorted(_effects(model, model.fit, recommended), key=lambda effect: -effect.importance)
    loo = leave_one_out(model.state.X, model.fit, model.observed)
    if loo is None:
        return Diagnoses(columns=tuple(columns))
    left_out = tuple(_left_out(model, loo))
    surprises = sorted(
        (result for result in left_out if abs(result.deviations) >= SURPRISING),
        key=lambda result: -abs(result.deviations),
    )
    return Diagnoses(
        left_out=left_out,
        calibration=tuple(_calibration(loo)),
        columns=tuple(columns),
        outliers=tuple(Outlier(result.candidate, result.deviations) for result in surprises),
    )


def _left_out(model: Model, loo: LeaveOneOut) -> Iterator[LeftOut]:
    radius = float(scipy.special.stdtrit(HEAVY_TAILS, 0.975)) * loo.deviation
    observed = model.objective.to_user(loo.observed)  # what was confirmed may lie outside the limits
    predicted, one_end, other_end = (
        model.to_user(vector) for vector in (loo.predicted, loo.predicted - radius, loo.predicted + radius)
    )
    deviations = (loo.observed - loo.predicted) / loo.deviation
    for i, number in enumerate(loo.numbers.tolist()):
        lower, upper = sorted((float(one_end[i]), float(other_end[i])))
        yield LeftOut(number, float(observed[i]), float(predicted[i]), lower, upper, float(deviations[i]))


def _calibration(loo: LeaveOneOut) -> Iterator[CalibrationPoint]:
    off = np.abs(loo.observed - loo.predicted) / loo.deviation
    for share in SHARES:
        inside = off <= float(scipy.special.stdtrit(HEAVY_TAILS, 0.5 + share / 2))
        yield CalibrationPoint(share, float(inside.mean()))


@dataclass(frozen=True)
class _Group:
    """A raw column, or all bits of a fingerprint, with the numbers of its encoded columns."""

    name: str
    encoded: list[int]
    column: ColumnEncoding | None = None  # None for a fingerprint or a molecule
    levels: tuple[str, ...] = ()


def _groups(model: Model) -> Iterator[_Group]:
    features = [column for column in model.ledger.columns if column.role == "feature"]
    spelled_out = {column.source for column in model.encoding.columns if column.role == "level"}
    start, bits, counts = 0, list[int](), dict[int, list[int]]()
    for column in model.encoding.columns:
        encoded = list(range(start, start + column.width))
        start += column.width
        raw = features[column.source]
        if column.role == "bit":
            bits += encoded
        elif column.role == "count" and column.source in spelled_out:
            counts[column.source] = encoded  # its levels follow
        elif column.role == "count":
            yield _Group(raw.name, encoded)
        else:
            levels = tuple(raw.levels[level] for level in column.levels)
            yield _Group(raw.name, encoded + counts.get(column.source, []), column, levels)
    if bits:
        yield _Group(FINGERPRINT, bits)
    for q, results in zip(model.layout.borrowed, model.ledger.borrowed, strict=False):
        yield _Group(earlier_name(results.study), [q])


def _effects(model: Model, fitted: FittedModel, recommended: int) -> Iterator[ColumnEffect]:
    groups = list(_groups(model))
    seed = model.ledger.configuration.seed
    matter = importances(model.state, [np.array(group.encoded) for group in groups], seed)
    lengthscales = fitted.lengthscales(model.layout)
    for group, importance in zip(groups, matter.tolist(), strict=True):
        names = group.levels or (group.name,)
        known = {name: lengthscales[q] for name, q in zip(names, group.encoded, strict=False) if q in lengthscales}
        yield ColumnEffect(group.name, float(importance), known, _slice(model, fitted, group, recommended))


def _slice(model: Model, fitted: FittedModel, group: _Group, recommended: int) -> tuple[SlicePoint, ...]:
    """The recommended candidate with every level, or with numbers over the whole range, in one column."""
    if group.column is None:
        return ()
    values, features = _along(group.column, group.levels)
    if len(group.encoded) > group.column.width:  # a molecule: its counts belong to its level
        rows = [int(np.argmax(model.state.X[:, q])) for q in group.encoded[: group.column.width]]
        features = model.state.X[np.ix_(rows, group.encoded)]
    X = np.repeat(model.state.X[[recommended]], len(values), axis=0)
    X[:, group.encoded] = features
    middle, radius = predictive_at(model.state, fitted, model.observed, auto_options(model.ledger.configuration), X)
    mean, one_end, other_end = (model.to_user(vector) for vector in (middle, middle - radius, middle + radius))
    lower, upper = np.minimum(one_end, other_end), np.maximum(one_end, other_end)
    return tuple(SlicePoint(value, float(mean[i]), float(lower[i]), float(upper[i])) for i, value in enumerate(values))


def _along(column: ColumnEncoding, levels: tuple[str, ...]) -> tuple[list[float | str], FloatArray]:
    """Values of a column as the user writes them, and as the model reads them."""
    if column.scaling is None:
        return list(levels), np.eye(len(levels))
    scaling = column.scaling
    space = np.geomspace if scaling.kind == "log" else np.linspace
    values = np.clip(space(scaling.low, scaling.high, POINTS), scaling.low, scaling.high)
    return [float(value) for value in values], scaling.apply(values)[:, None]
