"""Many results in one call take a short way into the ledger and the tables, with nothing to tell it by."""

from random import Random
from typing import Any

import pytest
from fastapi.testclient import TestClient
from pydantic import ValidationError
from sqlalchemy import select

from app.api import report_json
from app.api.report_json import report_columns
from app.api.schemas.observations import ReportIn
from app.domain import ledger as entries
from app.domain.codec import canonical, to_plain
from app.services.use_cases import report
from app.storage import observations
from app.storage.database import Database
from app.storage.tables import events, studies
from app.storage.tables import observations as rows

LIST = "key,x\n" + "".join(f"K{n},{n}\n" for n in range(20))


def _reports(seed: int, count: int) -> list[dict[str, Any]]:
    """Results of all kinds: plain, with error bars, notes, names and numbers, repeated, and failed ones."""
    random = Random(seed)
    reports = []
    for number in range(count):
        report: dict[str, Any] = {"key": f"K{random.randrange(20)}", "value": random.choice([-0.0, 1e16, 1 / 3, 7])}
        if random.random() < 0.3:
            report |= {"std": random.random(), "note": 'a "note" – é', "measured_by": "bench\u00a02"}
        if random.random() < 0.2:
            report |= {"ref": f"R{number}", "measured_at": "2026-01-02T03:04:05Z"}
        if random.random() < 0.1:
            report = {"key": report["key"], "failed": {"reason": "vial broke", "retry": True}}
        reports.append(report)
    return reports


@pytest.mark.parametrize("seed", range(3))
def test_many_results_leave_the_ledger_and_the_rows_that_the_long_way_leaves(
    admin: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    reports = _reports(seed, 1_500)  # more than one event
    short = _stored(admin, database, "short", reports)
    monkeypatch.setattr(entries, "reported_text", lambda event: canonical(to_plain(event)))
    monkeypatch.setattr(observations, "outcome_text", lambda values: canonical(to_plain(values)))
    assert _stored(admin, database, "long", reports) == short
    for study in ("short", "long"):
        assert admin.post(f"/v1/studies/{study}/verify").json()["sound"]


@pytest.mark.parametrize("repeats", ["none", "all", "one"])
def test_results_of_a_key_and_a_value_alone_pass_as_columns_to_the_same_end(
    admin: TestClient, database: Database, monkeypatch: pytest.MonkeyPatch, repeats: str
) -> None:
    """A second call repeats nothing of the first one, all of it, or one result."""
    random = Random(5)
    first = [{"key": f"K{random.randrange(20)}", "value": random.choice([-0.0, n / 3, 7])} for n in range(1_500)]
    new = [{"candidate": "K1", "value": 0.1 + n} for n in range(200)]
    second = {"none": new, "all": first, "one": [*new, first[3]]}[repeats]
    short = _stored(admin, database, "short", first), _told(admin, "short", second)
    monkeypatch.setattr(report_json, "report_columns", lambda _: None)
    monkeypatch.setattr(report, "match_plainly", lambda *_, **__: None)
    assert (_stored(admin, database, "long", first), _told(admin, "long", second)) == short
    assert _content(database, "long") == _content(database, "short")
    assert short[1]["recorded"] == {"none": 200, "all": 0, "one": 200}[repeats]


@pytest.mark.parametrize(
    "odd",
    [
        {"key": "K1", "value": True},
        {"key": "K1", "value": "7"},
        {"key": "K1", "value": None},
        {"key": "", "value": 1.0},
        {"key": "two\nlines", "value": 1.0},
        {"key": "x" * 500, "value": 1.0},
        {"key": 1, "value": 1.0},
        {"key": "K1", "values": 1.0},
        ["K1", 1.0],
    ],
)
def test_what_a_report_refuses_is_no_column(odd: Any) -> None:
    plain = {"key": "K1", "value": 1.0}
    assert report_columns([plain, odd]) is None
    with pytest.raises(ValidationError):
        ReportIn.model_validate(odd)


def test_numbers_that_are_not_finite_are_no_column() -> None:
    assert report_columns([{"key": "K1", "value": float("inf")}]) is None
    assert report_columns([{"key": "K1", "value": 10**400}]) is None


def test_a_call_with_one_wrong_result_stores_none(admin: TestClient, database: Database) -> None:
    wrong = [*_reports(0, 1_500), {"key": "nobody", "value": 1.0}]
    _begin(admin, "s")
    answer = admin.post("/v1/studies/s/observations", json={"observations": wrong})
    assert answer.status_code == 422
    assert _content(database, "s") == ([], [])


def _stored(
    admin: TestClient, database: Database, study: str, reports: list[dict[str, Any]]
) -> tuple[Any, list[Any], list[Any]]:
    """The answer, the payloads of the results' events and the rows of a call."""
    _begin(admin, study)
    return _told(admin, study, reports), *_content(database, study)


def _told(admin: TestClient, study: str, reports: list[dict[str, Any]]) -> Any:
    answer = admin.post(f"/v1/studies/{study}/observations", json={"observations": reports})
    assert answer.status_code in (200, 201)
    return answer.json()


def _begin(admin: TestClient, study: str) -> None:
    admin.put(f"/v1/studies/{study}", json={"repeats": "allowed"}).raise_for_status()
    headers = {"Content-Type": "text/csv"}
    admin.put(f"/v1/studies/{study}/candidates", content=LIST, headers=headers).raise_for_status()


def _content(database: Database, study: str) -> tuple[list[Any], list[Any]]:
    of_study = select(studies.c.id).where(studies.c.name == study).scalar_subquery()
    reported = events.c.type.in_(("observations-reported", "measurements-failed"))
    told = select(events.c.payload).where(events.c.study_id == of_study, reported).order_by(events.c.seq)
    columns = [column for column in rows.c if column.name not in ("study_id", "recorded_at")]
    kept = select(*columns).where(rows.c.study_id == of_study).order_by(rows.c.number)
    with database.read() as connection:
        return list(connection.execute(told).scalars()), [tuple(row) for row in connection.execute(kept)]
