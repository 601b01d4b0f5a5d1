"""Webhooks and their deliveries as rows. They are no part of the ledger."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    Row,
    String,
    Table,
    Text,
    UniqueConstraint,
    delete,
    func,
    insert,
    select,
    update,
)

from app.domain.access import Actor
from app.domain.studies import StudyState
from app.storage.dialects import insert_if_absent
from app.storage.tables import metadata, studies

PENDING, DELIVERED, GIVEN_UP = "pending", "delivered", "given-up"

webhooks = Table(
    "webhooks",
    metadata,
    Column("study_id", Integer, ForeignKey("studies.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("url", Text, nullable=False),
    Column("types", Text, nullable=False),  # of messages, separated by spaces
    Column("salt", String(32), nullable=False),  # the secret is derived from it, with the signing key
    Column("generation", Integer, nullable=False),  # of the secret
    Column("earlier_until", String(32)),  # until then the secret before signs, too
    Column("seen", Integer, nullable=False),  # the last event that was looked at
    Column("checked_at", String(32), nullable=False),  # when a process last looked for what no event tells
    Column("created_at", String(32), nullable=False),
    Column("ended_at", String(32)),  # the target answered that it is gone
)

webhook_deliveries = Table(
    "webhook_deliveries",
    metadata,
    Column("study_id", Integer, primary_key=True),
    Column("webhook", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("subject", String(100), nullable=False),  # what it tells, told once
    Column("type", String(50), nullable=False),
    Column("seq", Integer, nullable=False),  # of the event, or of the newest one when it was noticed
    Column("batch", Integer),  # that is issued or overdue
    Column("rule", String(50)),  # by which the study is finished
    Column("state", String(20), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due_at", String(32), nullable=False),
    Column("claimed_until", String(32), nullable=False),  # by a process that sends it now
    Column("created_at", String(32), nullable=False),
    Column("attempted_at", String(32)),
    Column("status", Integer),  # that the target answered last
    Column("problem", Text),
    ForeignKeyConstraint(
        ["study_id", "webhook"], ["webhooks.study_id", "webhooks.number"], name="fk_webhook_deliveries_webhook"
    ),
    UniqueConstraint("study_id", "webhook", "subject"),
    Index("ix_webhook_deliveries_state", "state"),
)


@dataclass(frozen=True)
class Webhook:
    study_id: int
    number: int
    url: str
    types: tuple[str, ...]
    salt: str
    generation: int
    earlier_until: str | None
    seen: int
    checked_at: str
    created_at: str
    ended_at: str | None = None


@dataclass(frozen=True)
class Delivery:
    study_id: int
    webhook: int
    number: int
    subject: str
    type: str
    seq: int
    created_at: str
    due_at: str
    batch: int | None = None
    rule: str | None = None
    state: str = PENDING
    attempts: int = 0
    claimed_until: str = ""
    attempted_at: str | None = None
    status: int | None = None
    problem: str | None = None


def add(connection: Connection, webhook: Webhook) -> None:
    connection.execute(insert(webhooks).values(**vars(webhook) | {"types": " ".join(webhook.types)}))


def next_number(connection: Connection, study_id: int) -> int:
    highest = select(func.max(webhooks.c.number)).where(webhooks.c.study_id == study_id)
    return 1 + (connection.execute(highest).scalar_one() or 0)


def find(connection: Connection, study_id: int, number: int, *, lock: bool = False) -> Webhook | None:
    query = select(webhooks).where(_is(study_id, number))
    row = connection.execute(query.with_for_update() if lock else query).first()
    return _webhook(row) if row else None


def of_study(connection: Connection, study_id: int) -> list[Webhook]:
    query = select(webhooks).where(webhooks.c.study_id == study_id).order_by(webhooks.c.number)
    return [_webhook(row) for row in connection.execute(query)]


def living(connection: Connection) -> list[tuple[Webhook, str, int]]:
    """Every webhook that is to be told something, with the name of its study and that study's newest event."""
    query = select(webhooks, studies.c.name.label("study"), studies.c.seq).join(studies)
    alive = (webhooks.c.ended_at.is_(None), studies.c.state != StudyState.DELETED)
    return [(_webhook(row), row.study, row.seq) for row in connection.execute(query.where(*alive))]


def change(connection: Connection, webhook: Webhook, **values: Any) -> None:
    connection.execute(update(webhooks).where(_is(webhook.study_id, webhook.number)).values(**values))


