"""What was observed, as arrays: one number per observation, NaN where there is none."""

from collections.abc import Mapping, Sequence

import numpy as np

from app.arrays import Array, FloatArray
from app.domain.observations import Measured, Outcome, ReportedObservation


def standard_error(measured: Measured | None) -> float:
    """The standard error of a value; NaN if it has none."""
    return np.nan if measured is None or measured.std is None else measured.std


def reported_values(observations: Sequence[ReportedObservation], name: str) -> FloatArray:
    """(n,) the reported values of a quantity; NaN where one is missing."""
    found = (reported.values.get(name) for reported in observations)
    return np.array([np.nan if measured is None else measured.value for measured in found], dtype="<f8")


def with_value(values: FloatArray, position: int, value: float) -> FloatArray:
    """The values with another one at a position."""
    changed = values.copy()
    changed[position] = value
    return changed


def appended(array: Array, more: Array) -> Array:
    """An array, and more at its end."""
    return np.concatenate((array, more))


def revised_errors(
    errors: Mapping[str, FloatArray], rows: int, position: int, outcome: Outcome, names: Sequence[str]
) -> dict[str, FloatArray]:
    """The standard errors of `rows` observations; a new value has the error that came with it, or none."""
    revised = dict(errors)
    for name in names:
        if name in outcome and (name in revised or outcome[name].std is not None):
            before = revised.get(name, np.full(rows, np.nan))
            revised[name] = with_value(before, position, standard_error(outcome[name]))
    return revised


def appended_errors(
    errors: Mapping[str, FloatArray], rows: int, more: Sequence[ReportedObservation], names: Sequence[str]
) -> dict[str, FloatArray]:
    """The standard errors of `rows` observations, and of more; nothing for a quantity that never had one."""
    extended = dict(errors)
    for name in names:
        new = np.array([standard_error(reported.values.get(name)) for reported in more], dtype="<f8")
        if name in extended or not np.isnan(new).all():
            extended[name] = appended(extended.get(name, np.full(rows, np.nan)), new)
    return extended
