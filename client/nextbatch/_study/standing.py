"""How a study stands: summary, certificate, trace."""

from __future__ import annotations

from .._both import W, both
from .._reading import shaped
from ..answers import Best, Summary, Trace, Verdict
from ..display import Overview
from .part import StudyPart


class Standing(StudyPart[W]):
    @both
    async def summary(self, *, as_of: int | None = None) -> Summary:
        """The study at a glance, now or as it was after an event of the ledger.

        >>> print(study.summary())
        Nothing is measured yet.
        """
        return await self._summary(as_of)

    async def _summary(self, as_of: int | None = None) -> Summary:
        answer = await self._wire.call("GET", f"{self._path}/summary", params={"as_of": as_of}, wait=60.0)
        return shaped(Summary, answer.json())

    @both
    async def best(self) -> Best | None:
        """The measured candidate whose values are best on average; None before the first result."""
        return (await self._summary()).best_observed

    @both
    async def certificate(self) -> Verdict:
        """The recommended candidate, how much better another could be, and whether to stop."""
        answer = await self._wire.call("GET", f"{self._path}/certificate", wait=60.0)
        return shaped(Verdict, answer.json())

    @both
    async def trace(self) -> Trace:
        """How it went, batch by batch and value by value."""
        return await self._trace()

    async def _trace(self) -> Trace:
        answer = await self._wire.call("GET", f"{self._path}/trace", wait=60.0)
        return shaped(Trace, answer.json())

    @both
    async def overview(self) -> Overview:
        """Summary and trace together: readable text when printed, a table and a curve in a notebook."""
        return await self._overview()

    async def _overview(self) -> Overview:
        return Overview(await self._summary(), await self._trace())
