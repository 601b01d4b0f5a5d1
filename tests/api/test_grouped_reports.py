"""Reports that share a commit end as if each had come alone, and ask the database for no more if they are many."""

import asyncio
import json
from collections.abc import Sequence
from hashlib import sha256
from math import ceil
from typing import Any

import pytest
from sqlalchemy import Connection, select

from app.api.report_json import json_reports
from app.api.routes.observations import store_reports
from app.domain.errors import IdempotencyKeyReused, Refusal
from app.services.resources import Resources
from app.services.transactions import WriteTransactions
from app.services.use_cases.report import ReportOptions
from app.storage import prepared
from app.storage import studies as rows
from app.storage.database import open_database
from app.storage.tables import events, idempotency, observations, studies
from tests.api.lab import Lab
from tests.conftest import OPERATOR

Lines = Sequence[tuple[str | None, dict[str, Any]]]
MIXED: Lines = [
    ("t1", {"key": "DMF-20", "value": 1.0, "measured_by": 'the "robot"'}),
    (None, {"key": "DMF-20", "value": 1.0}),  # a repeat
    ("t5", {"key": "DMF-40", "value": 5.0}),
    (None, {"key": "DMF-40", "value": 5.0}),  # a repeat of what the same group brings
    ("t5", {"key": "DMF-40", "value": 5.0}),  # the same request again, in the same group
    ("t5", {"key": "DMF-50", "value": 5.0}),  # another request with its token
    (None, {"key": "DMF-20", "value": 2.0, "note": "é\n2"}),
    ("t2", {"key": "nobody", "value": 1.0}),
    ("t2", {"key": "THF-20", "value": 1.0}),  # the token of a refused report is free
    ("t1", {"key": "DMF-20", "value": 1.0, "measured_by": 'the "robot"'}),  # the same request again
    ("t1", {"key": "DMF-30", "value": 1.0}),  # another request with its token
    (None, {"key": "THF-30", "value": 3.0, "ref": "R1"}),
    (None, {"key": "THF-30", "value": 4.0, "ref": "R1"}),  # a conflict
    (None, {"key": "THF-40", "failed": {"reason": "broke"}}),
    (None, {"key": "THF-50", "value": 1e200, "std": 0.5}),  # implausible, and stored
    ("t3", {"key": "MeOH-20", "replicates": [1.0, 2.0]}),
    ("t4", {"key": "MeOH-30", "value": -0.0, "measured_at": "2026-01-02T03:04:05Z"}),
]

REUSED = IdempotencyKeyReused.code


async def _told(resources: Resources, study: str, token: str | None, line: dict[str, Any]) -> Any:
    """The answer of a report, or the code of its refusal."""
    name = None if token is None else f"{study} {token}"
    fingerprint = sha256(json.dumps(line).encode()).hexdigest()
    tx = WriteTransactions(resources.database, OPERATOR, name, fingerprint, study)
    try:
        answer = await store_reports(tx, resources, study, json_reports(json.dumps(line).encode()), ReportOptions())
    except Refusal as refusal:
        return refusal.code
    return answer.status, json.loads(answer.body)


async def _one_by_one(resources: Resources, study: str, lines: Lines) -> list[Any]:
    return [await _told(resources, study, *line) for line in lines]


async def _at_once(resources: Resources, study: str, lines: Lines) -> list[Any]:
    """While somebody else holds the study, the first report waits for it, and all others wait for the first."""
    other = open_database(resources.database.writer.url.render_as_string(hide_password=False), connections=2)
    with other.write() as connection:
        rows.lock(connection, study)
        first = asyncio.create_task(_told(resources, study, *lines[0]))
        await asyncio.sleep(0.1)
        others = [asyncio.create_task(_told(resources, study, *line)) for line in lines[1:]]
        await asyncio.sleep(0)
    other.dispose()
    return [await task for task in (first, *others)]


def _content(resources: Resources, study: str) -> list[Any]:
    of_study = select(studies.c.id).where(studies.c.name == study).scalar_subquery()
    own = [column for column in observations.c if column.name not in ("study_id", "recorded_at")]
    with resources.database.read() as connection:
        told = select(events.c.seq, events.c.type, events.c.payload).where(events.c.study_id == of_study)
        kept = select(*own).where(observations.c.study_id == of_study).order_by(observations.c.number)
        answered = select(idempotency.c.token, idempotency.c.status, idempotency.c.body)
        tokens = {row[0].removeprefix(f"{study} "): row[1:] for row in connection.execute(answered) if study in row[0]}
        stored = [tuple(row) for query in (told.order_by(events.c.seq), kept) for row in connection.execute(query)]
        return [*stored, sorted(tokens.items())]


def test_reports_of_a_group_end_as_if_each_had_come_alone(lab: Lab, resources: Resources) -> None:
    Lab(lab.client, "alone").begin(repeats="allowed")
    Lab(lab.client, "group").begin(repeats="allowed")
    before = [(None, {"key": "MeOH-90", "value": float(number)}) for number in range(6)]
    for study in ("alone", "group"):
        asyncio.run(_one_by_one(resources, study, before))
    alone = asyncio.run(_one_by_one(resources, "alone", MIXED))
    assert asyncio.run(_at_once(resources, "group", MIXED)) == alone
    assert [told if isinstance(told, str) else told[0] for told in alone[1:6]] == [200, 201, 200, 201, REUSED]
    assert _content(resources, "group") == _content(resources, "alone")
    assert lab.client.post("/v1/studies/group/verify").json()["sound"]


@pytest.mark.parametrize("size", [4, 20])
def test_a_group_of_plain_reports_reads_once_and_writes_many_rows_at_a_time(
    lab: Lab, resources: Resources, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """Study, tokens and results are read once, for all reports of the group."""
    lab.begin(repeats="allowed").report(candidate="MeOH-90", value=1.0)
    seen: list[str] = []
    execute = prepared._execute

    def noted(connection: Connection, text: str, *rest: Any, **options: bool) -> Any:
        seen.append(text)
        return execute(connection, text, *rest, **options)

    keys = [f"{solvent}-{degrees}" for solvent in ("DMF", "THF", "MeOH") for degrees in range(20, 90, 10)]
    lines = [(f"t{key}", {"key": key, "value": 0.5}) for key in keys[: size + 1]]
    monkeypatch.setattr(prepared, "_execute", noted)
    answers = asyncio.run(_at_once(resources, "s", lines))
    assert {status for status, _ in answers} == {201}
    read = [text for text in seen if text.startswith("SELECT") and "alembic" not in text]
    written = [text for text in seen if not text.startswith("SELECT")]
    assert len(read) <= 2 * 4  # of the first report, and of the group after it
    assert len(written) <= 2 * 1 + 3 * (1 + ceil(size / 4))  # PostgreSQL takes some rows of each table at a time
    assert not [text for text in seen if "SAVEPOINT" in text]