def claim_check(connection: Connection, webhook: Webhook, moment: str) -> bool:
    """Whether this process is the one that looks for what no event tells, this time."""
    unchecked = _is(webhook.study_id, webhook.number) & (webhooks.c.checked_at == webhook.checked_at)
    return bool(connection.execute(update(webhooks).where(unchecked).values(checked_at=moment)).rowcount)


def remove(connection: Connection, study_id: int, number: int) -> None:
    connection.execute(delete(webhook_deliveries).where(_of(study_id, number)))
    connection.execute(delete(webhooks).where(_is(study_id, number)))


def enqueue(connection: Connection, webhook: Webhook, told: Sequence[Mapping[str, Any]]) -> None:
    """Add deliveries of a locked webhook, in this order; what was told before is not told again."""
    highest = select(func.max(webhook_deliveries.c.number)).where(_of(webhook.study_id, webhook.number))
    number = connection.execute(highest).scalar_one() or 0
    for message in told:
        delivery = Delivery(webhook.study_id, webhook.number, number + 1, **message)
        number += insert_if_absent(connection, webhook_deliveries, vars(delivery))


def first_due(connection: Connection, webhook: Webhook, moment: str) -> Delivery | None:
    """The oldest delivery that is pending, if its time has come and no process is sending it."""
    pending = webhook_deliveries.c.state == PENDING
    query = select(webhook_deliveries).where(_of(webhook.study_id, webhook.number), pending)
    row = connection.execute(query.order_by(webhook_deliveries.c.number).limit(1)).first()
    due = row is not None and row.due_at <= moment and row.claimed_until <= moment
    return _delivery(row) if row and due else None


def claim(connection: Connection, delivery: Delivery, until: str) -> bool:
    """Take a delivery for this process, unless another one was faster."""
    free = _this(delivery) & (webhook_deliveries.c.claimed_until == delivery.claimed_until)
    return bool(connection.execute(update(webhook_deliveries).where(free).values(claimed_until=until)).rowcount)


def settle(connection: Connection, delivery: Delivery, claimed_until: str, **values: Any) -> bool:
    """Record what came of an attempt, unless another process has taken the delivery since."""
    ours = _this(delivery) & (webhook_deliveries.c.claimed_until == claimed_until)
    done = connection.execute(update(webhook_deliveries).where(ours).values(**values, claimed_until=""))
    return bool(done.rowcount)


def deliveries(
    connection: Connection, study_id: int, webhook: int, state: str | None, after: int, limit: int
) -> list[Delivery]:
    """Deliveries after a number, oldest first."""
    query = select(webhook_deliveries).where(_of(study_id, webhook), webhook_deliveries.c.number > after)
    if state is not None:
        query = query.where(webhook_deliveries.c.state == state)
    rows = connection.execute(query.order_by(webhook_deliveries.c.number).limit(limit))
    return [_delivery(row) for row in rows]


def count(connection: Connection, _actor: Actor) -> dict[str, int]:
    """How many deliveries there are in each state."""
    query = select(webhook_deliveries.c.state, func.count()).group_by(webhook_deliveries.c.state)
    return dict.fromkeys((PENDING, DELIVERED, GIVEN_UP), 0) | {row[0]: row[1] for row in connection.execute(query)}


def forget(connection: Connection, types: Sequence[str], before: str) -> None:
    """Drop deliveries of some types that ended long ago."""
    ended = (webhook_deliveries.c.state != PENDING) & webhook_deliveries.c.type.in_(types)
    connection.execute(delete(webhook_deliveries).where(ended, webhook_deliveries.c.created_at < before))


def _is(study_id: int, number: int) -> Any:
    return (webhooks.c.study_id == study_id) & (webhooks.c.number == number)


def _of(study_id: int, webhook: int) -> Any:
    return (webhook_deliveries.c.study_id == study_id) & (webhook_deliveries.c.webhook == webhook)


def _this(delivery: Delivery) -> Any:
    of_webhook = _of(delivery.study_id, delivery.webhook)
    return of_webhook & (webhook_deliveries.c.number == delivery.number) & (webhook_deliveries.c.state == PENDING)


def _webhook(row: Row[Any]) -> Webhook:
    columns = {field.name: getattr(row, field.name) for field in fields(Webhook)}
    return Webhook(**columns | {"types": tuple(row.types.split())})


def _delivery(row: Row[Any]) -> Delivery:
    return Delivery(**{field.name: getattr(row, field.name) for field in fields(Delivery)})
