"""Backtests of a study: start one, wait for it, read it, cancel it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from .._json import parse
from .._settings import Settings
from .._sync_and_async import ConnectionT, sync_and_async
from ..backtests import Backtest
from .base import StudyBase

POLL_SECONDS = 0.5


class Backtests(StudyBase[ConnectionT]):
    @sync_and_async
    async def backtest(
        self,
        *,
        seeds: int = 10,
        batch_sizes: Sequence[int] = (5,),
        measurements: int | None = None,
        within: float | None = None,
        wait: bool = True,
        **settings: Unpack[Settings],
    ) -> Backtest:
        """Simulate studies on what this one has measured: how many measurements would it have taken?

        Every batch size is simulated with every seed, beside random choice. `within` says how close to the best known
        value is good enough. Settings that differ from the study's can be given by name. With `wait=False`, the
        backtest goes on in the background; `backtest_number(n)` reads it.
        """
        body: dict[str, Any] = {"seeds": seeds, "batch_sizes": list(batch_sizes), "configuration": settings}
        body |= {"measurements": measurements, "within": within}
        answer = await self._connection.call("POST", f"{self._path}/backtests", json=body, extra_seconds=60.0)
        backtest = parse(Backtest, answer.json())
        while wait and not backtest.is_done:
            await self._connection.sleep(POLL_SECONDS)
            backtest = await self._backtest(backtest.number)
        return backtest

    @sync_and_async
    async def backtest_number(self, number: int) -> Backtest:
        """Read a backtest: how far it is, and what came out."""
        return await self._backtest(number)

    @sync_and_async
    async def backtests(self) -> list[Backtest]:
        """Every backtest of the study, oldest first."""
        return [parse(Backtest, entry) for entry in await self._entries("backtests")]

    @sync_and_async
    async def cancel_backtest(self, number: int) -> Backtest:
        """End a backtest; one that has ended stays as it is."""
        answer = await self._connection.call("POST", f"{self._path}/backtests/{number}/cancel")
        return parse(Backtest, answer.json())

    async def _backtest(self, number: int) -> Backtest:
        return parse(Backtest, (await self._connection.call("GET", f"{self._path}/backtests/{number}")).json())
