"""What an entry of an archive says by itself, whatever happened before it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from app.domain import limits
from app.domain.candidates import Column
from app.domain.codec import canonical, read_json
from app.domain.ledger import LedgerEntry
from app.domain.observations import Measured
from app.services.archives.zip_reading import must


def check_entry(entry: LedgerEntry) -> None:
    """Who, when and why, as the tables hold it and as this program writes it."""
    must(limits.is_key_id(entry.actor), "its actor is not the id of a key")
    must(limits.is_moment(entry.recorded_at), "it happened at no moment")
    must(limits.is_line(entry.request_id, 1) and len(entry.request_id) <= 100, "its request has no id")
    must(entry.reason is None or limits.is_reason(entry.reason), "this cannot be a reason")
    must(canonical(read_json(entry.payload)) == entry.payload, "its text is not the canonical one")


def extends(before: Sequence[Column], after: Sequence[Column]) -> bool:
    """Whether the columns are the same, apart from texts that were added to the levels."""
    if not before:
        return True
    plain = [replace(column, levels=()) for column in before]
    return plain == [replace(column, levels=()) for column in after] and all(
        new.levels[: len(old.levels)] == old.levels for old, new in zip(before, after, strict=True)
    )


def check_values(values: Mapping[str, Measured]) -> None:
    """Values by quantity, as somebody can have measured them."""
    must(values and all(limits.is_line(name) for name in values), "it names no quantity")
    errors = [measured.std for measured in values.values() if measured.std is not None]
    must(all(error >= 0 for error in errors), "a standard error is negative")
