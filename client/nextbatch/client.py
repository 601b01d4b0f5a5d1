"""`Client` and `AsyncClient`: the same calls, blocking or awaited."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, Unpack

import httpx

from ._awaiting import Awaiting
from ._blocking import Blocking
from ._both import Handle, W, both
from ._reading import shaped
from ._retrying import Retries
from ._settings import Settings
from .answers import Details, Key
from .study import Study

LOCAL = "http://127.0.0.1:8000"
RETRIES = Retries()
TIMEOUT = httpx.Timeout(30.0, connect=5.0)


class Server(Handle[W]):
    """What both clients can do."""

    @both
    async def create_study(self, name: str, **settings: Unpack[Settings]) -> Study[W]:
        """Create a study; the same again finds it. Everything has a default that works.

        >>> client.create_study("suzuki", objective="yield", unit="%")
        <study suzuki: 0 candidates, active>
        """
        answer = await self._wire.call("PUT", f"/studies/{name}", json=settings)
        return Study(self._wire, shaped(Details, answer.json()))

    @both
    async def study(self, name: str) -> Study[W]:
        """A study that is there already; NotFound if it is not."""
        answer = await self._wire.call("GET", f"/studies/{name}")
        return Study(self._wire, shaped(Details, answer.json()))

    @both
    async def studies(self, state: Literal["active", "paused", "archived"] | None = None) -> list[Study[W]]:
        """The studies that this key may see."""
        found: list[Study[W]] = []
        after: int | None = 0
        while after is not None:
            params = {"state": state, "after": after, "limit": 1000}
            page = (await self._wire.call("GET", "/studies", params=params)).json()
            found += (Study(self._wire, shaped(Details, one)) for one in page["studies"])
            after = page["next"]
        return found

    @both
    async def import_study(self, archive: str | Path) -> Study[W]:
        """A study from an archive that `study.export` wrote."""
        parts = {"content": Path(archive).read_bytes(), "headers": {"Content-Type": "application/zip"}}
        answer = await self._wire.call("POST", "/archives", wait=600.0, **parts)
        return Study(self._wire, shaped(Details, answer.json()))

    @both
    async def me(self) -> Key:
        """What this client's key is and may see."""
        return shaped(Key, (await self._wire.call("GET", "/keys/me")).json())

    @both
    async def keys(self) -> list[Key]:
        """Every key, never its secret; for admins."""
        return [shaped(Key, one) for one in (await self._wire.call("GET", "/keys")).json()["keys"]]

    @both
    async def create_key(
        self,
        name: str,
        role: Literal["technician", "client", "dashboard", "scientist", "admin"],
        *,
        studies: Sequence[str] = (),
        expires_at: datetime | None = None,
    ) -> Key:
        """Make a key; its spelling is in the answer, this once."""
        expiry = expires_at.isoformat() if expires_at else None
        body = {"name": name, "role": role, "studies": list(studies), "expires_at": expiry}
        return shaped(Key, (await self._wire.call("POST", "/keys", json=body)).json())

    @both
    async def revoke_key(self, key_id: str) -> Key:
        """Revoke a key, effective at once."""
        return shaped(Key, (await self._wire.call("POST", f"/keys/{key_id}/revocation")).json())

    @both
    async def close(self) -> None:
        """Close the connections."""
        await self._wire.close(self._wire.http)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._wire.url}>"


class Client(Server[Blocking]):
    """A server, for scripts and notebooks; several threads may share it.

    `url` and `key` come from NEXTBATCH_URL and NEXTBATCH_KEY if they are not given. A request that gets no answer, or
    429, 502, 503 or 504, is sent again up to `retries` times; every write carries an Idempotency-Key, so that it still
    happens once. `transport` and `http_client` are httpx's, for proxies and tests.

    >>> with Client() as client:
    ...     client.me().role
    'admin'
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float | httpx.Timeout = TIMEOUT,
        retries: int | Retries = RETRIES,
        transport: httpx.BaseTransport | None = None,
        http_client: httpx.Client | None = None,
    ) -> None:
        wire = Blocking(*_address(url, key), httpx.Timeout(timeout), _retries(retries))
        wire.http = http_client or httpx.Client(transport=transport)
        super().__init__(wire)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(Server[Awaiting]):
    """As `Client`, on asyncio: the same calls, awaited."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float | httpx.Timeout = TIMEOUT,
        retries: int | Retries = RETRIES,
        transport: httpx.AsyncBaseTransport | None = None,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        wire = Awaiting(*_address(url, key), httpx.Timeout(timeout), _retries(retries))
        wire.http = http_client or httpx.AsyncClient(transport=transport)
        super().__init__(wire)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _address(url: str | None, key: str | None) -> tuple[str, str | None]:
    return url or os.environ.get("NEXTBATCH_URL") or LOCAL, key or os.environ.get("NEXTBATCH_KEY")


def _retries(retries: int | Retries) -> Retries:
    return Retries(retries) if isinstance(retries, int) else retries
