"""Whether this process can serve: the database answers and its schema is the one this build knows."""

from app.domain.errors import Unavailable
from app.storage.database import Database
from app.storage.schema import is_current


def must_be_ready(database: Database) -> None:
    with database.read() as connection:
        if not is_current(connection):
            raise Unavailable("The database's schema is not this build's: run `nextbatch migrate`.")
