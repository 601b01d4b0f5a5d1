"""The one clock: moments in UTC with microseconds, as text that sorts like time."""

from datetime import UTC, datetime, timedelta


def now() -> str:
    return stamp(read_clock())


def read_clock() -> datetime:
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """The moment as text in UTC; raises OverflowError if its year in UTC is not 1 to 9999."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def has_stamp(moment: datetime) -> bool:
    """Whether the moment can be written as text in UTC."""
    try:
        stamp(moment)
    except OverflowError:
        return False
    return True


def ago(*, days: float = 0, hours: float = 0) -> str:
    """The moment so many days and hours before now."""
    return stamp(datetime.now(UTC) - timedelta(days=days, hours=hours))


def read_moment(text: str) -> str | None:
    """The stamp of an ISO 8601 date and time with a time zone; None if the text is anything else."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return stamp(moment) if moment.tzinfo is not None and has_stamp(moment) else None
