"""The files of `examples/deploy` fit the server: its metrics, its routes, its settings, its prefix header."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from tests.conftest import on_sqlite

FOLDER = Path(__file__).parents[2] / "examples" / "deploy"
DASHBOARD: dict[str, Any] = json.loads((FOLDER / "grafana.json").read_text())
SERIES = re.compile(r"\bnextbatch_\w+")
LABELS = re.compile(r"by \(([\w, ]+)\) \((?:rate\()?(nextbatch_\w+)")
HISTOGRAM_PARTS = ("_bucket", "_count", "_sum")


def queries() -> list[str]:
    return [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]


@on_sqlite
def test_every_query_of_the_dashboard_names_metrics_and_labels_that_there_are(admin: TestClient) -> None:
    admin.put("/v1/studies/measured", json={})
    admin.post("/v1/studies/measured/batches", json={})
    exposed = admin.get("/metrics").text
    kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", exposed, re.MULTILINE))
    for query in queries():
        for series in SERIES.findall(query):
            base = next((series.removesuffix(part) for part in HISTOGRAM_PARTS if series.endswith(part)), series)
            assert kinds.get(base) == ("histogram" if base != series else kinds.get(series)), query
            assert base in kinds, query
        for labels, series in LABELS.findall(query):
            lines = re.findall(rf"^{series}\{{(.*?)\}} ", exposed, re.MULTILINE)
            for label in labels.split(", "):
                assert all(f'{label}="' in line for line in lines), query


def test_the_dashboard_shows_every_metric_that_is_documented() -> None:
    operations = (FOLDER.parents[1] / "docs" / "operations.md").read_text()
    documented = set(re.findall(r"^\| `(nextbatch_\w+)` \|", operations, re.MULTILINE))
    shown = {series.removesuffix("_bucket") for query in queries() for series in SERIES.findall(query)}
    assert documented == shown


def test_the_dashboard_names_routes_that_there_are() -> None:
    paths = create_app(Settings()).openapi()["paths"]
    named = {route for query in queries() for route in re.findall(r'route="([^"]+)"', query)}
    assert named
    assert named <= set(paths)


def test_the_unit_sets_only_settings_that_there_are() -> None:
    unit = (FOLDER / "nextbatch.service").read_text()
    named = set(re.findall(r"\bNEXTBATCH_(\w+)=", unit))
    assert named
    assert named <= {name.upper() for name in Settings.model_fields}
    assert "ExecStart=/opt/nextbatch/bin/nextbatch serve" in unit


@pytest.mark.parametrize("name", ["Caddyfile", "nginx.conf"])
def test_a_proxy_removes_the_prefix_and_says_so(name: str) -> None:
    text = (FOLDER / name).read_text()
    assert re.search(r"X-Forwarded-Prefix /nextbatch\b", text)
    assert "handle_path /nextbatch/*" in text or "proxy_pass http://127.0.0.1:8000/;" in text
