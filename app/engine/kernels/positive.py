"""The one condition every hyperparameter meets."""

import math


def positive(name: str, values: float | tuple[float, ...]) -> None:
    """Raise unless there is at least one value and all are positive and finite."""
    listed = values if isinstance(values, tuple) else (values,)
    if not listed or not all(math.isfinite(value) and value > 0 for value in listed):
        raise ValueError(f"{name} must be positive and finite: {values}")
