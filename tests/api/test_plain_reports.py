"""A plain report takes a short way through the server: it is answered and stored as on the long one."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.api import plain_reports
from app.api.plain_reports import PlainReports, whole_body
from app.api.schemas.observations import ReportReceiptOut
from app.domain.errors import BodyTooSlow
from app.services.recent_results import RecentResults
from app.services.resources import Resources
from app.storage import studies
from tests.api.lab import Lab

LONG_WAY = {"Content-Type": "application/json; charset=utf-8"}  # means the same, and is not plain
SHORT_WAY = {"Content-Type": "application/json"}


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each request was plain, as they come."""
    seen: list[bool] = []
    read = plain_reports._plain_report

    def noted(*arguments: Any) -> Any:
        plain = read(*arguments)
        seen.append(plain is not None)
        return plain

    monkeypatch.setattr(plain_reports, "_plain_report", noted)
    return seen


def told(lab: Lab, study: str, body: Any, headers: dict[str, str], query: str) -> tuple[int, Any]:
    """Status and document of a report, without what differs between any two requests."""
    content = body if isinstance(body, bytes) else json.dumps(body)
    path = f"/v1/studies/{study}/observations{query}"
    answered = lab.client.post(path, content=content, headers=headers)
    document = {name: member for name, member in answered.json().items() if name != "request_id"}
    return answered.status_code, document


@pytest.mark.parametrize(
    ("body", "query"),
    [
        ({"candidate": "DMF-20", "value": 0.5}, ""),
        ({"candidate": "DMF-20", "value": 0.5}, "?duplicates=new"),
        ({"candidate": "DMF-20", "value": 0.5}, "?duplicates=no"),
        ({"candidate": "DMF-20", "value": 1e9}, "?implausible=refuse"),
        ({"candidate": "DMF-20", "value": 0.5}, "?implausable=refuse"),
        ({"candidate": "nobody", "value": 0.5}, ""),
        ({"suggestion": "B9-S1", "value": 0.5}, ""),
        ({"candidate": "DMF-20"}, ""),
        ({"observations": [{"key": "THF-30", "value": 1}, {"key": "THF-30", "failed": {"reason": "broke"}}]}, ""),
        ({"observations": []}, ""),
        (b"{", ""),
        (b'{"value": 1, "value": 2}', ""),
        (b"", ""),
    ],
)
def test_both_ways_answer_alike(lab: Lab, ways: list[bool], body: Any, query: str) -> None:
    for study in ("short", "long"):
        Lab(lab.client, study).begin()
        for number in range(6):
            told(lab, study, {"candidate": "DMF-20", "value": number / 10}, LONG_WAY, "")
    ways.clear()
    short = told(lab, "short", body, SHORT_WAY, query)
    assert short == told(lab, "long", body, LONG_WAY, query)
    assert ways[-1] is False


def test_a_plain_report_takes_the_short_way(lab: Lab, ways: list[bool]) -> None:
    lab.begin()
    for query in ("", "?implausible=accept"):
        answer = lab.client.post(f"{lab.path}/observations{query}", json={"candidate": "DMF-20", "value": 1})
        assert answer.status_code in (200, 201)
        ReportReceiptOut.model_validate_json(answer.content)
    assert ways == [True, True]


def test_a_retry_gets_the_same_bytes_on_either_way(lab: Lab, ways: list[bool]) -> None:
    lab.begin()
    key, line = {"Idempotency-Key": "one"}, b'{"candidate": "DMF-20", "value": 0.5}'
    path = f"{lab.path}/observations"
    first = lab.client.post(path, content=line, headers=SHORT_WAY | key)
    again = [lab.client.post(path, content=line, headers=way | key) for way in (LONG_WAY, SHORT_WAY)]
    assert {answer.content for answer in again} == {first.content}
    assert ways == [True, False, True]
    other = lab.client.post(path, content=line.replace(b"5", b"6"), headers=SHORT_WAY | key)
    assert other.json()["code"] == "idempotency-key-reused"


def test_a_key_that_may_not_report_is_refused_on_the_short_way(
    lab: Lab, ways: list[bool], anonymous: TestClient, new_key: Callable[..., str]
) -> None:
    lab.begin()
    line = {"candidate": "DMF-20", "value": 0.5}
    looking = {"Authorization": f"Bearer {new_key('dashboard')}"}
    codes = [
        anonymous.post(f"{lab.path}/observations", json=line, headers=headers).json()["code"]
        for headers in (looking, {"Authorization": "Bearer nb_nothing"}, {"Authorization": "Basic x"})
    ]
    assert codes == ["forbidden", "unauthenticated", "unauthenticated"]
    assert ways == [True, True, False]


