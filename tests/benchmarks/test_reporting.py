"""The benchmark of reports: its clients, what they count, and who is measured beside them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import storing
from benchmarks.asking import client_of
from benchmarks.reporters import LIST, polls, processor_seconds, reports
from benchmarks.service import table
from tests.server import Server, running


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("server"), workers=2) as server, client_of(server) as client:
        client.put("/studies/s", json={"repeats": "allowed"}).raise_for_status()
        client.put("/studies/s/candidates", content=LIST, headers={"Content-Type": "text/csv"}).raise_for_status()
        yield server


def test_every_report_that_is_counted_is_stored(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.reporters.WARM_UP_SECONDS", 0.0)
    figures = reports(server, "s", clients=3, seconds=0.5)
    with client_of(server) as client:
        stored = client.get("/studies/s/observations", params={"limit": 10_000}).json()["observations"]
    assert figures["failed"] == 0
    assert len({observation["measured_by"] for observation in stored}) == len(stored) > 0
    assert 0 < figures["p50 ms"] <= figures["p99 ms"]


def test_polls_know_what_they_expect(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.reporters.WARM_UP_SECONDS", 0.0)
    with client_of(server) as client:
        etag = client.get("/studies/s/summary").headers["ETag"]
    path = "/v1/studies/s/summary"
    assert [polls(server, path, known, 2, 0.3)["failed"] for known in (etag, None)] == [0, 0]
    wrong = polls(server, path, 'W/"another"', 1, 0.3)
    assert wrong["failed"] > 0


def test_the_processor_time_is_that_of_all_workers(server: Server) -> None:
    own = Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    assert processor_seconds(server.process.pid) > (int(own[11]) + int(own[12])) / 100


def test_a_peer_without_an_environment_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storing, "ROOT", tmp_path)
    assert storing.rate_of("optuna", tmp_path, 1.0) is None
    assert table({"reports": {"a second": 200.0}}).splitlines()[-1] == "| reports | a second | 200 |"
