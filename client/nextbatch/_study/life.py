"""The life of a study: change it, pause it, put it away; and who may see it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from .._both import W, both
from .._reading import shaped
from .._settings import Changes
from ..answers import Details
from .part import StudyPart


class LifeCycle(StudyPart[W]):
    @both
    async def refresh(self) -> Details:
        """Read the study again."""
        return await self._refresh()

    async def _refresh(self) -> Details:
        return self._took((await self._wire.call("GET", self._path)).json())

    @both
    async def change(self, *, reason: str | None = None, **changes: Unpack[Changes]) -> Details:
        """Change settings; refused (Conflict) if somebody changed the study since it was read."""
        return await self._patch({**changes, **_given(reason)}, seen=f'"{self.details.version}"')

    @both
    async def pause(self, reason: str | None = None) -> Details:
        """Answer no asks until resumed; results are still welcome."""
        return await self._become("paused", reason)

    @both
    async def resume(self, reason: str | None = None) -> Details:
        """Answer asks again."""
        return await self._become("active", reason)

    @both
    async def archive(self, reason: str | None = None) -> Details:
        """Put it away for good: it can be read, and late results are still taken."""
        return await self._become("archived", reason)

    @both
    async def delete(self, reason: str | None = None) -> None:
        """Delete it; its name stays taken."""
        await self._wire.call("DELETE", self._path, params={"reason": reason})

    @both
    async def grant(self, key_id: str) -> None:
        """Let a key see the study."""
        await self._wire.call("PUT", f"{self._path}/grants/{key_id}")

    @both
    async def withdraw(self, key_id: str) -> None:
        """Take a key's grant back."""
        await self._wire.call("DELETE", f"{self._path}/grants/{key_id}")

    async def _become(self, state: str, reason: str | None) -> Details:
        return await self._patch({"state": state, **_given(reason)}, seen="*")

    async def _patch(self, change: Mapping[str, Any], seen: str) -> Details:
        return self._took((await self._wire.call("PATCH", self._path, json=change, headers={"If-Match": seen})).json())

    def _took(self, document: Mapping[str, Any]) -> Details:
        self.details = shaped(Details, document)
        return self.details


def _given(reason: str | None) -> dict[str, str]:
    return {} if reason is None else {"reason": reason}
