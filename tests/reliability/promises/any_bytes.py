"""Promise 8: whatever bytes come, the answer is clean: no 5xx, and every refusal is a problem document of the table."""

import json
from contextlib import AbstractContextManager
from random import Random
from typing import Any
from unittest.mock import patch

from httpx2 import Response

from app.api import problems
from app.services.intake import json_text
from tests.api.lab import Lab
from tests.api.operations import CSV, Operation, operations
from tests.reliability import lab
from tests.reliability.hostile.requests import sent
from tests.reliability.promise import Budget, Count, Promise, on_each_database

FRESH = 50  # requests until a study is worn out: paused or archived, in any case strange


def _prove(budget: Budget, seed: int, address: str) -> Count:
    random, violations, cases = Random(f"{seed} {address[:6]}"), [], 0
    with lab.opened(address) as server:
        every, worn = operations(server.client.app), True
        for case in budget:
            if worn:
                busy = _begun(server, f"s{case}")
            operation = random.choice(every)
            answer = sent(random, busy, operation)
            violations += _unclean(operation, answer)
            cases, worn = case + 1, case % FRESH == 0 or "study-deleted" in answer.text
    return Count(cases, tuple(violations))


def _begun(server: Lab, study: str) -> Lab:
    """A study with candidates, a batch and a result."""
    fresh = Lab(server.client, study).begin(CSV)
    fresh.ask()
    fresh.report(suggestion="B1-S1", value=1)
    return fresh


def _unclean(operation: Operation, answer: Response) -> list[str]:
    why = None
    if answer.status_code >= 500:
        why = "a bug"
    elif answer.status_code >= 400:
        why = _no_problem_document(answer)
    elif answer.headers.get("Content-Type") == "application/json":
        why = _no_json(answer)
    return [f"{operation.name}: {answer.status_code}, {why}: {answer.text[:200]}"] if why else []


def _no_problem_document(answer: Response) -> str | None:
    if answer.headers.get("Content-Type") != problems.MEDIA_TYPE:
        return "no problem document"
    document: dict[str, Any] = answer.json()
    known = problems.STATUSES.get(document["code"]) == answer.status_code == document["status"]
    return None if known and document["request_id"] else "a problem that is not in the table"


def _no_json(answer: Response) -> str | None:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        json.loads(answer.content, parse_constant=refuse)
    except ValueError as error:
        return f"no JSON ({error})"
    return None


def _lenient() -> AbstractContextManager[object]:
    """JSON as Python itself reads it."""
    return patch.object(json_text, "loads", json.loads)


PROMISE = Promise(
    number=8,
    words="Any bytes get a clean answer",
    tested="Samples of all operations with path, query, headers or body changed: JSON, CSV, .npy, forms and archives "
    "by a grammar, then damaged. (`make test` also runs schemathesis over the whole OpenAPI document.)",
    unit="requests",
    full=100_000,
    prove=on_each_database(_prove),
    teeth={"JSON read as leniently as Python does": _lenient},
    short=400,
    parallel=True,
    share=2,
)
