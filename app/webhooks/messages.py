"""What is sent: the types of messages, their content, and the signature that Standard Webhooks prescribes."""

import base64
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection

from app.domain.codec import canonical
from app.domain.errors import UnreadableEvent
from app.domain.events import BatchIssued, MeasurementsFailed, ObservationsReported, StudyChanged
from app.domain.ledger import LedgerEntry
from app.domain.studies import Study, StudyState
from app.services.signing import Signer
from app.storage import batches, ledger
from app.webhooks.rows import Delivery, Webhook

ARCHIVED = "archived"  # the rule by which a study is finished that somebody archived
_PURPOSE = b"nextbatch webhook\n"  # so that the signing key gives other secrets for anything else


class MessageType(StrEnum):
    BATCH_ISSUED = "batch.issued"
    BATCH_OVERDUE = "batch.overdue"
    RESULTS_REPORTED = "results.reported"
    STUDY_FINISHED = "study.finished"


_TOLD = {event.type for event in (BatchIssued, ObservationsReported, MeasurementsFailed, StudyChanged)}


@dataclass(frozen=True)
class Message:
    """The body of a delivery and the headers that go with it."""

    body: bytes
    headers: Mapping[str, str]


def message_after(entry: LedgerEntry) -> dict[str, Any] | None:
    """What a delivery needs to tell of an event; None if nobody is told of it."""
    if entry.type not in _TOLD:
        return None
    try:
        event = entry.event()
    except UnreadableEvent:
        return None
    told = {"subject": f"event {entry.seq}", "seq": entry.seq, "created_at": entry.recorded_at, "due_at": ""}
    if isinstance(event, BatchIssued):
        return told | {"type": MessageType.BATCH_ISSUED.value, "batch": event.number}
    if isinstance(event, StudyChanged):
        finished = told | {"type": MessageType.STUDY_FINISHED.value, "rule": ARCHIVED}
        return finished if event.state is StudyState.ARCHIVED else None
    return told | {"type": MessageType.RESULTS_REPORTED.value}


def id_of(webhook: Webhook, delivery: Delivery) -> str:
    """The id of a message: the same for every attempt, and no other message has it."""
    return f"msg_{sha256(f'{webhook.salt} {delivery.subject}'.encode()).hexdigest()[:32]}"


def content_of(connection: Connection, study: Study, delivery: Delivery) -> dict[str, Any] | None:
    """The content of a message, read anew for each attempt; None if it was erased. No measured value is in it.

    The hash of the event anchors the ledger with the receiver: it stands for all events up to this one.
    """
    told: dict[str, Any] = {"study": study.name, "event": delivery.seq}
    told["head"] = ledger.hash_of(connection, study.id, delivery.seq)
    if delivery.batch is not None:
        batch = batches.find(connection, study, delivery.batch)
        if batch is None:
            return None
        told |= {"batch": batch.number, "worker": batch.worker, "size": batch.size, "issued_at": batch.created_at}
    elif delivery.rule is not None:
        told["rule"] = delivery.rule
    else:
        entry = next(ledger.read(connection, study.id, delivery.seq - 1, 1), None)
        try:
            told |= _results(entry.event()) if entry else {}
        except UnreadableEvent:
            return None
    return {"type": delivery.type, "timestamp": delivery.created_at, "data": told}


def _results(event: object) -> dict[str, Any]:
    """How many results an event reports, and of which batches."""
    reported = event.observations if isinstance(event, ObservationsReported) else ()
    failed = event.failures if isinstance(event, MeasurementsFailed) else ()
    suggestions = [measured.suggestion for measured in reported] + [failure.suggestion for failure in failed]
    answered = {suggestion.batch for suggestion in suggestions if suggestion is not None}
    return {"results": len(reported), "failed": len(failed), "batches": sorted(answered)}


def sign(content: Mapping[str, Any], message_id: str, seconds: int, secrets: list[bytes]) -> Message:
    """The message with its id, the time of this attempt, and a signature for each secret that counts now."""
    body = canonical(content).encode()
    signed = b".".join((message_id.encode(), str(seconds).encode(), body))
    digests = (base64.b64encode(hmac.digest(secret, signed, sha256)).decode() for secret in secrets)
    headers = {
        "content-type": "application/json",
        "user-agent": "nextbatch",
        "webhook-id": message_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": " ".join(f"v1,{digest}" for digest in digests),
    }
    return Message(body, headers)


def secret_of(signer: Signer, webhook: Webhook, generation: int) -> bytes:
    """A secret of a webhook. It is derived from the server's signing key, so the database does not hold it."""
    key = signer.secret
    return hmac.digest(key, _PURPOSE + f"{webhook.salt} {generation}".encode(), sha256)


def written(secret: bytes) -> str:
    """A secret as people copy it."""
    return f"whsec_{base64.b64encode(secret).decode()}"
