"""The comparison of precisions: the first way is compared with itself, and drift is seen where there is some."""

from argparse import Namespace

import numpy as np

from benchmarks import precision
from benchmarks.datasets import generated

OPTIONS = Namespace(horizon=60, seeds=2, exploration=0.25)


def test_every_way_is_compared_with_float64() -> None:
    figures = precision._compared(generated(300, 3), "global", OPTIONS)
    double, single = figures["float64"], figures["float32"]
    assert double["studies with the same batches"] == 2
    assert double["measurements before the first difference"] == [60, 60]
    assert double["drift of the mean"] < 1e-8 < single["drift of the mean"] < 0.1
    assert 2 * single["bytes of X and Z"] <= 1.1 * double["bytes of X and Z"]
    assert len(single["regret"]) == 2
    assert np.isfinite(single["regret"]).all()
