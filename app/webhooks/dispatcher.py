"""The dispatcher: each server process has one, and of several only one sends a delivery at a time.

It works in three steps, each a short transaction. *Collect*: read the ledger from where it stopped and list what is to
be told, together with how far it got. *Claim*: take the oldest pending delivery of a webhook for a minute. *Settle*:
record what the target answered. A process that dies between two steps loses nothing: what it had claimed is claimed
again when the minute is over, and sent again under the same id.
"""

import random
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Event, Thread
from time import time
from typing import Any

import structlog
from prometheus_client import Counter
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from app.domain.clock import ago, now, stamp
from app.domain.errors import Refusal
from app.failpoints import reach
from app.services.resources import Resources
from app.storage import ledger, studies
from app.webhooks import messages, rows
from app.webhooks.messages import MessageType
from app.webhooks.notices import Notices
from app.webhooks.rows import Delivery, Webhook
from app.webhooks.targets import AllowedTargets, NotAllowed, NotDelivered, post

LOOK_SECONDS = 1.0
CHECK_SECONDS = 60.0  # between looks for what no event tells: overdue batches, finished studies
CLAIM_SECONDS = 60.0  # longer than an attempt can take
PAUSES = (5.0, 30.0, 300.0, 1800.0, 7200.0, 18000.0, 36000.0)  # after a failed attempt; the last one again and again
EVENTS_AT_A_TIME = 500
IN_A_ROW = 100  # deliveries of one webhook before the others get their turn
THREADS = 4
KEEP_DAYS = 30
GONE = 410  # the target wants no more messages
ERASED = "The study was erased."


class Dispatcher:
    """Sends what the webhooks of all studies are to be told, on threads of its own."""

    def __init__(self, resources: Resources, allowed: AllowedTargets, attempts: Counter | None = None) -> None:
        """`attempts` counts by what came of them."""
        self._attempts = attempts
        self._resources = resources
        self._database = resources.database
        self._notices = Notices(resources)
        self._allowed = allowed
        self._ending = Event()
        self._senders = ThreadPoolExecutor(THREADS, thread_name_prefix="webhooks")
        self._thread = Thread(target=self._run, name="webhooks", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """End after the attempts that are under way."""
        self._ending.set()
        if self._thread.is_alive():
            self._thread.join()
        self._senders.shutdown(wait=True, cancel_futures=True)

    def _run(self) -> None:
        while not self._ending.wait(LOOK_SECONDS):
            try:
                self.look()
            except (Refusal, SQLAlchemyError) as error:  # the database is away: try again
                structlog.get_logger().warning("webhooks wait", cause=repr(error))
            except Exception:
                structlog.get_logger().exception("bug in webhooks")

    def look(self) -> None:
        """Collect what happened, and send what is due."""
        with self._database.read() as connection:
            living = rows.living(connection)
        for webhook, study, newest in living:
            if newest > webhook.seen:
                with self._database.write() as connection:
                    collect(connection, webhook)
            if webhook.checked_at < _after(-CHECK_SECONDS):
                self._check(webhook, study)
        for sending in [self._senders.submit(self._send_due, webhook, study) for webhook, study, _ in living]:
            sending.result()

    def _check(self, webhook: Webhook, study: str) -> None:
        """Look for what no event tells, unless another process does."""
        with self._database.write() as connection:
            if not rows.claim_check(connection, webhook, now()):
                return
        noticed = self._notices.of(webhook, study)
        with self._database.write() as connection:
            if rows.find(connection, webhook.study_id, webhook.number, lock=True) is not None:
                rows.enqueue(connection, webhook, noticed)
            rows.forget(connection, (MessageType.BATCH_ISSUED, MessageType.RESULTS_REPORTED), ago(days=KEEP_DAYS))

    def _send_due(self, webhook: Webhook, study: str) -> None:
        """Send the deliveries of a webhook one after the other, until one fails or none is due."""
        for _ in range(IN_A_ROW):
            with self._database.read() as connection:
                current = rows.find(connection, webhook.study_id, webhook.number)
                delivery = rows.first_due(connection, webhook, now())
            if current is None or delivery is None or self._ending.is_set() or not self._send(current, study, delivery):
                return

    def _send(self, webhook: Webhook, study: str, delivery: Delivery) -> bool:
        """One attempt; whether the next delivery may follow at once."""
        until = _after(CLAIM_SECONDS)
        with self._database.write() as connection:
            if not rows.claim(connection, delivery, until):
                return False
        reach("delivery-claimed")
        status, problem = self._attempt(webhook, study, delivery)
        reach("delivery-sent")
        outcome = self._outcome(delivery, status, problem)
        with self._database.write() as connection:
            settled = rows.settle(connection, delivery, until, **outcome)
            if status == GONE:
                rows.change(connection, webhook, ended_at=now())
        if self._attempts is not None:
            self._attempts.labels("retried" if outcome["state"] == rows.PENDING else outcome["state"]).inc()
        structlog.get_logger().info(
            "webhook", study=study, webhook=webhook.number, delivery=delivery.number, status=status, problem=problem
        )
        return settled and outcome["state"] != rows.PENDING

    def _attempt(self, webhook: Webhook, study: str, delivery: Delivery) -> tuple[int | None, str | None]:
        """The status that the target answered, or what kept the message from getting there."""
        with self._database.read() as connection:
            known = studies.find(connection, study)
            content = messages.content_of(connection, known, delivery) if known else None
        if content is None:
            return None, ERASED
        generations = [webhook.generation]
        if webhook.earlier_until is not None and webhook.earlier_until > now():
            generations.append(webhook.generation - 1)
        secrets = [messages.secret_of(self._resources.signer, webhook, generation) for generation in generations]
        message = messages.sign(content, messages.id_of(webhook, delivery), int(time()), secrets)
        try:
            return post(self._allowed, webhook.url, message), None
        except (NotAllowed, NotDelivered) as error:
            return None, str(error)

    def _outcome(self, delivery: Delivery, status: int | None, problem: str | None) -> dict[str, Any]:
        """What an attempt changes: delivered, given up, or due again after a pause."""
        attempts = delivery.attempts + 1
        outcome: dict[str, Any] = {"attempts": attempts, "attempted_at": now(), "status": status, "problem": problem}
        if status is not None and 200 <= status < 300:
            return outcome | {"state": rows.DELIVERED}
        pause = PAUSES[min(attempts, len(PAUSES)) - 1] * random.uniform(0.9, 1.1)  # noqa: S311
        due = _after(pause)
        is_last = due > _after(hours=self._resources.settings.webhook_hours, since=delivery.created_at)
        if is_last or status == GONE or problem == ERASED:
            return outcome | {"state": rows.GIVEN_UP}
        return outcome | {"state": rows.PENDING, "due_at": due}


def collect(connection: Connection, webhook: Webhook) -> None:
    """List what the events that were not looked at yet tell, and remember how far that was."""
    current = rows.find(connection, webhook.study_id, webhook.number, lock=True)
    if current is None:
        return
    told, seen = [], current.seen
    for entry in ledger.read(connection, webhook.study_id, current.seen, EVENTS_AT_A_TIME):
        seen = entry.seq
        message = messages.message_after(entry)
        if message is not None and message["type"] in current.types:
            told.append(message)
    rows.enqueue(connection, current, told)
    rows.change(connection, current, seen=seen)


def _after(seconds: float = 0, *, hours: float = 0, since: str | None = None) -> str:
    """The moment so long after another one, by default now."""
    start = datetime.fromisoformat(since) if since else datetime.now(UTC)
    return stamp(start + timedelta(seconds=seconds, hours=hours))
