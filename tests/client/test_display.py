"""How things look in a notebook and on a terminal."""

from base64 import b64decode
from typing import Any
from uuid import uuid4
from xml.etree import ElementTree as ET

import pytest

from nextbatch import Client, Front, FrontPoint
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
    assert str(batch).endswith(f"\n{batch.details.size_words}")
    assert "2 measurements" in batch.details.size_words


def test_a_batch_of_molecules_shows_their_structures(client: Any) -> None:
    study = client.create_study(f"study-{uuid4().hex[:12]}", objective="yield")
    rows = [{"key": f"M{n}", "alcohol": smiles, "heat": n} for n, smiles in enumerate(["CCO", "OC=C", "CC(C)O"])]
    study.upload(rows, smiles=["alcohol"])
    batch = study.ask(min_size=2, max_size=2)
    table = ET.fromstring(batch._repr_html_())  # noqa: S314
    pictures = {image.get("alt"): image.get("src", "").partition("base64,")[2] for image in table.iter("img")}
    assert set(pictures) == ({suggestion["alcohol"] for suggestion in batch} if isinstance(client, Client) else set())
    assert all(b"<svg" in b64decode(picture) for picture in pictures.values())
    assert "<img" not in str(batch)


def test_a_batch_is_shown_in_texts_when_the_server_does_not_answer(study: Any) -> None:
    batch = study.ask(max_size=2)
    study.delete(confirm=study.name)
    assert all(suggestion.key in batch._repr_html_() for suggestion in batch)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 1.0], list(range(1000)), [-1e308, 1e308]])
def test_curves_are_drawn_of_anything(values: list[float]) -> None:
    assert len(sparkline(values)) <= 41
    assert curve(values).count("<svg") == (len(values) > 1)


def point(key: str, **values: float) -> FrontPoint:
    return FrontPoint(key, values, 1)


def front_of(measured: tuple[FrontPoint, ...], expected: tuple[FrontPoint, ...], *names: str) -> Front:
    return Front(measured, expected, 1.0, dict.fromkeys(names, 0.0), 3, 0.5, 0.95, True, "2 < 3 compromises")


def test_a_front_is_a_scatter_with_a_dot_for_every_point() -> None:
    measured = (point("A & B", high=2.0, low=1.0), point("C", high=1.0, low=0.5))
    html = front_of(measured, (point("D", high=3.0, low=2.0),), "high", "low")._repr_html_()
    drawn = ET.fromstring(html)  # noqa: S314
    circles = [circle for circle in drawn.iter() if circle.tag == "circle"]
    assert [circle.get("fill") for circle in circles] == ["none", "currentColor", "currentColor"]
    across, up = ([float(circle.get(axis) or "nan") for circle in circles] for axis in ("cx", "cy"))
    assert across[0] > across[1] > across[2]
    assert up[0] < up[1] < up[2]  # the vertical axis of a picture points down
    assert [cell.text for cell in drawn.iter() if cell.tag == "td"] == ["A & B", "2", "1", "C", "1", "0.5"]


@pytest.mark.parametrize("names", [(), ("high",), ("high", "low", "other")])
def test_a_front_of_anything_is_shown(names: tuple[str, ...]) -> None:
    for points in ((), (point("A", high=1.0),), (point("A", high=-1e308, low=5.0), point("B", high=1e308, low=5.0))):
        ET.fromstring(front_of(points, (), *names)._repr_html_())  # noqa: S314
