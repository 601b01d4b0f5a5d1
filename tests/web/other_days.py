"""`nextbatch serve` on the days that a file names: a scene then lasts weeks, though it is made in a minute."""

import os
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

from app.cli import main
from app.domain import clock

DAYS = "SCENE_DAYS_AGO"  # the environment variable with the path of the file


class Dated(datetime):
    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:
        ago = float(Path(os.environ[DAYS]).read_text() or 0)
        return datetime.now(tz) - timedelta(days=ago)


if __name__ == "__main__":
    clock.datetime = Dated  # type: ignore[misc]
    main()
