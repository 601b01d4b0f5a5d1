"""The candidates of a study: upload them, add more, read them, switch one off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from .._frames import Frame, candidate_row, frame_of
from .._json import parse
from .._request_bodies import Table, candidates_body, described_body, text_columns
from .._sync_and_async import ConnectionT, sync_and_async, sync_or_async
from ..answers import Candidate, Receipt, Switched
from ..display import Structure
from .base import StudyBase
from .framed import AwaitCandidates, ReadCandidates

PAGE_SIZE = 10_000


class Candidates(StudyBase[ConnectionT]):
    @sync_and_async
    async def upload(  # noqa: PLR0913
        self,
        data: Table = None,
        *,
        parameters: Mapping[str, Any] | None = None,
        key: str | None = None,
        keys: Sequence[object] | None = None,
        columns: Sequence[str] = (),
        attributes: Sequence[str] = (),
        text: Sequence[str] = (),
        cost: str | None = None,
        duration: str | None = None,
        features: Sequence[str] = (),
        smiles: Sequence[str] = (),
        descriptors: Mapping[str, Table] | None = None,
        replace: bool = False,
        dry_run: bool = False,
    ) -> Receipt:
        """Upload the list of candidates; repeating it changes nothing, and only `replace` drops another list.

        `data` is a pandas or polars frame, a path (CSV, .xlsx, .npy, Parquet, Arrow), a list of dicts, or a 2-d array
        with `keys` and `columns`. Or `parameters` describes a space that the server enumerates. `key` is the column of
        keys, `attributes` are columns that are kept but not modelled, `text` are columns to read as text. `cost` and
        `duration` are the columns that say what one measurement takes; they are modelled only if `features` names them.
        `smiles` are columns of molecules, which are compared by their structures (the server needs its extra `chem`).
        `descriptors` are tables by column, as in `{"ligand": frame}`: each row has a level in the column of that name
        and what is known of it, which every candidate of that level gets.

        >>> study.upload([{"key": "a", "heat": 20}, {"key": "b", "heat": 30}], replace=True, dry_run=True).added
        2
        """
        texts = list(dict.fromkeys([*text, *text_columns(data, key)]))
        params: dict[str, Any] = {"key": key, "attribute": list(attributes), "text": texts, "column": list(columns)}
        params |= {"cost": cost, "duration": duration, "feature": list(features), "smiles": list(smiles)}
        if replace:
            params["replace"] = "true"
        body = described_body(data, descriptors) if descriptors else candidates_body(data, keys, parameters, key)
        return await self._send_candidates("PUT", body, params, dry_run)

    @sync_and_async
    async def structure(
        self, key: str, *, column: str | None = None, width: int = 250, height: int = 200
    ) -> Structure | None:
        """The structure of a candidate's molecule: a picture in a notebook. None if no column holds molecules."""
        params = {"column": column, "width": width, "height": height}
        path = f"{self._path}/structures/{quote(key, safe='')}"
        answer = await self._connection.call("GET", path, params=params)
        return Structure(key, answer.text) if answer.status_code == 200 else None

    @sync_and_async
    async def append(
        self,
        data: Table = None,
        *,
        parameters: Mapping[str, Any] | None = None,
        keys: Sequence[object] | None = None,
        columns: Sequence[str] = (),
        dry_run: bool = False,
    ) -> Receipt:
        """Add candidates with the columns that the study has already."""
        params = {"column": list(columns)}
        return await self._send_candidates("POST", candidates_body(data, keys, parameters), params, dry_run)

    async def _send_candidates(
        self, method: str, body: dict[str, Any], params: dict[str, Any], dry_run: bool
    ) -> Receipt:
        answer = await self._connection.call(
            method,
            f"{self._path}/candidates",
            params={**params, "dry_run": "true" if dry_run else None},
            extra_seconds=600.0,
            **body,
        )
        await self._refresh()  # the upload made a new version of the study
        return parse(Receipt, answer.json())

    async def _read_candidates(
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
        """The candidates that meet every condition in `where`, at most `limit` of them.

        >>> [candidate.key for candidate in study.candidates(where=["temperature>=80"], sort="-temperature", limit=2)]
        ['A3', 'A2']
        """
        params = {
            "posterior": "true" if posterior else None,
            "available": None if available is None else str(available).lower(),
            "search": search,
            "where": list(where),
            "sort": sort,
        }
        candidates = [parse(Candidate, row) for row in await self._candidate_rows(params, limit)]
        return frame_of(map(candidate_row, candidates)) if as_frame else candidates

    candidates = sync_or_async[ReadCandidates, AwaitCandidates](_read_candidates)

    async def _candidate_rows(self, params: dict[str, Any], limit: int | None) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        while True:
            size = PAGE_SIZE if limit is None else min(PAGE_SIZE, limit - len(rows))
            window = {**params, "offset": len(rows), "limit": size}
            page = (await self._connection.call("GET", f"{self._path}/candidates", params=window)).json()
            rows += _rows_of(page)
            if len(rows) >= min(page["total"], limit or page["total"]) or not page["candidates"]:
                return rows

    @sync_and_async
    async def candidate(self, key: object) -> Candidate:
        """A candidate by its key."""
        answer = await self._connection.call("GET", f"{self._path}/candidates/{quote(str(key), safe='')}")
        return parse(Candidate, answer.json())

    @sync_and_async
    async def switch_off(self, key: object, reason: str) -> Switched:
        """Mark a candidate, or a list of them, as unavailable, with a reason; they are no longer suggested."""
        return await self._switch(_listed(key), available=False, reason=reason)

    @sync_and_async
    async def switch_on(self, key: object) -> Switched:
        """Mark a candidate, or a list of them, as available again."""
        return await self._switch(_listed(key), available=True)

    @sync_and_async
    async def switch(
        self,
        *,
        available: bool,
        keys: Sequence[str] | None = None,
        where: str | Sequence[str] | None = None,
        reason: str | None = None,
    ) -> Switched:
        """Switch many candidates off or on, by their keys or by conditions: all of them, or none.

        >>> study.switch(where="solvent = THF", available=False, reason="out of stock").switched
        1
        """
        return await self._switch(keys, where, available=available, reason=reason)

    async def _switch(
        self,
        keys: Sequence[object] | None = None,
        where: str | Sequence[str] | None = None,
        *,
        available: bool,
        reason: str | None = None,
    ) -> Switched:
        listed = None if keys is None else [str(key) for key in keys]
        chosen = {"keys": listed, "where": [where] if isinstance(where, str) else where}
        body = {name: value for name, value in chosen.items() if value is not None}
        answer = await self._connection.call(
            "PATCH", f"{self._path}/candidates", json={**body, "available": available, "reason": reason}
        )
        return parse(Switched, answer.json())


def _listed(key: object) -> list[object]:
    """One key or many, as a list."""
    return [key] if isinstance(key, str) or not isinstance(key, Iterable) else list(key)


def _rows_of(page: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The candidates of a page, each with its posterior (None if it was not asked for)."""
    candidates = page["candidates"]
    posteriors = page.get("posterior") or [None] * len(candidates)
    return [candidate | {"posterior": posterior} for candidate, posterior in zip(candidates, posteriors, strict=True)]
