"""The audit log: one chain of entries about keys, access, sign-ins, exports and deletions, for the whole server."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any

from app.domain.codec import canonical
from app.domain.ledger import GENESIS

AUDIT_LOG = "~audit"
"""Its name where heads are listed; no study can have it."""


class AuditAction(StrEnum):
    KEY_CREATED = "key-created"
    KEY_REVOKED = "key-revoked"
    KEY_ROTATED = "key-rotated"
    KEY_CHANGED = "key-changed"
    ACCESS_GIVEN = "access-given"
    ACCESS_TAKEN = "access-taken"
    SIGNED_IN = "signed-in"
    SIGN_IN_REFUSED = "sign-in-refused"
    STUDY_EXPORTED = "study-exported"
    TABLE_EXPORTED = "table-exported"  # candidates or results, as CSV or .xlsx
    DATABASE_COPIED = "database-copied"
    STUDY_BROUGHT_IN = "study-brought-in"  # from an archive
    STUDY_REMOVED = "study-removed"
    STUDY_RESTORED = "study-brought-back"
    STUDY_ERASED = "study-purged"
    WEBHOOK_CREATED = "webhook-created"
    WEBHOOK_REMOVED = "webhook-removed"
    WEBHOOK_RESIGNED = "webhook-resigned"  # it has a new secret
    TABLES_REBUILT = "tables-rebuilt"
    READ = "read"  # only with NEXTBATCH_AUDIT_READS


@dataclass(frozen=True)
class AuditEntry:
    seq: int
    action: str
    actor: str  # the id of the key, or `server` for the command line on the server's own machine
    details: str  # canonical JSON
    address: str | None  # where the request came from
    recorded_at: str
    request_id: str
    previous: str
    hash: str


def seal(fields: Mapping[str, Any]) -> str:
    """SHA-256 of every field but the hash itself."""
    sealed = {name: value for name, value in fields.items() if name != "hash"}
    return sha256(canonical({"log": AUDIT_LOG, **sealed}).encode()).hexdigest()


def first_break(entries: Iterable[AuditEntry]) -> int | None:
    """The seq of the first entry that is missing, altered or out of place; None for a sound chain."""
    previous = GENESIS
    for expected, entry in enumerate(entries, start=1):
        if entry.seq != expected or entry.previous != previous or entry.hash != seal(vars(entry)):
            return expected
        previous = entry.hash
    return None
