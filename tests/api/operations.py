"""Every operation of the API with the scope it needs, read from the routes; and a request that works for each.

A new operation without a sample fails the tests that walk them all.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts
from fastapi.testclient import TestClient
from httpx2 import Response

from app.domain.access import Scope

WRITES = ("PUT", "POST", "PATCH", "DELETE")
CSV = "key,temperature\nA1,90\nA2,100\n"
_CSV = {"headers": {"Content-Type": "text/csv"}}

# What to send; `{study}` has the candidates above, `{key_id}` is another key, granted the study.
SAMPLES: dict[str, dict[str, Any]] = {
    "GET /v1/studies": {},
    "PUT /v1/studies/{study}": {"json": {}},
    "GET /v1/studies/{study}": {},
    "PATCH /v1/studies/{study}": {"json": {"state": "paused"}, "headers": {"If-Match": "*"}},
    "DELETE /v1/studies/{study}": {},
    "PUT /v1/studies/{study}/grants/{key_id}": {},
    "DELETE /v1/studies/{study}/grants/{key_id}": {},
    "PUT /v1/studies/{study}/candidates": {"content": "key,temperature\nB1,90\nB2,10\n", **_CSV},
    "POST /v1/studies/{study}/candidates": {"content": "key,temperature\nC1,90\nC2,10\n", **_CSV},
    "GET /v1/studies/{study}/candidates": {},
    "GET /v1/studies/{study}/candidates/{key}": {},
    "PATCH /v1/studies/{study}/candidates/{key}": {"json": {"available": False, "reason": "broken"}},
    "POST /v1/candidates/check": {"content": CSV, **_CSV},
    "GET /v1/keys": {},
    "GET /v1/keys/me": {},
    "POST /v1/keys": {"json": {"name": "new", "role": "dashboard"}},
    "POST /v1/keys/{key_id}/revocation": {},
}


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
        return self.method in WRITES

    def send(self, client: TestClient, study: str, key_id: str, headers: dict[str, str] | None = None) -> Response:
        sample = SAMPLES[self.name]
        path = self.path.format(study=study, key_id=key_id, key="A1")
        return client.request(self.method, path, **sample | {"headers": sample.get("headers", {}) | (headers or {})})


def operations(app: FastAPI) -> list[Operation]:
    """Everything under /v1."""
    return [
        Operation(method, context.path_format, _scope(context.original_route.dependant))
        for context in iter_route_contexts(app.routes)
        if isinstance(context.original_route, APIRoute) and context.path_format.startswith("/v1")
        for method in sorted(context.methods)
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
