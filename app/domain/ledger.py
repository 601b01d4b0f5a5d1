"""The ledger: per study one chain of entries, each carrying an event and the hash of the entry before.

Tamper-evident, not tamper-proof: anyone who can rewrite the whole database can rewrite the whole chain.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, get_args

from app.domain.codec import Unreadable, canonical, from_plain, read_json, to_plain
from app.domain.errors import UnreadableEvent
from app.domain.events import ForkStarted, ObservationsReported, StudyCreated, StudyEvent, StudyImported
from app.domain.report_text import reported_text
from app.domain.studies import Configuration

GENESIS = "0" * 64

FORMAT = 1
"""The format of the events that this program writes. It reads this one and every earlier one."""

EVENT_TYPES: Mapping[str, type[StudyEvent]] = {kind.type: kind for kind in get_args(StudyEvent)}

# From a format to the next: type → a function of the older payload. Nothing has changed since the first format.
_UPGRADES: Mapping[int, Mapping[str, Callable[[Any], Any]]] = {}


@dataclass(frozen=True)
class LedgerEntry:
    """One line of a study's ledger. `payload` is the canonical JSON of the event, the text that is hashed."""

    seq: int
    type: str
    format: int
    payload: str
    actor: str  # the id of the key that it came with
    reason: str | None
    recorded_at: str  # by the server, in UTC; when something was measured is the reporter's claim, in the payload
    request_id: str
    previous: str
    hash: str

    def event(self) -> StudyEvent:
        """What happened; raises `UnreadableEvent` if this program cannot read it."""
        return decode(self.type, self.format, self.payload, self.seq)


def encode(event: StudyEvent) -> str:
    """The canonical JSON of an event, in the newest format."""
    return reported_text(event) if isinstance(event, ObservationsReported) else canonical(to_plain(event))


def decode(type_: str, format_: int, payload: str, seq: int | None = None) -> StudyEvent:
    """The event of a payload in any format up to the newest."""
    kind = EVENT_TYPES.get(type_)
    if kind is None or not 1 <= format_ <= FORMAT:
        raise UnreadableEvent(seq=seq, type=type_, format=format_)
    try:
        return from_plain(kind, _upgraded(type_, format_, read_json(payload)))
    except ValueError as error:
        reason = str(error) if isinstance(error, Unreadable) else "it is not JSON"
        raise UnreadableEvent(f"Event {seq} of type {type_} cannot be read: {reason}.") from error


def _upgraded(type_: str, format_: int, plain: Any) -> Any:
    for earlier in range(format_, FORMAT):
        upgrade = _UPGRADES.get(earlier, {}).get(type_)
        plain = plain if upgrade is None else upgrade(plain)
    return plain


def first_configuration(entries: Sequence[LedgerEntry]) -> Configuration:
    """The settings that a study was created with; ValueError if its ledger does not begin with its creation."""
    created = entries[0].event()
    if not isinstance(created, StudyCreated):
        raise ValueError("Its ledger does not begin with the creation of a study.")
    return created.configuration


def seal(study: str, fields: Mapping[str, Any]) -> str:
    """SHA-256 of an entry: the study's name, and every field but the hash itself, as canonical JSON."""
    sealed = {name: value for name, value in fields.items() if name != "hash"}
    return sha256(canonical({"study": study, **sealed}).encode()).hexdigest()


RENAMING = (ForkStarted.type, StudyImported.type)
"""The events before which the ledger may have belonged to a study of another name."""


@dataclass(frozen=True)
class EarlierName:
    """The entries before `until`, back to the earlier name before this one, were sealed under `name`."""

    until: int
    name: str


def earlier_names(entries: Iterable[LedgerEntry]) -> tuple[EarlierName, ...]:
    """The names that a ledger had before, from all its entries or from those of the types `RENAMING`."""
    names = []
    for entry in entries:
        with suppress(UnreadableEvent):  # its own hash tells that it is damaged
            event = entry.event() if entry.type in RENAMING else None
            if isinstance(event, ForkStarted | StudyImported) and event.study is not None:
                names.append(EarlierName(entry.seq, event.study))
    return tuple(names)


def name_at(study: str, seq: int, earlier: Sequence[EarlierName]) -> str:
    """The name under which an entry was sealed, in a ledger that is now of `study`."""
    later = [before for before in earlier if seq < before.until]
    return min(later, key=lambda before: before.until).name if later else study


def first_break(study: str, entries: Iterable[LedgerEntry], earlier: Sequence[EarlierName] = ()) -> int | None:
    """The seq of the first entry that is missing, altered or out of place; None for a sound chain."""
    previous = GENESIS
    to_come = sorted(earlier, key=lambda before: before.until, reverse=True)
    for expected, entry in enumerate(entries, start=1):
        while to_come and to_come[-1].until <= expected:
            to_come.pop()
        name = to_come[-1].name if to_come else study
        if entry.seq != expected or entry.previous != previous or not _is_sealed(name, entry):
            return expected
        previous = entry.hash
    return None


def _is_sealed(study: str, entry: LedgerEntry) -> bool:
    try:
        return entry.hash == seal(study, vars(entry))
    except (TypeError, ValueError):  # a damaged row may hold anything
        return False