def test_a_revoked_key_is_refused_at_once_though_it_was_remembered(
    lab: Lab, anonymous: TestClient, new_key: Callable[..., str]
) -> None:
    lab.begin()
    secret = new_key("admin")
    headers = {"Authorization": f"Bearer {secret}"}
    statuses = []
    for value in (1, 2, 3):
        line = {"candidate": "DMF-20", "value": value}
        statuses.append(anonymous.post(f"{lab.path}/observations", json=line, headers=headers).status_code)
        if value == 2:
            revoked = lab.client.post(f"/v1/keys/{secret.split('_')[1]}/revocation")
            assert revoked.status_code == 200, revoked.text
    assert statuses == [201, 201, 401]


def test_other_requests_are_passed_on() -> None:
    passed: list[str] = []

    async def application(scope: Any, _receive: Any, _send: Any) -> None:
        passed.append(scope["path"])

    plain = {"type": "http", "method": "POST", "path": "/v1/studies/s/observations", "query_string": b""}
    headers = [(b"content-type", b"application/json"), (b"authorization", b"Bearer x"), (b"content-length", b"9")]
    odd = [
        {"type": "lifespan", "path": "lifespan"},
        {**plain, "path": "/v1/studies/s/batches", "headers": headers},
        {**plain, "query_string": b"dry_run=true", "headers": headers},
        {**plain, "headers": [*headers, (b"transfer-encoding", b"chunked")]},
        {**plain, "headers": [*headers, (b"authorization", b"Bearer y")]},
        {**plain, "headers": [*headers[:2], (b"content-length", b"100")]},
        {**plain, "headers": [*headers, (b"idempotency-key", b"not one")]},
        {**plain, "method": "PUT", "headers": headers},
    ]
    layer = PlainReports(application, seconds=1, most_bytes=99)
    for scope in odd:
        asyncio.run(layer(scope, None, None))  # type: ignore[arg-type]
    assert len(passed) == len(odd)


def test_a_body_that_trickles_in_is_refused() -> None:
    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b"x", "more_body": True}

    with pytest.raises(BodyTooSlow):
        asyncio.run(whole_body(receive, 0.05))


def test_what_is_remembered_at_a_head_is_what_the_database_has(lab: Lab, resources: Resources) -> None:
    """After each step of a study's life: results, repeats, failures, corrections, retractions, batches."""
    lab.begin(repeats="allowed")

    def agree() -> None:
        with resources.database.read() as connection:
            study = studies.find(connection, lab.study)
            assert study is not None
            remembered = resources.recent_results.of(connection, study)
            assert remembered == RecentResults().of(connection, study)

    for number in range(53):
        lab.report(candidate=f"DMF-{20 + number % 8 * 10}", value=number / 7)
    agree()
    batch = lab.batch(min_size=3, max_size=3)
    twice = lab.batch("other", min_size=2, max_size=2, include=[{"key": "MeOH-20", "replicates": 2}])["suggestions"]
    both = next(suggestion["suggestion"] for suggestion in twice if suggestion["replicates"] == 2)
    steps: list[Callable[[], Any]] = [
        lambda: lab.report(candidate="DMF-20", value=0.0),
        lambda: lab.report(candidate="DMF-30", value=5.5),
        lambda: lab.report(suggestion=batch["suggestions"][0]["suggestion"], value=1.0),
        lambda: lab.report(suggestion=batch["suggestions"][1]["suggestion"], failed={"reason": "broke"}),
        lambda: lab.correct(53, 4.0),
        lambda: lab.retract(52),
        lambda: lab.report(candidate="nobody", value=1.0),
        lambda: lab.send({"observations": [{"key": "THF-20", "value": n} for n in range(60)]}),
        lambda: lab.report(candidate="DMF-30", value=6.5),
        lambda: lab.report(candidate="THF-30", value=3.0, ref="R"),
        lambda: lab.retract(117),
        lambda: lab.report(candidate="DMF-40", value=7.25),
        lambda: lab.report(candidate="THF-30", value=4.0, ref="R"),  # a new version of an old result
        lambda: lab.report(candidate="DMF-40", value=7.5),
        lambda: lab.report(suggestion=both, replicate=2, value=0.5),
        lambda: lab.report(suggestion=batch["suggestions"][2]["suggestion"], value=1.5),
        lambda: lab.report(suggestion=both, replicate=1, value=0.25),
    ]
    for step in steps:
        step()
        agree()
