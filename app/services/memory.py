"""The memory of requests in progress: what they will take is reserved before they take it.

A request says how much it will need, by the bytes that arrived or the cells that were asked for. If others hold too
much already, it is refused and can be sent again. A request that needs more than there is at all is the only large one
while it runs: how large it may be is decided by the limits of its kind, such as the cells of a list.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from app.domain.errors import Overloaded

PER_MAPPED_BYTE = 1  # its rows are hashed to find repeats; the file itself is mapped
PER_TABLE_BYTE = 10  # a table is held as text, as columns and as arrays
PER_COMPRESSED_BYTE = 40  # of a spreadsheet, or of a Parquet file
PER_LEDGER_BYTE = 4  # of an archive, unpacked: its entries are held as text
PER_ARRAY_BYTE = 3  # of an archive, unpacked: as arrays and as texts, and packed again to be compared
SMALL = 1 / 16  # of the budget: such requests can use all of it
LARGE_SHARE = 3 / 4  # that larger requests can use, so that they never keep the small ones out
PER_CELL = 400  # of a page: the value, its shape and its JSON
PER_SUGGESTION = 4_000  # with its explanation, its candidate and the JSON of both
PER_TEXT_BYTE = 3  # of the texts in a page: in the array, in the values and in the JSON


class MemoryBudget:
    """So many bytes for all requests of this process together."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._reserved = 0
        self._lock = Lock()

    @property
    def reserved(self) -> int:
        return self._reserved

    @contextmanager
    def reserve(self, size: int) -> Iterator[None]:
        """Hold so many bytes for as long as the block lasts, or refuse the request."""
        most = self._most_bytes if size <= SMALL * self._most_bytes else LARGE_SHARE * self._most_bytes
        with self._lock:
            if self._reserved and self._reserved + size > most:
                raise Overloaded("Other requests take the memory that this one needs. Try again.", retry_after=2)
            held = min(size, int(most))  # an upload of minutes must not keep the small ones out
            self._reserved += held
        try:
            yield
        finally:
            with self._lock:
                self._reserved -= held
