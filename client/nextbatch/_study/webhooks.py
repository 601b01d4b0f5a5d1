"""The webhooks of a study: other programs that are told what happens in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, TypeAlias

from .._json import parse
from .._sync_and_async import ConnectionT, sync_and_async
from .base import StudyBase

MessageType: TypeAlias = Literal["batch.issued", "batch.overdue", "results.reported", "study.finished"]


@dataclass(frozen=True)
class Webhook:
    """An address that is told what happens. `secret` is None except when it has just been made."""

    webhook: int
    url: str
    events: tuple[str, ...]
    created_at: datetime
    ended_at: datetime | None = None
    secret: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Delivery:
    """A message to a webhook: pending, delivered or given up. `message` is its `webhook-id`."""

    delivery: int
    message: str
    type: str
    event: int
    state: str
    attempts: int
    created_at: datetime
    due_at: datetime | None = None
    attempted_at: datetime | None = None
    status: int | None = None
    problem: str | None = None


class Webhooks(StudyBase[ConnectionT]):
    @sync_and_async
    async def add_webhook(self, url: str, events: Sequence[MessageType] | None = None) -> Webhook:
        """Tell an address what happens from now on, by default everything. The answer has the secret, once.

        The operator of the server lists the addresses that are allowed.
        """
        body = {"url": url} if events is None else {"url": url, "events": list(events)}
        return parse(Webhook, (await self._connection.call("POST", f"{self._path}/webhooks", json=body)).json())

    @sync_and_async
    async def webhooks(self) -> list[Webhook]:
        """The webhooks of the study, without their secrets."""
        answer = await self._connection.call("GET", f"{self._path}/webhooks")
        return [parse(Webhook, entry) for entry in answer.json()["webhooks"]]

    @sync_and_async
    async def remove_webhook(self, webhook: int) -> None:
        """Tell it nothing more, not even what is still to be delivered."""
        await self._connection.call("DELETE", f"{self._path}/webhooks/{webhook}")

    @sync_and_async
    async def change_webhook_secret(self, webhook: int, *, overlap_hours: float = 24) -> Webhook:
        """Give a webhook a new secret; for a while messages are signed with both."""
        address = f"{self._path}/webhooks/{webhook}/secret"
        answer = await self._connection.call("POST", address, json={"overlap_hours": overlap_hours})
        return parse(Webhook, answer.json())

    @sync_and_async
    async def deliveries(
        self, webhook: int, state: Literal["pending", "delivered", "given-up"] | None = None
    ) -> list[Delivery]:
        """What a webhook was told and is to be told, oldest first."""
        deliveries: list[Delivery] = []
        after: int | None = 0
        while after is not None:
            params = {"state": state, "after": after, "limit": 1000}
            address = f"{self._path}/webhooks/{webhook}/deliveries"
            page = (await self._connection.call("GET", address, params=params)).json()
            deliveries += (parse(Delivery, entry) for entry in page["deliveries"])
            after = page["next"]
        return deliveries
