"""Backtests of lists whose results are known: no study is made."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Unpack

from ._json import parse
from ._request_bodies import Table, candidates_body, text_columns
from ._settings import Settings
from ._sync_and_async import ConnectionT, Handle, sync_and_async
from .backtests import Backtest

POLL_SECONDS = 0.5


class ListBacktests(Handle[ConnectionT]):
    @sync_and_async
    async def backtest(  # noqa: PLR0913
        self,
        data: Table,
        *,
        seeds: int = 10,
        batch_sizes: Sequence[int] = (5,),
        measurements: int | None = None,
        within: float | None = None,
        key: str | None = None,
        attributes: Sequence[str] = (),
        text: Sequence[str] = (),
        smiles: Sequence[str] = (),
        wait: bool = True,
        **settings: Unpack[Settings],
    ) -> Backtest:
        """Simulate studies on a list whose results are known: how many measurements would they take?

        `data` is a frame, a path (CSV, .xlsx, Parquet, Arrow) or a list of dicts. Its results are in the column that
        `objective` names, by default `value`; candidates without one are left out. The other columns are declared as
        in `study.upload`, and the settings are those of `create_study`. No study is made. With `wait=False`, the
        backtest goes on in the background; `backtest_number(n)` reads it, for 30 days.

        >>> known = [{"heat": heat, "value": -((heat - 30) ** 2)} for heat in range(0, 60, 5)]
        >>> client.backtest(known, seeds=2, batch_sizes=[2]).result.best
        0.0
        """
        texts = list(dict.fromkeys([*text, *text_columns(data, key)]))
        params: dict[str, Any] = {"key": key, "attribute": list(attributes), "text": texts, "smiles": list(smiles)}
        params |= {"seeds": seeds, "batch_size": list(batch_sizes), "measurements": measurements, "within": within}
        params["settings"] = json.dumps(settings)
        body = candidates_body(data, None, None, key)
        answer = await self._connection.call("POST", "/backtests", params=params, extra_seconds=600.0, **body)
        backtest = parse(Backtest, answer.json())
        while wait and not backtest.is_done:
            await self._connection.sleep(POLL_SECONDS)
            backtest = await self._list_backtest(backtest.number)
        return backtest

    @sync_and_async
    async def backtest_number(self, number: int) -> Backtest:
        """Read a backtest that this key has started: how far it is, and what came out."""
        return await self._list_backtest(number)

    @sync_and_async
    async def backtests(self) -> list[Backtest]:
        """The backtests of lists that this key has started, oldest first."""
        page = (await self._connection.call("GET", "/backtests", params={"limit": 1000})).json()
        return [parse(Backtest, entry) for entry in page["backtests"]]

    @sync_and_async
    async def cancel_backtest(self, number: int) -> Backtest:
        """End a backtest; one that has ended stays as it is."""
        return parse(Backtest, (await self._connection.call("POST", f"/backtests/{number}/cancel")).json())

    async def _list_backtest(self, number: int) -> Backtest:
        return parse(Backtest, (await self._connection.call("GET", f"/backtests/{number}")).json())
