"""The one clock: UTC, microseconds, as text that sorts like time."""

from datetime import UTC, datetime


def now() -> str:
    return stamp(datetime.now(UTC))


def stamp(moment: datetime) -> str:
    """The moment in UTC; OverflowError for one that has no year there."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
