"""Promise 21: a fresh install is closed: loopback alone, its own names alone, nothing without its key."""

import socket
import stat
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from random import Random
from unittest.mock import patch
from urllib.parse import urlsplit

import httpx

from app.main import create_app
from app.settings import Settings
from tests.api.operations import operations
from tests.databases import Databases
from tests.reliability.promise import Budget, Count, Promise
from tests.server import NEXTBATCH, ROOT, Server, environment, running

HOSTS = ("evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "[::]", "169.254.169.254", "LAB", "")
KEYS = ("x", "nb_000000000000_" + "A" * 43, "admin", "admin:admin", "nb_", "null", "nextbatch")
PUBLIC = ("0.0.0.0", "::", "192.0.2.1", "lab.example")  # noqa: S104


def _prove(budget: Budget, seed: int, databases: Databases) -> Count:
    data = databases.empty_folder() / "data"
    with running(data, **_started_with()) as server:
        probes = _probes(server, data, Random(seed), list(_addresses(databases)))
        found = [violation for _, violation in zip(budget, probes, strict=False)]
    return Count(len(found), tuple(violation for violation in found if violation))


def _started_with() -> dict[str, str]:
    return {}


def _addresses(databases: Databases) -> Iterator[tuple[str, str]]:
    """Everything that can be called."""
    with databases.fresh("sqlite") as address:
        app = create_app(Settings(data=databases.empty_folder(), database_url=address))
        for operation in operations(app):
            usual = {"study": "s", "key": "A1", "key_id": "0" * 12, "number": 1, "suggestion": "B1-S1"}
            yield operation.method, operation.path.format(**usual)
        app.state.resources.database.dispose()


def _probes(server: Server, data: Path, random: Random, addresses: list[tuple[str, str]]) -> Iterator[str]:
    """What is wrong with each probe; empty if nothing is. Without end."""
    yield _files_are_private(data)
    yield from (_other_interface(server, host) for host in sorted(_own_addresses()))
    yield from (_refuses_to_listen(data, host) for host in PUBLIC)
    with httpx.Client(base_url=server.address) as client:
        while True:
            method, path = random.choice(addresses)
            if random.random() < 0.5:
                host = random.choice(HOSTS)
                answer = client.request(method, path, headers={"Host": host, "Authorization": f"Bearer {server.key}"})
                yield "" if answer.status_code in (400, 421) else f"{method} {path} for host {host!r}: {answer}"
            else:
                key = random.choice(KEYS)
                answer = client.request(method, path, headers={"Authorization": f"Bearer {key}"})
                yield "" if answer.status_code == 401 else f"{method} {path} with key {key!r}: {answer}"


def _files_are_private(data: Path) -> str:
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (data / "admin.key",)}
    return "".join(f"{path.name} may be read by others" for path, mode in modes.items() if mode & 0o077)


def _own_addresses() -> set[str]:
    """Of this machine, on its network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.connect(("192.0.2.1", 9))  # nothing is sent
        return {line.getsockname()[0]} - {"127.0.0.1"}


def _other_interface(server: Server, host: str) -> str:
    try:
        socket.create_connection((host, urlsplit(server.address).port), timeout=5).close()
    except OSError:
        return ""
    return f"it listens on {host}"


def _refuses_to_listen(data: Path, host: str) -> str:
    command = [*NEXTBATCH, "serve", "--port", "0", "--host", host]
    ended = subprocess.run(command, cwd=ROOT, env=environment(data), capture_output=True, timeout=60, check=False)
    return (
        "" if ended.returncode and b"ALLOW_PUBLIC_BIND" in ended.stdout + ended.stderr else f"it would listen on {host}"
    )


def _any_host() -> AbstractContextManager[object]:
    """A server that answers to any name."""
    return patch(f"{__name__}._started_with", lambda: {"NEXTBATCH_ALLOWED_HOSTS": '["*"]'})


PROMISE = Promise(
    number=21,
    words="The first run is safe",
    tested="A fresh install, started as people start it: every operation for other Host names and with keys that "
    "anyone could guess, other network interfaces, public binds, the modes of its files.",
    unit="probes",
    full=1_000,
    prove=_prove,
    teeth={"a server that answers to any name": _any_host},
    short=40,
    parallel=True,
    share=0.3,
)
