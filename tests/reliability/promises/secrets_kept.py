"""Promise 16: the secret of a key is in one answer, and then nowhere: not in the database, its log, or the server's."""

from contextlib import AbstractContextManager
from pathlib import Path
from random import Random
from unittest.mock import patch
from uuid import uuid4

import httpx

from app.services.use_cases import access
from tests.api.operations import operations
from tests.api.test_secrets import everything_stored
from tests.databases import DIALECTS, Databases
from tests.reliability import lab
from tests.reliability.hostile.requests import sent
from tests.reliability.promise import Budget, Count, Promise
from tests.server import Server, running

REQUESTS = 20  # with each key


def _prove(budget: Budget, seed: int, databases: Databases) -> Count:
    count = Count(0)
    for dialect in DIALECTS:
        with databases.fresh(dialect) as address, databases.fresh(dialect) as other:
            count += _in_this_process(budget.divided(len(DIALECTS)), seed, address)
            count += _as_people_run_it(databases.empty_folder() / "data", other)
    return count


def _in_this_process(budget: Budget, seed: int, address: str) -> Count:
    """Hostile requests with keys of any role: their answers and the database are searched."""
    random, secrets, violations = Random(seed), [], []
    with lab.opened(address) as server:
        every = operations(server.client.app)
        for _ in budget:
            role = random.choice(list(access.Role))
            key = server.client.post("/v1/keys", json={"name": "x", "role": role}).json()["key"]
            secrets.append(key.split("_", 2)[2])
            signed = {"Authorization": f"Bearer {key}"}
            for operation in random.sample(every, REQUESTS):
                answer = sent(random, server, operation, signed)
                violations += [f"in the answer of {operation.name}"] * (secrets[-1] in answer.text)
        stored = everything_stored(address)
    violations += ["in the database" for secret in secrets if secret.encode() in stored]
    return Count(len(secrets), tuple(violations))


def _as_people_run_it(data: Path, address: str) -> Count:
    """A server in a process of its own: what it printed, wrote into its folder and stored is searched."""
    with running(data, address) as server:
        secret = _used(server)
    printed = server.output.read_text()
    left = {path.name: path.read_bytes() for path in data.rglob("*") if path.is_file() and path.name != "admin.key"}
    found = [f"in {name}" for name, content in left.items() if secret.encode() in content]
    assert "request" in printed
    return Count(1, tuple(found + ["in the database"] * (secret.encode() in everything_stored(address))))


def _used(server: Server) -> str:
    """A new key, used well and badly; its secret."""
    with httpx.Client(base_url=server.address) as client:
        by = {"Authorization": f"Bearer {server.key}", "Idempotency-Key": uuid4().hex}
        key = client.post("/v1/keys", json={"name": "x", "role": "scientist"}, headers=by).json()["key"]
        signed = {"Authorization": f"Bearer {key}"}
        page = {"Sec-Fetch-Site": "same-origin"}
        client.put("/v1/studies/s", content=b"{", headers=signed)
        client.put("/v1/studies/s", json={}, headers=signed)
        client.get("/v1/studies", headers={"Authorization": f"Bearer {key}x"})
        client.get("/v1/studies", headers={"Authorization": key})
        client.post("/session", json={"key": key}, headers=page)
        client.post("/session", json={"key": [key], "more": key}, headers=page)
        client.get("/v1/keys/me", headers={"Cookie": f"nextbatch_session={key}"})
        client.request("BREW", "/v1/keys", headers=signed)
    return str(key.split("_", 2)[2])


def _in_the_clear() -> AbstractContextManager[object]:
    """Secrets kept as they are."""
    return patch.object(access, "hash_of", lambda secret: secret)


PROMISE = Promise(
    number=16,
    words="Secrets are never stored or logged",
    tested="Keys planted and used in good and hostile requests, as header, cookie and body; their secrets are searched "
    "for in every answer, the database and its log, the server's folder and everything it printed.",
    unit="keys",
    full=1_000,
    prove=_prove,
    teeth={"secrets kept as they are": _in_the_clear},
    short=3,
    parallel=True,
    share=0.8,
)
