"""The list of candidates: upload it, add to it, read it, switch one off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from .._bodies import Table, candidates_body, texts_of
from .._both import W, both
from .._frames import Frame, candidate_row, frame_of
from .._reading import shaped
from ..answers import Candidate, Receipt
from .life import LifeCycle

PAGE = 10_000


class Candidates(LifeCycle[W]):
    @both
    async def upload(
        self,
        data: Table = None,
        *,
        parameters: Mapping[str, Any] | None = None,
        key: str | None = None,
        keys: Sequence[object] | None = None,
        columns: Sequence[str] = (),
        attributes: Sequence[str] = (),
        text: Sequence[str] = (),
        dry_run: bool = False,
    ) -> Receipt:
        """Make this the list of candidates; the same again changes nothing.

        `data` is a pandas or polars frame, a path (CSV, .npy, Parquet, Arrow), a list of dicts, or a 2-d array with
        `keys` and `columns`. Or `parameters` describe a space. `key` names the column that names the candidate,
        `attributes` the columns that are carried along but not modelled, `text` those to read as text.

        >>> study.upload([{"key": "a", "heat": 20}, {"key": "b", "heat": 30}], dry_run=True).added
        2
        """
        texts = list(dict.fromkeys([*text, *texts_of(data, key)]))
        given = {"key": key, "attribute": list(attributes), "text": texts, "column": list(columns)}
        return await self._send_candidates("PUT", candidates_body(data, keys, parameters), given, dry_run)

    @both
    async def append(
        self,
        data: Table = None,
        *,
        parameters: Mapping[str, Any] | None = None,
        keys: Sequence[object] | None = None,
        columns: Sequence[str] = (),
        dry_run: bool = False,
    ) -> Receipt:
        """Add candidates, in the study's own columns."""
        given = {"column": list(columns)}
        return await self._send_candidates("POST", candidates_body(data, keys, parameters), given, dry_run)

    async def _send_candidates(self, method: str, body: dict[str, Any], given: dict[str, Any], dry: bool) -> Receipt:
        params = {**given, "dry_run": "true" if dry else None}
        answer = await self._wire.call(method, f"{self._path}/candidates", params=params, wait=600.0, **body)
        await self._refresh()  # the upload made a new version of the study
        return shaped(Receipt, answer.json())

    @both
    async def candidates(
        self,
        *,
        as_frame: bool = False,
        posterior: bool = False,
        available: bool | None = None,
        search: str | None = None,
        where: Sequence[str] = (),
        sort: str | None = None,
        limit: int | None = None,
    ) -> list[Candidate] | Frame:
        """The candidates that meet every condition; `limit` of them, or all.

        >>> [one.key for one in study.candidates(where=["temperature>=80"], sort="-temperature", limit=2)]
        ['A3', 'A2']
        """
        params = {
            "posterior": "true" if posterior else None,
            "available": None if available is None else str(available).lower(),
            "search": search,
            "where": list(where),
            "sort": sort,
        }
        found = [shaped(Candidate, one) for one in await self._candidate_rows(params, limit)]
        return frame_of(candidate_row(one) for one in found) if as_frame else found

    async def _candidate_rows(self, params: dict[str, Any], limit: int | None) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while True:
            left = PAGE if limit is None else min(PAGE, limit - len(found))
            window = {**params, "offset": len(found), "limit": left}
            page = (await self._wire.call("GET", f"{self._path}/candidates", params=window)).json()
            believed = page.get("posterior") or [None] * len(page["candidates"])
            found += [one | {"posterior": of} for one, of in zip(page["candidates"], believed, strict=True)]
            if len(found) >= min(page["total"], limit or page["total"]) or not page["candidates"]:
                return found

    @both
    async def candidate(self, key: str) -> Candidate:
        """One candidate, by its key."""
        answer = await self._wire.call("GET", f"{self._path}/candidates/{quote(key, safe='')}")
        return shaped(Candidate, answer.json())

    @both
    async def switch_off(self, key: str, reason: str) -> Candidate:
        """Say that a candidate cannot be measured, and why."""
        return await self._switch(key, {"available": False, "reason": reason})

    @both
    async def switch_on(self, key: str) -> Candidate:
        """Say that it can be measured again."""
        return await self._switch(key, {"available": True})

    async def _switch(self, key: str, change: Mapping[str, Any]) -> Candidate:
        answer = await self._wire.call("PATCH", f"{self._path}/candidates/{quote(key, safe='')}", json=change)
        return shaped(Candidate, answer.json())
