"""What every test can ask for: a migrated database of either kind, and a server on it."""

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import scipy.optimize
import scipy.spatial.distance
import scipy.special  # noqa: F401  (the engine loads these on first use, which takes longer than Hypothesis gives an example)
from fastapi.testclient import TestClient

from app.domain.access import Actor, Role
from app.main import create_app
from app.services.use_cases.access import SERVER, create_key
from app.settings import Settings
from app.storage.database import Database, open_database
from tests.databases import DIALECTS, Databases, some_databases

os.environ["OPENBLAS_NUM_THREADS"] = "1"

OPERATOR = Actor(SERVER, "test")


def pytest_collection_finish() -> None:
    """Look for garbage among what the tests make, and seldom: looking through all modules took a sixth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


# For tests of what no database has a part in.
on_sqlite = pytest.mark.parametrize("address", ["sqlite"], indirect=True)


@pytest.fixture(scope="session")
def databases() -> Iterator[Databases]:
    """One PostgreSQL server per test process."""
    with some_databases() as databases:
        yield databases


@pytest.fixture(scope="session")
def postgres_server(databases: Databases) -> str:
    return databases.postgres_server


@pytest.fixture(scope="session")
def migrated_sqlite(databases: Databases) -> Path:
    return databases.migrated_sqlite


@pytest.fixture(params=DIALECTS)
def address(request: pytest.FixtureRequest, databases: Databases) -> Iterator[str]:
    """The address of a fresh migrated database, once per dialect."""
    with databases.fresh(request.param) as address:
        yield address


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
