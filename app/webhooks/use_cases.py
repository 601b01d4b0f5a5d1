"""Webhooks of a study, as its owner manages them."""

from datetime import UTC, datetime, timedelta
from secrets import token_hex

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.audit import AuditAction
from app.domain.clock import now, stamp
from app.domain.errors import Conflict, Missing
from app.services.signing import Signer
from app.services.use_cases import studies
from app.storage import audit
from app.webhooks import rows
from app.webhooks.messages import secret_of, written
from app.webhooks.rows import Delivery, Webhook
from app.webhooks.targets import AllowedTargets, must_be_allowed

MOST_WEBHOOKS = 20  # of a study


def create(
    connection: Connection,
    actor: Actor,
    signer: Signer,
    allowed: AllowedTargets,
    name: str,
    url: str,
    types: tuple[str, ...],
) -> tuple[Webhook, str]:
    """A new webhook and its secret. It is told what happens from now on."""
    must_be_allowed(allowed, url)
    study = studies.lock(connection, actor, name)
    if len(rows.of_study(connection, study.id)) >= MOST_WEBHOOKS:
        raise Conflict(f"A study has at most {MOST_WEBHOOKS} webhooks. Remove one first.")
    number, moment = rows.next_number(connection, study.id), now()
    webhook = Webhook(study.id, number, url, types, token_hex(16), 1, None, study.seq, moment, moment)
    rows.add(connection, webhook)
    _record(connection, actor, AuditAction.WEBHOOK_CREATED, name, webhook)
    return webhook, written(secret_of(signer, webhook, 1))


def list_webhooks(connection: Connection, actor: Actor, name: str) -> list[Webhook]:
    return rows.of_study(connection, studies.find(connection, actor, name).id)


def find(connection: Connection, actor: Actor, name: str, number: int) -> Webhook:
    webhook = rows.find(connection, studies.find(connection, actor, name).id, number)
    if webhook is None:
        raise Missing("The study has no webhook with this number.")
    return webhook


def remove(connection: Connection, actor: Actor, name: str, number: int) -> Webhook:
    """Forget the webhook and its deliveries; what is not delivered yet never will be."""
    study = studies.lock(connection, actor, name)
    webhook = find(connection, actor, name, number)
    rows.find(connection, study.id, number, lock=True)
    rows.remove(connection, study.id, number)
    _record(connection, actor, AuditAction.WEBHOOK_REMOVED, name, webhook)
    return webhook


def change_secret(
    connection: Connection, actor: Actor, signer: Signer, name: str, number: int, overlap_hours: float
) -> tuple[Webhook, str]:
    """A new secret. Until the overlap ends, messages carry a signature of the old one, too."""
    studies.lock(connection, actor, name)
    webhook = find(connection, actor, name, number)
    until = stamp(datetime.now(UTC) + timedelta(hours=overlap_hours))
    generation = webhook.generation + 1
    rows.change(connection, webhook, generation=generation, earlier_until=until)
    _record(connection, actor, AuditAction.WEBHOOK_RESIGNED, name, webhook)
    return find(connection, actor, name, number), written(secret_of(signer, webhook, generation))


def list_deliveries(
    connection: Connection, actor: Actor, name: str, number: int, state: str | None, after: int, limit: int
) -> list[Delivery]:
    webhook = find(connection, actor, name, number)
    return rows.deliveries(connection, webhook.study_id, number, state, after, limit)


def _record(connection: Connection, actor: Actor, action: AuditAction, name: str, webhook: Webhook) -> None:
    audit.append(connection, actor, action, {"study": name, "webhook": webhook.number, "url": webhook.url})
