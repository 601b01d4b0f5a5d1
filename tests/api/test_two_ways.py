"""Generated requests end alike, byte for byte, on the short ways of a report and on the ordinary one.

The ordinary way is FastAPI's route, the matcher that knows suggestions, replicates and repeats, an object for each
result, and the general codec. The short ways leave out one or more of these.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select

from app.api import plain_reports, report_json
from app.domain import ledger as entries
from app.domain.codec import canonical, to_plain
from app.services.use_cases import report
from app.storage import observations
from app.storage.database import Database
from app.storage.tables import events, idempotency, studies
from app.storage.tables import observations as rows
from tests.api.lab import Lab

KEYS = ["K1", "K2", "K3", 'é "4"', "K\U0001f4a05"]
LIST = 'key,x\nK1,0\nK2,1\nK3,2\n"é ""4""",3\nK\U0001f4a05,4\n'
SETTINGS: list[dict[str, Any]] = [
    {"repeats": "allowed"},
    {"repeats": "allowed", "objective": 'yield "é"', "unit": "%"},
    {
        "repeats": "allowed",
        "objectives": [{"name": "yield", "direction": "maximize", "limits": {"low": 0, "high": 100}}],
    },
    {"repeats": "allowed", "objectives": [{"name": name, "direction": "maximize"} for name in ("yield", "purity")]},
]
VALUES: list[Any] = [0, 1, 1.0, 0.1, -0.0, 1 / 3, 7, 1e16, 1e22, 123456789012345678, 2**53 + 1, 1e-7, 5e-324, 1e101]
ODD: list[Any] = [None, True, "7", [], {}, 10**400]
TOKENS = [*[None] * 20, *(f"t{number}" for number in range(20)), "with space", "", "x" * 201]
QUERIES = [
    *[""] * 10,
    *("duplicates=skip", "duplicates=new", "implausible=accept", "implausible=refuse"),
    *("outside_limits=accept", "outside_limits=refuse", "duplicates=new&implausible=refuse"),
    *("duplicates=never", "dry_run=true", "corrections=accept&reason=typo", "unknown=1", "duplicates=%6eew", "&"),
]
HEADERS: list[dict[str, str]] = [
    *[{}] * 12,
    {"Content-Type": "application/json; charset=utf-8"},
    {"Content-Type": "Application/JSON"},
    {"Content-Type": "text/plain"},
    {"Authorization": "Bearer nb_000000000000_" + "x" * 43},
    {"Authorization": "Bearer  KEY"},
    {"Authorization": "Bearer KEY "},
    {"Authorization": "Bearer\tKEY"},
    {"Authorization": "bearer KEY"},
    {"Authorization": "Bearer "},
    {"Authorization": "Basic KEY"},
    {"Accept-Encoding": "gzip"},
    {"X-Request-ID": "mine"},
    {"Host": "elsewhere.example.org"},
]


class Requests:
    """Requests as people, programs and mistakes make them; the same seed makes the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.made: list[tuple[str, dict[str, str], bytes]] = []

    def make(self) -> tuple[str, dict[str, str], bytes]:
        """Query, headers and body of one, which may be that of before."""
        random = self.random
        if self.made and random.random() < 0.15:
            return random.choice(self.made)
        token = random.choice(TOKENS)
        headers = {"Content-Type": "application/json", **random.choice(HEADERS)}
        headers |= {} if token is None else {"Idempotency-Key": token}
        self.made.append((random.choice(QUERIES), headers, self.body()))
        return self.made[-1]

    def body(self) -> bytes:
        random = self.random
        kind = random.randrange(20)
        if kind == 0:
            return random.choice([b"", b"{", b"null", b"[]", b'{"value": NaN}', b"\xff", b'{"key": "K1", "value": 1}x'])
        if kind == 1:
            return b'{"key": "K1", "key": "K1", "value": 1}'
        if kind == 2:
            return json.dumps({"observations": random.choice([[], {}, None, [1], [self.line()] * 2])}).encode()
        if kind < 6:
            return json.dumps({"observations": [self.line() for _ in range(random.choice([1, 2, 30]))]}).encode()
        if kind < 8:  # more than share a commit; most often all of them are plain
            many = [self.plain() for _ in range(random.choice([101, 130]))]
            return json.dumps({"observations": [*many, self.line()] if kind == 6 else many}).encode()
        return json.dumps(self.line(), ensure_ascii=random.random() < 0.5).encode()

    def plain(self) -> dict[str, Any]:
        return {self.random.choice(["key", "candidate"]): self.random.choice(KEYS), "value": self.value()}

    def value(self) -> Any:
        return self.random.choice([self.random.choice(VALUES), self.random.randrange(1000) / 7])

    def line(self) -> Any:
        random = self.random
        line = self.plain()
        more: list[dict[str, Any]] = [
            {"std": random.choice([0.5, 0, -1, None])},
            {"note": random.choice(['a "note"\n– é', "", None, "\0"])},
            {"measured_by": random.choice(["bench\u00a02", "", None, "two\nlines"])},
            {"measured_at": random.choice(["2026-01-02T03:04:05Z", "2026-01-02T03:04:05+02:00", "yesterday", None])},
            {"ref": random.choice(["R1", "R2", ""])},
            {"replicate": random.choice([1, 2, 0, None])},
            {"value": None, "values": random.choice([[1, 2.5], {"yield": 3}, {"yield": {"value": 1, "std": 2}}, {}])},
            {"value": None, "replicates": random.choice([[1, 2], [], [{"yield": 1}]])},
            {"value": None, "failed": {"reason": "vial broke", "retry": random.random() < 0.5}},
            {"value": None, "abandoned": {"reason": "no time"}},
            {"suggestion": random.choice(["B1-S1", "b1-s2", "B9-S9", "x"])},
            {"key": random.choice(["nobody", "", 7, "k1", "two\nlines"])},
            {"value": random.choice(ODD)},
            {"sample": 1},
        ]
        for changed in random.sample(more, random.choice([0, 0, 0, 1, 1, 2])):
            line |= changed
        if "suggestion" in line and random.random() < 0.9:
            line.pop("key", None)
            line.pop("candidate", None)
        return line


@contextmanager
def _short_ways_counted(ways: Counter[str]) -> Iterator[None]:
    """Count how often a short way was taken."""
    shortened = {"head": (plain_reports, "_plain_report"), "match": (report, "match_plainly")}
    shortened["columns"] = report_json, "report_columns"

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*arguments: Any, **options: Any) -> Any:
            made = function(*arguments, **options)
            ways[name] += made is not None
            return made

        return counting

    with pytest.MonkeyPatch.context() as patched:
        for name, (module, function) in shortened.items():
            patched.setattr(module, function, counted(name, getattr(module, function)))
        yield


@contextmanager
def _ordinary_way() -> Iterator[None]:
    """Without any of the short ways."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(plain_reports, "_plain_report", lambda *_: None)
        patched.setattr(report, "match_plainly", lambda *_, **__: None)
        patched.setattr(report_json, "report_columns", lambda _: None)
        patched.setattr(entries, "reported_text", lambda event: canonical(to_plain(event)))
        patched.setattr(observations, "outcome_text", lambda values: canonical(to_plain(values)))
        yield


