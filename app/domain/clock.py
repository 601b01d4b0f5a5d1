"""The one clock: UTC, microseconds, as text that sorts like time."""

from datetime import UTC, datetime


def now() -> str:
    return stamp(datetime.now(UTC))


def stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
