"""Sync and async clients of a real server; every test has a study of its own."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from app import logs
from nextbatch import AsyncClient, Client
from tests import live
from tests.client.waited import Waited
from tests.live import Live

ROWS = [
    {"key": f"A{number}", "temperature": 60.0 + 10 * number, "solvent": solvent}
    for number, solvent in enumerate(["DMF", "THF", "DMF", "THF"], start=1)
]


@pytest.fixture(autouse=True)
def quiet() -> None:
    """The server runs in this process, and other servers here may have asked for more words since."""
    logs.configure("json", "error")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, migrated_sqlite: Path) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("live")
    path = folder / "nextbatch.sqlite3"
    path.write_bytes(migrated_sqlite.read_bytes())
    with live.running(f"sqlite:///{path}", folder) as running:
        yield running


@pytest.fixture(params=["sync", "async"])
def client(server: Live, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Either client, used in the same way."""
    if request.param == "sync":
        with Client(server.url, server.key) as client:
            yield client
        return
    with asyncio.Runner() as runner:
        waited = Waited(AsyncClient(server.url, server.key), runner)
        yield waited
        waited.close()


@pytest.fixture
def study(client: Any) -> Any:
    """A study with four candidates."""
    study = client.create_study(f"study-{uuid4().hex[:12]}", objective="yield", unit="%")
    study.upload(ROWS)
    return study
