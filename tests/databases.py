"""Fresh migrated databases of either kind, for as long as somebody needs them."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from app.storage.database import open_database
from app.storage.schema import migrate
from tests import postgres

DIALECTS = ("sqlite", "postgresql")


@dataclass
class Databases:
    """Databases are copies of a migrated one; `stack` ends the PostgreSQL server, which starts with its first use."""

    folder: Path
    stack: ExitStack

    @contextmanager
    def fresh(self, dialect: str) -> Iterator[str]:
        """The address of a migrated database that nobody else has."""
        name = f"test_{uuid4().hex}"
        if dialect == "sqlite":
            path = self.empty_folder() / "nextbatch.sqlite3"
            path.write_bytes(self.migrated_sqlite.read_bytes())
            yield f"sqlite:///{path}"
            return
        yield postgres.create_database(self.postgres_server, name, "template_migrated")
        postgres.drop_database(self.postgres_server, name)

    def empty_folder(self) -> Path:
        folder = self.folder / uuid4().hex
        folder.mkdir()
        return folder

    @cached_property
    def postgres_server(self) -> str:
        """One server, with a migrated template database; missing binaries are a failure."""
        server = self.stack.enter_context(postgres.running_server())
        migrated(postgres.create_database(server, "template_migrated"))
        return server

    @cached_property
    def migrated_sqlite(self) -> Path:
        path = self.folder / "migrated.sqlite3"
        migrated(f"sqlite:///{path}")
        return path


@contextmanager
def some_databases(postgres_server: str | None = None) -> Iterator[Databases]:
    """In memory, if there is room; on that PostgreSQL server (its template database migrated), or one of their own."""
    with TemporaryDirectory(prefix="nextbatch-databases-", dir=postgres.memory()) as folder, ExitStack() as stack:
        databases = Databases(Path(folder), stack)
        if postgres_server:
            databases.postgres_server = postgres_server
        yield databases


def migrated(address: str) -> str:
    """The address again, when the database there has the newest schema."""
    database = open_database(address, connections=2)
    migrate(database)
    database.dispose()
    return address
