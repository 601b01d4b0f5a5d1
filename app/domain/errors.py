"""What the service refuses, and why.

    Refusal
    ├── Malformed            the bytes cannot be read
    ├── Invalid              the payload breaks a rule of its own
    ├── Denied               the caller may not do this
    ├── Missing              what was asked for does not exist
    ├── Conflict             the payload is fine, the state of the study is against it
    └── Unavailable          nothing is wrong with the request; try again

Each carries a stable `code`. The HTTP status of a code is in one table, `app/api/problems.py`.
A `detail` is for people and never repeats what was sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong or odd in what was sent: the place, the rule and the fix, never the value."""

    code: str
    message: str
    row: int | None = None
    """As a person with a spreadsheet counts: the header, if there is one, is row 1."""
    column: str | None = None
    pointer: str | None = None
    """The place in a JSON document, as a JSON pointer."""


class Refusal(Exception):
    """A request that was understood and is not carried out."""

    code: ClassVar[str] = "refused"
    detail: ClassVar[str] = "The request was refused."

    def __init__(self, detail: str | None = None, **facts: Any) -> None:
        super().__init__(detail or self.detail)
        self.facts: Mapping[str, Any] = facts


class Malformed(Refusal):
    code = "malformed-json"
    detail = "The body is not valid JSON in UTF-8."


class JsonLimits(Malformed):
    code = "json-limits"
    detail = "The JSON is nested more than 32 levels deep."


class DuplicateMember(Malformed):
    code = "duplicate-member"
    detail = "A JSON object has the same member twice."


class TwoLengths(Malformed):
    code = "two-lengths"
    detail = "The request has both Content-Length and Transfer-Encoding, so its end is in doubt. Send one of them."


class Invalid(Refusal):
    """A payload that breaks a rule; `findings` say where, and what to write instead."""

    code = "invalid-input"
    detail = "Nothing was stored: the request needs correcting. See `errors`."

    def __init__(self, findings: Sequence[Finding] = (), detail: str | None = None, **facts: Any) -> None:
        super().__init__(detail, **facts)
        self.findings = tuple(findings)


class InvalidCandidates(Invalid):
    """A candidate list that is refused as a whole: the first findings, and how many there are in `total`."""

    code = "invalid-candidates"
    detail = "Nothing was stored: the candidate list needs correcting. See `errors`."
    SHOWN: ClassVar[int] = 100

    def __init__(self, findings: Sequence[Finding], total: int | None = None) -> None:
        self.total = len(findings) if total is None else total
        super().__init__(findings[: self.SHOWN], total=self.total)


class UnverifiedArchive(Invalid):
    code = "unverified-archive"
    detail = (
        "No server that this one trusts has signed the archive, so its history may be invented. To import it all the "
        "same, and have it marked, set `accept_unverified`."
    )


class IdempotencyKeyReused(Invalid):
    code = "idempotency-key-reused"
    detail = "This Idempotency-Key was used for another request. Use a new key for a new request."


class Denied(Refusal):
    code = "forbidden"
    detail = "The role of this key does not allow this."


class Unauthenticated(Denied):
    code = "unauthenticated"
    detail = "Send a valid API key: Authorization: Bearer nb_…"


class WrongOrigin(Denied):
    code = "misdirected-host"
    detail = "This server does not answer to that Host. See NEXTBATCH_ALLOWED_HOSTS."


class Missing(Refusal):
    code = "not-found"
    detail = "There is nothing at this address."


class StudyNotFound(Missing):
    code = "study-not-found"
    detail = "There is no such study, or this key has no access to it."


class StudyGone(Missing):
    code = "study-deleted"
    detail = "The study was deleted."


class CandidateNotFound(Missing):
    code = "candidate-not-found"
    detail = "The study has no candidate with this key."


class BatchNotFound(Missing):
    code = "batch-not-found"
    detail = "The study has no batch with this number."


class SuggestionNotFound(Missing):
    code = "suggestion-not-found"
    detail = "The study has no such suggestion. Use an id from the batch, such as B3-S1."


class ObservationNotFound(Missing):
    code = "observation-not-found"
    detail = "The study has no observation with this number."


class KeyNotFound(Missing):
    code = "key-not-found"
    detail = "There is no such API key."


class Conflict(Refusal):
    code = "conflict"
    detail = "The state of the study does not allow this."


class StudyExists(Conflict):
    code = "study-exists"
    detail = (
        "The name is taken: a study with this name exists and has other settings. Nothing was changed. Choose another"
        " name; to extend that study, add candidates to it, or change its settings with PATCH."
    )


class StudyNotActive(Conflict):
    code = "study-not-active"
    detail = "The study is not active."


class ForbiddenTransition(Conflict):
    code = "forbidden-transition"
    detail = "The study cannot change from its state to the requested one."


class CandidatesInUse(Conflict):
    code = "candidates-in-use"
    detail = "Batches or results refer to these candidates, so the list cannot be replaced. You can still add to it."


