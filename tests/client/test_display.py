"""How things look in a notebook and on a terminal."""

from typing import Any
from xml.etree import ElementTree as ET

import pytest

from nextbatch.display import curve, sparkline


def test_a_study_shows_a_table_and_a_curve(study: Any) -> None:
    study.report([{"key": "A1", "value": 0.4}, {"key": "A2", "value": 0.9}])
    html = study.overview()._repr_html_()
    ET.fromstring(html)  # noqa: S314  (our own)
    assert "<svg" in html
    assert "A2" in html
    assert "best so far" in str(study.overview())
    assert study.name in study._repr_html_()
    assert repr(study) == f"<study {study.name}: 4 candidates, active>"


def test_an_overview_counts_in_plain_english(study: Any) -> None:
    study.report({"key": "A1", "value": 0.4})
    assert "1 result in 0 batches, none pending" in str(study.overview())
    study.ask(min_size=2, max_size=2)
    assert "1 result in 1 batch, 2 pending" in str(study.overview())


def test_a_batch_shows_its_suggestions(study: Any) -> None:
    batch = study.ask(max_size=2)
    ET.fromstring(batch._repr_html_())  # noqa: S314
    for suggestion in batch:
        assert suggestion.key in str(batch)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 1.0], list(range(1000)), [-1e308, 1e308]])
def test_curves_are_drawn_of_anything(values: list[float]) -> None:
    assert len(sparkline(values)) <= 41
    assert curve(values).count("<svg") == (len(values) > 1)
