"""Every operation of the API with the scope it needs, read from the routes; and a request that works for each.

A new operation without a sample fails the tests that walk them all.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from zipfile import ZipFile, ZipInfo

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from httpx2 import Response

from app.domain.access import Scope
from app.domain.codec import canonical
from app.domain.events import StudyCreated
from app.domain.ledger import FORMAT, GENESIS, encode, seal
from app.domain.studies import Configuration
from app.services.signing import Signer
from app.services.use_cases.heads import sign

WRITES = ("PUT", "POST", "PATCH", "DELETE")
CSV = "key,temperature\nA1,90\nA2,100\nA3,80\nA4,70\n"
_CSV = {"headers": {"Content-Type": "text/csv"}}

# What to send; `{study}` has the candidates above, `{key_id}` is another key, granted the study.
SAMPLES: dict[str, dict[str, Any]] = {
    "GET /v1/studies": {},
    "PUT /v1/studies/{study}": {"json": {}},
    "GET /v1/studies/{study}": {},
    "PATCH /v1/studies/{study}": {"json": {"state": "paused"}, "headers": {"If-Match": "*"}},
    "DELETE /v1/studies/{study}": {},  # and the name once more
    "GET /v1/deleted-studies": {},
    "POST /v1/studies/{study}/restoration": {"json": {"reason": "by mistake"}},
    "POST /v1/studies/{study}/purge": {"json": {}},  # and the name once more
    "POST /v1/studies/{study}/fork": {"json": {"name": "forked"}},
    "PUT /v1/studies/{study}/borrowed": {"json": {"from": []}},
    "GET /v1/studies/{study}/borrowed": {},
    "PUT /v1/studies/{study}/grants/{key_id}": {},
    "DELETE /v1/studies/{study}/grants/{key_id}": {},
    "PUT /v1/studies/{study}/candidates": {
        "content": "key,temperature\nB1,90\nB2,10\n",
        "params": {"replace": "true"},
        **_CSV,
    },
    "POST /v1/studies/{study}/candidates": {"content": "key,temperature\nC1,90\nC2,10\n", **_CSV},
    "GET /v1/studies/{study}/candidates": {},
    "GET /v1/studies/{study}/candidates/{key}": {},
    "GET /v1/studies/{study}/structures/{key}": {},
    "PATCH /v1/studies/{study}/candidates/{key}": {"json": {"available": False, "reason": "broken"}},
    "PATCH /v1/studies/{study}/candidates": {"json": {"keys": ["A1"], "available": False, "reason": "broken"}},
    "POST /v1/candidates/check": {"content": CSV, **_CSV},
    "POST /v1/studies/{study}/batches": {"json": {"worker": "w", "max_size": 1}},
    "GET /v1/studies/{study}/batches": {},
    "GET /v1/studies/{study}/batches/{number}": {},
    "GET /v1/studies/{study}/batches/{number}/sheet": {},
    "POST /v1/studies/{study}/batches/{number}/close": {},
    "POST /v1/studies/{study}/batches/{number}/replay": {},
    "GET /v1/studies/{study}/suggestions": {},
    "POST /v1/studies/{study}/suggestions/{suggestion}/swap": {"json": {"reason": "not in stock"}},
    "GET /v1/studies/{study}/reservations": {},
    "POST /v1/studies/{study}/reservations": {"json": {"keys": ["A1"], "worker": "w"}},
    "DELETE /v1/studies/{study}/reservations/{key}": {},
    "POST /v1/studies/{study}/observations": {"json": {"candidate": "A1", "value": 1.5}},
    "POST /v1/studies/{study}/observations/retractions": {"json": {"upload": 4, "reason": "wrong sheet"}},
    "GET /v1/studies/{study}/observations": {},
    "GET /v1/studies/{study}/observations/{number}": {},
    "POST /v1/studies/{study}/observations/{number}/corrections": {
        "json": {"value": 2, "reason": "typo"},
        "headers": {"If-Match": "*"},
    },
    "POST /v1/studies/{study}/observations/{number}/retraction": {
        "json": {"reason": "wrong vial"},
        "headers": {"If-Match": "*"},
    },
    "GET /v1/studies/{study}/summary": {},
    "GET /v1/studies/{study}/certificate": {},
    "GET /v1/studies/{study}/diagnostics": {},
    "GET /v1/studies/{study}/trace": {},
    "GET /v1/studies/{study}/arrays": {},
    "GET /v1/studies/{study}/front": {},
    "POST /v1/studies/{study}/backtests": {"json": {"seeds": 1, "batch_sizes": [2]}},
    "POST /v1/backtests": {
        "content": "key,temperature,value\nA1,90,1\nA2,100,2\nA3,80,3\n",
        "params": {"seeds": "1", "batch_size": "2"},
        **_CSV,
    },
    "GET /v1/backtests": {},
    "GET /v1/backtests/{number}": {},
    "POST /v1/backtests/{number}/cancel": {},
    "GET /v1/studies/{study}/backtests": {},
    "GET /v1/studies/{study}/backtests/{number}": {},
    "POST /v1/studies/{study}/backtests/{number}/cancel": {},
    "POST /v1/studies/{study}/verify": {},
    "GET /v1/studies/{study}/events": {},
    "POST /v1/studies/{study}/events/ticket": {},
    "GET /v1/studies/{study}/archive": {},
    "POST /v1/archives": {
        "headers": {"Content-Type": "application/zip"},
        "params": {"accept_unverified": "true"},
    },  # and an archive of its own each time
    "GET /v1/studies/{study}/webhooks": {},
    "POST /v1/studies/{study}/webhooks": {"json": {"url": "https://hooks.example.org/lab"}},
    "GET /v1/studies/{study}/webhooks/{number}": {},
    "DELETE /v1/studies/{study}/webhooks/{number}": {},
    "POST /v1/studies/{study}/webhooks/{number}/secret": {"json": {}},
    "GET /v1/studies/{study}/webhooks/{number}/deliveries": {},
    "GET /v1/heads": {},
    "POST /v1/heads/check": {"json": sign(Signer(bytes(32)), ()).plain()},
    "GET /v1/audit": {},
    "POST /v1/audit/verify": {},
    "GET /v1/server": {},
    "GET /v1/keys": {},
    "GET /v1/keys/me": {},
    "DELETE /v1/keys/me/session": {},
    "POST /v1/keys": {"json": {"name": "new", "role": "dashboard"}},
    "POST /v1/keys/{key_id}/revocation": {},
    "POST /v1/keys/{key_id}/rotation": {"json": {}},
    "PATCH /v1/keys/{key_id}": {"json": {"name": "renamed"}},
}


SHARED = "s"  # the study of those who are refused; it stays as it is
SHOWN_ONCE = {  # a secret is in the first answer alone
    "POST /v1/keys",
    "POST /v1/keys/{key_id}/rotation",
    "POST /v1/studies/{study}/webhooks",
    "POST /v1/studies/{study}/webhooks/{number}/secret",
    "POST /v1/studies/{study}/events/ticket",
}
STREAMS = {"GET /v1/studies/{study}/events/live"}  # never end by themselves: tests/api/test_events.py has them
CHECKS = {  # change nothing
    "POST /v1/candidates/check",
    "POST /v1/heads/check",
    "POST /v1/audit/verify",
    "POST /v1/studies/{study}/verify",
    "POST /v1/studies/{study}/batches/{number}/replay",
}


def archive(name: str) -> bytes:
    """A study of that name with one event, as another server would have written it; the same bytes at any time."""
    fields: dict[str, Any] = {
        "seq": 1,
        "type": "study-created",
        "format": FORMAT,
        "payload": encode(StudyCreated(Configuration())),
        "actor": "elsewhere",
        "reason": None,
        "recorded_at": "2026-01-01T00:00:00.000000Z",
        "request_id": "elsewhere",
        "previous": GENESIS,
    }
    fields["hash"] = seal(name, fields)
    file = BytesIO()
    with ZipFile(file, "w") as written:
        manifest = {"format": 1, "study": name, "events": 1, "head": fields["hash"]}
        written.writestr(ZipInfo("manifest.json"), json.dumps(manifest))
        written.writestr(ZipInfo("ledger.jsonl"), canonical(fields) + "\n")
    return file.getvalue()


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    scope: Scope | None  # None: for anybody

    @property
    def name(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def writes(self) -> bool:
        return self.method in WRITES and self.name not in CHECKS

    @property
    def needs_results(self) -> bool:
        """It is about a batch or an observation, so the study must have one of each."""
        return "{number}" in self.path or self.path.endswith(("/retractions", "/swap"))

    def prepare(self, client: TestClient, study: str) -> None:
        """What must have happened before; doing it again changes nothing."""
        if self.path.endswith("/restoration") and study != SHARED:
            token = {"Idempotency-Key": f"deletion-of-{study}"}
            client.delete(f"/v1/studies/{study}", params={"confirm": study}, headers=token)
        if "/webhooks/{number}" in self.path:
            sample = SAMPLES["POST /v1/studies/{study}/webhooks"]
            client.post(f"/v1/studies/{study}/webhooks", headers={"Idempotency-Key": f"hook-of-{study}"}, **sample)
        if self.path.partition("{study}")[2].startswith("/backtests"):
            _prepare_backtest(client, study, with_one="{number}" in self.path)

    def send(
        self,
        client: TestClient,
        study: str,
        key_id: str,
        headers: dict[str, str] | None = None,
        params: dict[str, str] | None = None,
    ) -> Response:
        sample = SAMPLES[self.name]
        path = self.path.format(study=study, key_id=key_id, key="A1", number=1, suggestion="B1-S2")
        self.prepare(client, study)
        if self.path.startswith("/v1/backtests/"):
            _prepare_list_backtest(client, headers or {})
        if self.name == "DELETE /v1/studies/{study}":
            sample = {"params": {"confirm": study}}
        if self.name == "POST /v1/studies/{study}/purge":
            sample = {"json": {"confirm": study}}
        if self.name == "POST /v1/archives":
            sample = sample | {"content": archive(f"{study}-from-elsewhere")}
        headers = sample.get("headers", {}) | (headers or {})
        params = sample.get("params", {}) | (params or {})
        return client.request(self.method, path, **sample | {"headers": headers, "params": params})


def _prepare_backtest(client: TestClient, study: str, *, with_one: bool) -> None:
    """Results of every candidate, and a backtest if the operation is about one; whoever may not has none."""
    results = {"observations": [{"candidate": f"A{n}", "value": n, "ref": f"known {n}"} for n in range(1, 5)]}
    client.post(f"/v1/studies/{study}/observations", json=results)
    if with_one:
        sample = SAMPLES["POST /v1/studies/{study}/backtests"]
        client.post(f"/v1/studies/{study}/backtests", headers={"Idempotency-Key": f"backtest-of-{study}"}, **sample)


def _prepare_list_backtest(client: TestClient, headers: dict[str, str]) -> None:
    """A backtest of whoever sends the request; whoever may not has none."""
    sample = SAMPLES["POST /v1/backtests"]
    sender = {name: value for name, value in headers.items() if name == "Authorization"}
    token = {"Idempotency-Key": "backtest-of-a-list"}
    client.request("POST", "/v1/backtests", **sample | {"headers": sample["headers"] | sender | token})


def operations(app: FastAPI) -> list[Operation]:
    """Everything under /v1."""
    return [
        Operation(method, route.path_format, _scope(route.dependant))
        for route in app.routes
        if isinstance(route, APIRoute) and route.path_format.startswith("/v1")
        for method in sorted(route.methods)
        if f"{method} {route.path_format}" not in STREAMS
    ]


def _scope(dependant: Dependant) -> Scope | None:
    found = set(_scopes(dependant))
    assert len(found) <= 1, "a route names exactly one scope"
    return next(iter(found), None)


def _scopes(dependant: Dependant) -> Iterator[Scope]:
    scope = getattr(dependant.call, "scope", None)
    if isinstance(scope, Scope):
        yield scope
    for inner in dependant.dependencies:
        yield from _scopes(inner)