class CandidatesExist(Conflict):
    code = "candidates-exist"
    detail = (
        "The study already has another candidate list, which was not touched. Add candidates with POST, choose another"
        " name for a new study, or send `replace=true` to replace the list."
    )


class StudyFinished(Conflict):
    code = "study-finished"
    detail = "The study has met its stop rule. Results are still welcome; change the stop rule to ask again."


class NoCandidates(Conflict):
    code = "no-candidates"
    detail = "The study has no candidates yet. Upload a list first."


class CandidatesExhausted(Conflict):
    code = "candidates-exhausted"
    detail = "No candidate is left to suggest: all are measured, pending or switched off."


class TermsUnmet(Conflict):
    code = "terms-unmet"
    detail = "Fewer candidates than requested meet the terms of this ask together."


class PreviewOutdated(Conflict):
    code = "preview-outdated"
    detail = "The batch would not be the one that you looked at. Look at a new preview."


class SuggestionNotPending(Conflict):
    code = "suggestion-not-pending"
    detail = "This suggestion is not pending: it has a result, or was given up. Only a pending one can be swapped."


class AlreadyObserved(Conflict):
    """Another result is stored where these belong; `findings` say which."""

    code = "already-observed"
    detail = "Nothing was stored: a measurement has another result already. To change a result, submit a correction."

    def __init__(self, findings: Sequence[Finding] = (), detail: str | None = None, **facts: Any) -> None:
        super().__init__(detail, **facts)
        self.findings = tuple(findings)


class ObjectiveMeasured(Conflict):
    code = "objective-measured"
    detail = (
        "Results are stored under the names of the measured quantities, so these can be renamed, added or removed only"
        " before the first result."
    )


class UnreadableEvent(Conflict):
    code = "unreadable-event"
    detail = "The ledger of this study holds an event that this version of the server cannot read. Upgrade the server."


class LedgerBehind(Conflict):
    code = "ledger-behind"
    detail = (
        "The ledger ends before the event that you have seen, so it was restored from an older copy. Read it again; "
        "`newest` is its last event."
    )


class DamagedStudy(Conflict):
    code = "damaged-study"
    detail = "The row of a study in the database is damaged. `nextbatch rebuild` makes it anew from the ledger."


class PreconditionFailed(Conflict):
    code = "precondition-failed"
    detail = "It was changed since you read it. Read it again, then decide."


class PreconditionRequired(Conflict):
    code = "precondition-required"
    detail = "State the version you saw: If-Match with the ETag of your last read."


class Unavailable(Refusal):
    code = "database-unavailable"
    detail = "The database does not answer. Try again."
    retry_after: int = 1

    def __init__(self, detail: str | None = None, *, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.retry_after = retry_after or self.retry_after


class DatabaseBusy(Unavailable):
    code = "database-busy"
    detail = "The database is busy. Try again."


class DatabaseDamaged(Unavailable):
    code = "database-damaged"
    detail = "The database is damaged, or not one of this server: it cannot be read. Restore a backup."
    retry_after = 60


class DatabaseReplaced(Unavailable):
    code = "database-replaced"
    detail = "The database file was moved, deleted or replaced under the running server. Put it back, or restart."
    retry_after = 10


class SchemaChanged(Unavailable):
    code = "schema-changed"
    detail = "The database has the schema of another version of the server. Restart this server with that version."
    retry_after = 10


class OutcomeUnknown(Unavailable):
    code = "outcome-unknown"
    detail = "The commit was not confirmed. Repeat the request with the same Idempotency-Key to learn what happened."


class Overloaded(Unavailable):
    code = "overloaded"
    detail = "The server has as much work as it can take. Try again."


class ComputationTooLong(Unavailable):
    code = "computation-too-long"
    detail = (
        "The computation took longer than NEXTBATCH_ENGINE_SECONDS and was given up; nothing was stored. "
        "Ask for fewer measurements, use a shorter list, or raise that setting."
    )
    retry_after = 60


class TooManyRequests(Unavailable):
    code = "too-many-requests"
    detail = "This key sends more requests than NEXTBATCH_MAX_REQUESTS_PER_SECOND. Wait, or send many results at once."


class BodyTooSlow(Unavailable):
    code = "body-too-slow"
    detail = "The body arrived too slowly. See NEXTBATCH_BODY_SECONDS."


class StorageFull(Unavailable):
    code = "storage-full"
    detail = "The disk is full. Reading works; writing needs free space."
    retry_after = 10


class BodyTooLarge(Refusal):
    code = "body-too-large"
    detail = (
        "The body is larger than NEXTBATCH_MAX_BODY_BYTES, or than NEXTBATCH_MAX_JSON_BYTES if it is JSON. "
        "Send a large table as CSV."
    )


class UnsupportedMediaType(Refusal):
    code = "unsupported-media-type"
    detail = "This address does not accept that Content-Type."
