"""What every test can ask for: a migrated database of either kind, and a server on it."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient

from app.domain.access import Actor, Role
from app.main import create_app
from app.services.access import SERVER, create_key
from app.settings import Settings
from app.storage.database import Database, open_database
from app.storage.schema import migrate
from tests import postgres

os.environ["OPENBLAS_NUM_THREADS"] = "1"

DIALECTS = ("sqlite", "postgresql")
OPERATOR = Actor(SERVER, "test")

# For tests of what no database has a part in.
on_sqlite = pytest.mark.parametrize("address", ["sqlite"], indirect=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """One server per test process, with a migrated template database; missing binaries are a failure."""
    with postgres.running_server() as server:
        address = postgres.create_database(server, "template_migrated")
        database = open_database(address, connections=2)
        migrate(database)
        database.dispose()
        yield server


@pytest.fixture(scope="session")
def migrated_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "migrated.sqlite3"
    database = open_database(f"sqlite:///{path}")
    migrate(database)
    database.dispose()
    return path


@pytest.fixture(params=DIALECTS)
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a fresh migrated database, once per dialect."""
    if request.param == "sqlite":
        path = tmp_path / "nextbatch.sqlite3"
        path.write_bytes(request.getfixturevalue("migrated_sqlite").read_bytes())
        yield f"sqlite:///{path}"
        return
    server, name = request.getfixturevalue("postgres_server"), f"test_{uuid4().hex}"
    yield postgres.create_database(server, name, "template_migrated")
    postgres.drop_database(server, name)


@pytest.fixture
def database(address: str) -> Iterator[Database]:
    database = open_database(address, connections=5)
    yield database
    database.dispose()


@pytest.fixture
def settings(address: str, tmp_path: Path) -> Settings:
    return Settings(data=tmp_path / "data", database_url=address, allowed_hosts=("testserver",), database_connections=5)


@pytest.fixture
def new_key(database: Database) -> Callable[..., str]:
    """Makes a key: `new_key("client", "my-study")`."""

    def make(role: str, *studies: str) -> str:
        with database.write() as connection:
            return create_key(connection, OPERATOR, f"a {role}", Role(role), studies)[1]

    return make


@pytest.fixture
def new_admin() -> Callable[[Database], str]:
    """Makes an admin's key for any database."""

    def make(database: Database) -> str:
        with database.write() as connection:
            return create_key(connection, OPERATOR, "an admin", Role.ADMIN)[1]

    return make


@pytest.fixture
def anonymous(settings: Settings) -> Iterator[TestClient]:
    """A client of the server, without a key."""
    with TestClient(create_app(settings), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def admin(anonymous: TestClient, new_key: Callable[..., str]) -> TestClient:
    """A client of the server, with an admin's key."""
    anonymous.headers["Authorization"] = f"Bearer {new_key('admin')}"
    return anonymous
