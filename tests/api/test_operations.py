"""Alive, ready, measured: what whoever runs the server asks."""

import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text

from app.main import create_app
from app.settings import Settings
from app.storage.database import Database
from tests import postgres
from tests.api.conftest import problem
from tests.conftest import on_sqlite


def test_a_server_on_a_migrated_database_is_alive_and_ready(anonymous: TestClient) -> None:
    assert anonymous.get("/healthz").json() == {"status": "ok"}
    compute = {"kind": "here", "workers": 0, "ready": 0, "running": 0, "deaths": 0, "nodes": 1}
    assert anonymous.get("/readyz").json() == {"status": "ok", "compute": compute}


def test_a_server_whose_schema_is_behind_is_alive_but_not_ready(anonymous: TestClient, database: Database) -> None:
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '0000'"))
    document = problem(anonymous.get("/readyz"), 503, "database-unavailable")
    assert "nextbatch migrate" in document["detail"]
    assert anonymous.get("/healthz").status_code == 200


@on_sqlite
def test_a_server_without_its_sqlite_file_is_not_ready(address: str, settings: Settings, tmp_path: Path) -> None:
    gone = settings.model_copy(update={"database_url": f"sqlite:///{tmp_path / 'gone' / 'nextbatch.sqlite3'}"})
    with TestClient(create_app(gone)) as client:
        answer = client.get("/readyz")
        problem(answer, 503, "database-unavailable")
        assert answer.headers["Retry-After"] == "1"


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_a_server_whose_postgresql_database_is_gone_is_not_ready_and_comes_back(
    anonymous: TestClient, address: str, postgres_server: str
) -> None:
    name = re.findall(r"/(test_\w+)", address)[0]
    assert anonymous.get("/readyz").status_code == 200
    postgres.drop_database(postgres_server, name)
    problem(anonymous.get("/readyz"), 503, "database-unavailable")
    postgres.create_database(postgres_server, name, "template_migrated")
    assert anonymous.get("/readyz").status_code == 200


@on_sqlite
def test_metrics_count_requests_by_route_and_not_by_address(anonymous: TestClient) -> None:
    for path in ("/v1/studies/a", "/v1/studies/b", "/nothing"):
        anonymous.get(path)
    anonymous.request("BREW", "/nothing")
    measured = anonymous.get("/metrics").text
    assert 'nextbatch_requests_total{method="GET",route="/v1/studies/{study}",status="401"} 2.0' in measured
    assert 'nextbatch_requests_total{method="GET",route="unmatched",status="404"} 1.0' in measured
    assert 'nextbatch_requests_total{method="other",route="unmatched",status="404"} 1.0' in measured
    assert 'nextbatch_request_seconds_count{route="/v1/studies/{study}"} 2.0' in measured
    assert "BREW" not in measured


DOCUMENTED = re.findall(
    r"^\| `(nextbatch_\w+)` \| (.*?) \|", (Path(__file__).parents[2] / "docs/operations.md").read_text(), re.MULTILINE
)


def test_every_metric_is_documented_with_its_labels(admin: TestClient, filled: str) -> None:
    admin.post(f"/v1/studies/{filled}/batches", json={"worker": "w"})
    measured = re.sub(r".*_created.*\n", "", admin.get("/metrics").text)  # when the library began to count
    samples = re.findall(r"^(nextbatch_\w+?)(?:_bucket|_sum|_count)?(?:\{(.*?)\})? \S+$", measured, re.MULTILINE)
    found = {
        (name, label) for name, labels in samples for label in re.findall(r"(\w+)=", labels or "") if label != "le"
    }
    named = {name for name, _ in samples}
    told = {(name, label) for name, words in DOCUMENTED for label in re.findall(r"`(\w+)`(?:,|:|$)", words)}
    assert named == {name for name, _ in DOCUMENTED} - {"nextbatch_webhook_attempts_total"}
    assert {pair for pair in found if pair not in told} == set()
    assert 'nextbatch_studies{state="active"} 1.0' in measured
    assert re.search(r'nextbatch_ask_seconds_count\{status="201"\} 1\.0', measured)
    assert float(re.findall(r'nextbatch_memory_bytes\{kind="resident"\} (\S+)', measured)[0]) > 1e7
