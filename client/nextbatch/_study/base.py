"""What every part of a study needs: its details, its address, and the pages of its lists."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._json import parse
from .._sync_and_async import ConnectionT, Handle
from ..answers import StudyDetails


class StudyBase(Handle[ConnectionT]):
    """`details` is the study as it was when it was last read."""

    def __init__(self, connection: ConnectionT, details: StudyDetails) -> None:
        super().__init__(connection)
        self.details = details
        self.name = details.name
        self._path = f"/studies/{details.name}"

    async def _refresh(self) -> StudyDetails:
        return self._load((await self._connection.call("GET", self._path)).json())

    def _load(self, document: Mapping[str, Any]) -> StudyDetails:
        self.details = parse(StudyDetails, document)
        return self.details

    async def _entries(self, name: str, **params: Any) -> list[dict[str, Any]]:
        """Every entry of a list that the server sends in pages."""
        entries: list[dict[str, Any]] = []
        while True:
            answer = await self._connection.call("GET", f"{self._path}/{name}", params={"limit": 1000, **params})
            page = answer.json()
            entries += page[name]
            if page["next"] is None:
                return entries
            params["after"] = page["next"]
