"""Settings at the ends of what a float can hold: refused when they come, or asks work with them."""

from typing import Any

import pytest

from tests.api.lab import THEORY, Lab
from tests.conftest import on_sqlite

pytestmark = on_sqlite

NUMBERS = ("noise", "norm", "scale", "offset", "regularization", "q_bar", "threshold", "delta")
EXTREMES = (5e-324, 1e-300, 1e-150, 1e150, 1e300, 1.7e308)
GAUSSIAN = {"kind": "gaussian", "lengthscale": 0.5}
HUGE = {"kind": "scaled", "amplitude": 1e100, "part": GAUSSIAN}
TINY = {"kind": "scaled", "amplitude": 1e-100, "part": GAUSSIAN}
KERNELS = {
    "a column that is not there": {"kind": "columns", "columns": [99], "part": GAUSSIAN},
    "half a column": {"kind": "columns", "columns": [0.5], "part": GAUSSIAN},
    "no whole degree": {"kind": "polynomial", "degree": 2.5},
    "a high degree": {"kind": "polynomial", "degree": 1e80},
    "very many parts": {"kind": "sum", "parts": [GAUSSIAN] * 5_000},
    "huge variances": {"kind": "product", "parts": [HUGE, HUGE]},
    "tiny variances": {"kind": "product", "parts": [TINY, TINY]},
    "a large slope": {"kind": "polynomial", "degree": 20, "slope": 1e90},
}
COLUMNS = ({"temperature": {"scale": "no such scale"}}, {"nowhere": {"scale": "log"}}, {"temperature": {"x": "y"}})


@pytest.mark.parametrize("number", EXTREMES)
@pytest.mark.parametrize("setting", NUMBERS)
def test_a_model_is_refused_or_it_suggests_and_learns(lab: Lab, setting: str, number: float) -> None:
    created = lab.client.put(lab.path, json={"theory": {**THEORY, setting: number}})
    assert created.status_code in (201, 422), created.text
    if created.status_code == 201:
        _asks_never_crash(lab)


@pytest.mark.parametrize("precision", [None, "float32"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_is_refused_or_it_suggests_and_learns(lab: Lab, kernel: str, precision: str | None) -> None:
    theory = {**THEORY, "kernel": KERNELS[kernel], "noise": 1e60}
    created = lab.client.put(lab.path, json={"theory": theory, "precision": precision})
    assert created.status_code in (201, 422), created.text
    if created.status_code == 201:
        _asks_never_crash(lab)


@pytest.mark.parametrize("columns", COLUMNS)
def test_a_setting_of_columns_is_refused_or_harmless(lab: Lab, columns: dict[str, Any]) -> None:
    created = lab.client.put(lab.path, json={"columns": columns})
    assert created.status_code in (201, 422), created.text
    if created.status_code == 201:
        _asks_never_crash(lab)


def _asks_never_crash(lab: Lab) -> None:
    uploaded = lab.client.put(
        f"{lab.path}/candidates", content="key,temperature\nA,1\nB,2\nC,3\n", headers={"Content-Type": "text/csv"}
    )
    assert uploaded.status_code == 201, uploaded.text
    for worker in ("first", "second"):
        asked = lab.ask(worker, max_size=1)
        assert asked.status_code < 500, asked.text
        if asked.status_code == 201:
            lab.measure(asked.json())
    for part in ("summary", "certificate", "candidates?posterior=true"):
        assert lab.client.get(f"{lab.path}/{part}").status_code < 500, part
