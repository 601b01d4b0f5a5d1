"""Clients of a real server; every test has a study of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from nextbatch import Blocking, Client, Study
from tests import live
from tests.live import Live

ROWS = [
    {"key": f"A{number}", "temperature": 60.0 + 10 * number, "solvent": solvent}
    for number, solvent in enumerate(["DMF", "THF", "DMF", "THF"], start=1)
]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, migrated_sqlite: Path) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("live")
    path = folder / "nextbatch.sqlite3"
    path.write_bytes(migrated_sqlite.read_bytes())
    with live.running(f"sqlite:///{path}", folder) as running:
        yield running


@pytest.fixture
def client(server: Live) -> Iterator[Client]:
    with Client(server.url, server.key) as client:
        yield client


@pytest.fixture
def new_study(client: Client) -> Callable[[], Study[Blocking]]:
    """Makes a study with four candidates."""

    def make() -> Study[Blocking]:
        study = client.create_study(f"study-{uuid4().hex[:12]}", objective="yield", unit="%")
        study.upload(ROWS)
        return study

    return make


@pytest.fixture
def study(new_study: Callable[[], Study[Blocking]]) -> Study[Blocking]:
    return new_study()