@pytest.mark.parametrize("seed", range(len(SETTINGS)))
def test_generated_requests_end_alike_on_both_ways(admin: TestClient, database: Database, seed: int) -> None:
    labs = [Lab(admin, study).begin(LIST, **SETTINGS[seed]) for study in ("quick", "usual")]
    requests, ways = Requests(seed), Counter[str]()
    for number in range(60):
        if number == 25:  # before, nothing is pending
            for lab in labs:
                lab.batch(min_size=2, max_size=2)
        request = requests.make()
        with _short_ways_counted(ways):
            quick = _told(admin, "quick", *request)
        with _ordinary_way():
            usual = _told(admin, "usual", *request)
        assert quick == usual, (number, *request)
    assert _content(database, "quick") == _content(database, "usual")
    assert labs[0].is_sound()
    assert ways["head"] >= 15
    assert (ways["match"] >= 5) == (seed < 3)  # those of several quantities are never matched plainly


def _told(admin: TestClient, study: str, query: str, headers: dict[str, str], body: bytes) -> tuple[Any, ...]:
    """Status, headers and bytes of an answer, without what differs between any two requests."""
    key = admin.headers["Authorization"].removeprefix("Bearer ")
    sent = {name: value.replace("KEY", key) for name, value in headers.items()}
    if sent.get("Idempotency-Key", "").startswith("t"):  # those of one key are all in one table
        sent["Idempotency-Key"] = f"{study}-{sent['Idempotency-Key']}"
    path = f"/v1/studies/{study}/observations{'?' if query else ''}{query}"
    answer = admin.post(path, content=body, headers=sent)
    return answer.status_code, *_comparable(answer, study)


def _comparable(answer: Response, study: str) -> tuple[dict[str, str], bytes]:
    request_id = answer.headers["X-Request-ID"]
    headers = {name: value for name, value in answer.headers.items() if value != request_id}
    return headers, answer.content.replace(request_id.encode(), b"ID").replace(study.encode(), b"STUDY")


def _content(database: Database, study: str) -> tuple[list[Any], ...]:
    """The events, the rows of results and the stored answers of a study."""
    of_study = select(studies.c.id).where(studies.c.name == study).scalar_subquery()
    told = select(events.c.seq, events.c.type, events.c.payload, events.c.reason)
    told = told.where(events.c.study_id == of_study).where(events.c.type != "batch-issued").order_by(events.c.seq)
    columns = [column for column in rows.c if column.name not in ("study_id", "recorded_at")]
    kept = select(*columns).where(rows.c.study_id == of_study).order_by(rows.c.number, rows.c.version)
    answers = select(idempotency.c.token, idempotency.c.status, idempotency.c.headers, idempotency.c.body)
    answers = answers.where(idempotency.c.token.startswith(f"{study}-")).order_by(idempotency.c.token)
    with database.read() as connection:
        stored = [[tuple(row) for row in connection.execute(query)] for query in (told, kept, answers)]
    stored[2] = [(token.removeprefix(f"{study}-"), *rest) for token, *rest in stored[2]]
    return tuple(stored)
