"""Settings at the ends of what a float can hold: refused when they come, or asks work with them."""

from typing import Any

import pytest

from tests.api.lab import THEORY, Lab
from tests.conftest import on_sqlite

pytestmark = on_sqlite

NUMBERS = ("noise", "norm", "scale", "offset", "regularization", "q_bar", "threshold", "delta")
EXTREMES = (5e-324, 1e-300, 1e-150, 1e150, 1e300, 1.7e308)
COLUMNS = ({"temperature": {"scale": "no such scale"}}, {"nowhere": {"scale": "log"}}, {"temperature": {"x": "y"}})


@pytest.mark.parametrize("number", EXTREMES)
@pytest.mark.parametrize("setting", NUMBERS)
def test_a_model_is_refused_or_it_suggests_and_learns(lab: Lab, setting: str, number: float) -> None:
    created = lab.client.put(lab.path, json={"theory": {**THEORY, setting: number}})
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
