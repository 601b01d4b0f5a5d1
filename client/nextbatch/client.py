"""`Client` and `AsyncClient`: the same calls, blocking or awaited."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict, Unpack

from ._connection import AsyncConnection, SyncConnection
from ._json import parse
from ._list_backtests import ListBacktests
from ._retries import Retries
from ._settings import Settings
from ._sync_and_async import ConnectionT, sync_and_async
from .answers import Key, StudyDetails
from .checks import HeadsChecked
from .origins import DeletedStudy
from .study import Study

if TYPE_CHECKING:
    import httpx

    Timeout = float | tuple[float, float, float, float] | httpx.Timeout

LOCAL_URL = "http://127.0.0.1:8000"
RETRIES = Retries()
TIMEOUT = (5.0, 30.0, 30.0, 30.0)  # seconds to connect, read, write, and to wait for a free connection


class KeyChanges(TypedDict, total=False):
    """What can be changed of a key."""

    name: str
    role: Literal["technician", "client", "dashboard", "scientist", "admin"]
    expires_at: datetime | None


class Server(ListBacktests[ConnectionT]):
    """The calls that both clients have."""

    @sync_and_async
    async def create_study(self, name: str, **settings: Unpack[Settings]) -> Study[ConnectionT]:
        """Create a study, or open it if it exists with these settings. Every setting has a default.

        >>> client.create_study("suzuki", objective="yield", unit="%")
        <study suzuki: 0 candidates, active>
        """
        answer = await self._connection.call("PUT", f"/studies/{name}", json=settings)
        return Study(self._connection, parse(StudyDetails, answer.json()))

    @sync_and_async
    async def study(self, name: str) -> Study[ConnectionT]:
        """Open an existing study."""
        answer = await self._connection.call("GET", f"/studies/{name}")
        return Study(self._connection, parse(StudyDetails, answer.json()))

    @sync_and_async
    async def studies(self, state: Literal["active", "paused", "archived"] | None = None) -> list[Study[ConnectionT]]:
        """The studies that this key has access to."""
        studies: list[Study[ConnectionT]] = []
        after: int | None = 0
        while after is not None:
            params = {"state": state, "after": after, "limit": 1000}
            page = (await self._connection.call("GET", "/studies", params=params)).json()
            studies += (Study(self._connection, parse(StudyDetails, entry)) for entry in page["studies"])
            after = page["next"]
        return studies

    @sync_and_async
    async def deleted_studies(self) -> list[DeletedStudy]:
        """The deleted studies that can still be restored."""
        answer = await self._connection.call("GET", "/deleted-studies")
        return [parse(DeletedStudy, entry) for entry in answer.json()["studies"]]

    @sync_and_async
    async def restore(self, study: str, *, reason: str | None = None) -> Study[ConnectionT]:
        """Restore a deleted study, by its name or by the `address` that `deleted_studies` gives."""
        answer = await self._connection.call("POST", f"/studies/{study}/restoration", json={"reason": reason})
        return Study(self._connection, parse(StudyDetails, answer.json()))

    @sync_and_async
    async def purge(self, study: str, confirm: str, *, reason: str | None = None) -> tuple[str, ...]:
        """Erase a study for good, deleted or not; `confirm` is its name once more. Only admins may call this.

        Returns the studies that hold copies of its results: its forks, and those that borrowed from it.
        """
        body = {"confirm": confirm, "reason": reason}
        answer = await self._connection.call("POST", f"/studies/{study}/purge", json=body, extra_seconds=600.0)
        return tuple(answer.json()["copies"])

    @sync_and_async
    async def import_study(
        self, archive: str | Path, *, accept_unverified: bool = False, name: str | None = None
    ) -> Study[ConnectionT]:
        """Import a study from an archive that `study.export` wrote, under its own name or another one.

        An archive that the server cannot trace to itself or to a server that it trusts is refused, unless
        `accept_unverified` is set. Imported events and results carry their `origin` for ever.
        """
        params = {"accept_unverified": "true" if accept_unverified else None, "name": name}
        body = {"content": Path(archive).read_bytes(), "headers": {"Content-Type": "application/zip"}}
        answer = await self._connection.call("POST", "/archives", params=params, extra_seconds=600.0, **body)
        return Study(self._connection, parse(StudyDetails, answer.json()))

    @sync_and_async
    async def heads(self) -> dict[str, Any]:
        """The newest hash of every ledger that this key may see, signed by the server. Keep it somewhere else."""
        heads: dict[str, Any] = (await self._connection.call("GET", "/heads", extra_seconds=600.0)).json()
        return heads

    @sync_and_async
    async def check_heads(self, heads: dict[str, Any]) -> HeadsChecked:
        """Compare what `heads` gave earlier: whether every ledger still has all that it had."""
        answer = await self._connection.call("POST", "/heads/check", json=heads, extra_seconds=600.0)
        return parse(HeadsChecked, answer.json())

    @sync_and_async
    async def me(self) -> Key:
        """The key of this client: its role and its studies."""
        return parse(Key, (await self._connection.call("GET", "/keys/me")).json())

    @sync_and_async
    async def keys(self) -> list[Key]:
        """Every key, without its secret. Only admins may call this."""
        return [parse(Key, entry) for entry in (await self._connection.call("GET", "/keys")).json()["keys"]]

    @sync_and_async
    async def create_key(
        self,
        name: str,
        role: Literal["technician", "client", "dashboard", "scientist", "admin"],
        *,
        studies: Sequence[str] = (),
        expires_at: datetime | None = None,
    ) -> Key:
        """Create a key. Its secret is in the `key` of the answer, and cannot be read again."""
        expiry = expires_at.isoformat() if expires_at else None
        body = {"name": name, "role": role, "studies": list(studies), "expires_at": expiry}
        return parse(Key, (await self._connection.call("POST", "/keys", json=body)).json())

    @sync_and_async
    async def revoke_key(self, key_id: str) -> Key:
        """Revoke a key, with immediate effect."""
        return parse(Key, (await self._connection.call("POST", f"/keys/{key_id}/revocation")).json())

    @sync_and_async
    async def rotate_key(self, key_id: str, *, overlap_hours: float = 24) -> Key:
        """Give a key a new secret, in the `key` of the answer. The old one counts until the overlap ends."""
        body = {"overlap_hours": overlap_hours}
        return parse(Key, (await self._connection.call("POST", f"/keys/{key_id}/rotation", json=body)).json())

    @sync_and_async
    async def change_key(self, key_id: str, **changes: Unpack[KeyChanges]) -> Key:
        """Change the name, the role or the expiry of a key; `expires_at=None` lets it never expire."""
        body: dict[str, Any] = dict(changes)
        if isinstance(expiry := changes.get("expires_at"), datetime):
            body["expires_at"] = expiry.isoformat()
        return parse(Key, (await self._connection.call("PATCH", f"/keys/{key_id}", json=body)).json())

    @sync_and_async
    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close(self._connection.http)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} for {self._connection.url}>"


class Client(Server[SyncConnection]):
    """The client for scripts and notebooks; several threads may share it.

    `url` and `key` default to NEXTBATCH_URL and NEXTBATCH_KEY. A request that gets no answer, or status 429, 502, 503
    or 504, is sent again up to `retries` times. Every write carries an Idempotency-Key and takes effect only once.
    `transport` and `http_client` are those of httpx, for proxies and tests.

    >>> with Client() as client:
    ...     client.me().role
    'admin'
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: Timeout = TIMEOUT,
        retries: int | Retries = RETRIES,
        transport: httpx.BaseTransport | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        import httpx  # noqa: PLC0415  (see this package's docstring)

        connection = SyncConnection(*_address(url, key), httpx.Timeout(timeout), _retries(retries))
        connection.http = http_client or httpx.Client(transport=transport)
        super().__init__(connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(Server[AsyncConnection]):
    """The same calls as `Client`, awaited on asyncio."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: Timeout = TIMEOUT,
        retries: int | Retries = RETRIES,
        transport: httpx.AsyncBaseTransport | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        import httpx  # noqa: PLC0415

        connection = AsyncConnection(*_address(url, key), httpx.Timeout(timeout), _retries(retries))
        connection.http = http_client or httpx.AsyncClient(transport=transport)
        super().__init__(connection)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _address(url: str | None, key: str | None) -> tuple[str, str | None]:
    return url or os.environ.get("NEXTBATCH_URL") or LOCAL_URL, key or os.environ.get("NEXTBATCH_KEY")


def _retries(retries: int | Retries) -> Retries:
    return Retries(retries) if isinstance(retries, int) else retries
