"""What a server does apart from requests: it checks whether it is ready, and tidies up when it starts.

Tidying never touches what the ledger names, and may run in several processes at the same time.
"""

from app.domain.clock import ago
from app.domain.errors import Unavailable
from app.storage import answers, sweeping
from app.storage.database import Database
from app.storage.schema import is_current


def must_be_ready(database: Database) -> None:
    """Raise unless the database answers and has the schema of this build."""
    with database.read() as connection:
        if not is_current(connection):
            raise Unavailable("The schema of the database is not the one of this build. Run `nextbatch migrate`.")


def drop_old_answers(database: Database, days: int) -> int:
    """Drop stored answers that are older; how many there were."""
    oldest = ago(days=days)
    with database.read() as connection:
        if not answers.any_older_than(connection, oldest):
            return 0
    with database.write() as connection:
        return answers.drop_older_than(connection, oldest)


def sweep_blobs(database: Database) -> int:
    """Drop arrays that are older than a day and that nothing names; how many there were."""
    return sweeping.sweep(database, ago(days=1))
