"""What the service refuses, and why.

    Refusal
    ├── Malformed            the bytes cannot be read
    ├── Invalid              the payload breaks a rule of its own
    ├── Denied               who asks may not
    ├── Missing              what is asked for is not there
    ├── Conflict             the payload is fine, the state of things is against it
    └── Unavailable          nothing is wrong with the request; try again

Each carries a stable `code`. The HTTP status of a code lives in one table, `app/api/problems.py`.
A `detail` is for people and never repeats what was sent.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from app.domain.findings import Finding


class Refusal(Exception):
    """A request that was understood and is not carried out."""

    code: ClassVar[str] = "refused"
    detail: ClassVar[str] = "The request was refused."

    def __init__(self, detail: str | None = None, **facts: Any) -> None:
        super().__init__(detail or self.detail)
        self.facts: Mapping[str, Any] = facts


class Malformed(Refusal):
    code = "malformed-json"
    detail = "The body is not JSON in UTF-8."


class JsonLimits(Malformed):
    code = "json-limits"
    detail = "The JSON is nested deeper than 32 levels."


class DuplicateMember(Malformed):
    code = "duplicate-member"
    detail = "A JSON object names the same member twice."


class Invalid(Refusal):
    """A payload that breaks a rule; `findings` say where and how to mend it."""

    code = "invalid-input"
    detail = "The payload breaks a rule; see errors."

    def __init__(self, findings: Sequence[Finding] = (), detail: str | None = None, **facts: Any) -> None:
        super().__init__(detail, **facts)
        self.findings = tuple(findings)


class InvalidCandidates(Invalid):
    """An upload refused as a whole: the first findings, and `total`, how many there are."""

    code = "invalid-candidates"
    detail = "The candidates break a rule; nothing was stored."
    SHOWN: ClassVar[int] = 100

    def __init__(self, findings: Sequence[Finding], total: int | None = None) -> None:
        self.total = len(findings) if total is None else total
        super().__init__(findings[: self.SHOWN], total=self.total)


class IdempotencyKeyReused(Invalid):
    code = "idempotency-key-reused"
    detail = "This Idempotency-Key came before with another request; use a new key for a new request."


class Denied(Refusal):
    code = "forbidden"
    detail = "The key's role does not allow this."


class Unauthenticated(Denied):
    code = "unauthenticated"
    detail = "A valid API key is needed: Authorization: Bearer nb_…"


class WrongOrigin(Denied):
    code = "misdirected-host"
    detail = "This server does not answer to that Host; see NEXTBATCH_ALLOWED_HOSTS."


class Missing(Refusal):
    code = "not-found"
    detail = "There is nothing at this address."


class StudyNotFound(Missing):
    code = "study-not-found"
    detail = "There is no such study, or the key has no grant for it."


class StudyDeleted(Missing):
    code = "study-deleted"
    detail = "The study was deleted."


class CandidateNotFound(Missing):
    code = "candidate-not-found"
    detail = "The study has no candidate with this key."


class BatchNotFound(Missing):
    code = "batch-not-found"
    detail = "The study has no batch of this number."


class ObservationNotFound(Missing):
    code = "observation-not-found"
    detail = "The study has no observation of this number."


class KeyNotFound(Missing):
    code = "key-not-found"
    detail = "There is no such API key."


class Conflict(Refusal):
    code = "conflict"
    detail = "The state of the study is against it."


class StudyExists(Conflict):
    code = "study-exists"
    detail = "A study of this name exists with another configuration; PATCH changes it."


class StudyNotActive(Conflict):
    code = "study-not-active"
    detail = "The study is not active."


class ForbiddenTransition(Conflict):
    code = "forbidden-transition"
    detail = "The study cannot go from its state to that one."


class CandidatesInUse(Conflict):
    code = "candidates-in-use"
    detail = "Batches or observations refer to the candidates; POST adds more, nothing replaces them now."


class StudyFinished(Conflict):
    code = "study-finished"
    detail = "The study's stop rule is met; results are still welcome. PATCH the study to go on."


class NoCandidates(Conflict):
    code = "no-candidates"
    detail = "The study has no candidates yet; upload them first."


class CandidatesExhausted(Conflict):
    code = "candidates-exhausted"
    detail = "No candidate is left that may be suggested: all are measured, pending or switched off."


class AlreadyObserved(Conflict):
    """Another value stands where these belong; `findings` say which."""

    code = "already-observed"
    detail = "Another value stands where this one belongs; correct that one, with a reason."

    def __init__(self, findings: Sequence[Finding] = (), detail: str | None = None, **facts: Any) -> None:
        super().__init__(detail, **facts)
        self.findings = tuple(findings)


class PreconditionFailed(Conflict):
    code = "precondition-failed"
    detail = "It was changed by someone else; read it again and decide anew."


class PreconditionRequired(Conflict):
    code = "precondition-required"
    detail = "Say which version you saw: If-Match with the ETag of your last read."


class Unavailable(Refusal):
    code = "database-unavailable"
    detail = "The database does not answer; try again."
    retry_after: int = 1

    def __init__(self, detail: str | None = None, *, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.retry_after = retry_after or self.retry_after


class DatabaseBusy(Unavailable):
    code = "database-busy"
    detail = "The database is busy; try again."


class OutcomeUnknown(Unavailable):
    code = "outcome-unknown"
    detail = "The commit was not confirmed; only a retry with the same Idempotency-Key tells what happened."


class Overloaded(Unavailable):
    code = "overloaded"
    detail = "The server has all the work it can take; try again."


class TooManyRequests(Unavailable):
    code = "too-many-requests"
    detail = "This key sends more requests than NEXTBATCH_MAX_REQUESTS_PER_SECOND; wait, or send many results at once."


class BodyTooSlow(Unavailable):
    code = "body-too-slow"
    detail = "The body took too long to come; see NEXTBATCH_BODY_SECONDS."


class StorageFull(Unavailable):
    code = "storage-full"
    detail = "The disk is full; reads work, writes wait for room."
    retry_after = 10


class BodyTooLarge(Refusal):
    code = "body-too-large"
    detail = (
        "The body is larger than this server takes: NEXTBATCH_MAX_BODY_BYTES, or NEXTBATCH_MAX_JSON_BYTES of JSON. "
        "Send a large table as CSV."
    )


class UnsupportedMediaType(Refusal):
    code = "unsupported-media-type"
    detail = "This endpoint does not take that Content-Type."
