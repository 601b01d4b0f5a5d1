"""Evenly spaced numbers without accumulated error: 20, 30, … and 0.1, 0.2, 0.3 exactly as one would write them."""

from fractions import Fraction

import numpy as np

from app.services.intake.cells import Floats


def step_count(low: float, high: float, step: float) -> int:
    """How many numbers low, low + step, … do not exceed high."""
    return int((_decimal(high) - _decimal(low)) / _decimal(step)) + 1


def by_step(low: float, high: float, step: float) -> Floats:
    """low, low + step, … up to high; each is the double nearest to the decimal value."""
    return _evenly(_decimal(low), _decimal(step), step_count(low, high, step))


def by_count(low: float, high: float, count: int) -> Floats:
    """`count` numbers from low to high, evenly spaced."""
    if count == 1:
        return np.array([low], dtype="<f8")
    return _evenly(_decimal(low), (_decimal(high) - _decimal(low)) / (count - 1), count)


def by_log_count(low: float, high: float, count: int) -> Floats:
    """`count` numbers from low to high in constant ratio, to twelve digits, the ends as given."""
    inner = np.exp(np.linspace(np.log(low), np.log(high), count))[1:-1]
    return np.array([low, *(float(f"{value:.12g}") for value in inner.tolist()), high][:count], dtype="<f8")


def _evenly(start: Fraction, width: Fraction, count: int) -> Floats:
    """start + i · width over a common denominator; dividing whole numbers rounds once, and correctly."""
    bottom = start.denominator * width.denominator
    first, each = start.numerator * width.denominator, width.numerator * start.denominator
    return np.array([(first + i * each) / bottom for i in range(count)], dtype="<f8")


def _decimal(value: float) -> Fraction:
    """The decimal number a person wrote: 0.1 is one tenth, not the double next to it."""
    return Fraction(repr(value))
