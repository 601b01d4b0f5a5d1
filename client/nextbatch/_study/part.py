"""What every part of a study needs: its details, its address, its pages."""

from __future__ import annotations

from typing import Any

from .._both import Handle, W
from ..answers import Details


class StudyPart(Handle[W]):
    """`details` is the study as it was when last read."""

    def __init__(self, wire: W, details: Details) -> None:
        super().__init__(wire)
        self.details = details
        self.name = details.name
        self._path = f"/studies/{details.name}"

    async def _pages(self, what: str, **params: Any) -> list[dict[str, Any]]:
        """Every entry of a list that comes in pages."""
        found: list[dict[str, Any]] = []
        while True:
            page = (await self._wire.call("GET", f"{self._path}/{what}", params={"limit": 1000, **params})).json()
            found += page[what]
            if page["next"] is None:
                return found
            params["after"] = page["next"]
