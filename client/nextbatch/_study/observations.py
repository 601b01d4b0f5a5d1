"""Observations: report them, read them, correct them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from .._bodies import Table, reports_body
from .._both import W, both
from .._frames import Frame, frame_of
from .._reading import shaped
from ..answers import Corrected, Observation, Reported
from .part import StudyPart


class Observations(StudyPart[W]):
    @both
    async def report(
        self, data: Table, *, dry_run: bool = False, duplicates: Literal["keep", "skip"] = "keep"
    ) -> Reported:
        """Report many: a filled-in sheet (frame or path to CSV), a list of dicts, or one dict. All or nothing.

        Each line has `suggestion` or `key`, and `value`, `values`, `failed` or `abandoned`; unsolicited and historical
        data are welcome. With `duplicates="skip"` a value that looks reported before is passed over.

        >>> study.report([{"key": "A1", "value": 0.41}, {"key": "A2", "value": 0.56}]).recorded
        2
        """
        params = {"dry_run": "true" if dry_run else None, "duplicates": duplicates}
        answer = await self._wire.call("POST", f"{self._path}/observations", params=params, **reports_body(data))
        return shaped(Reported, answer.json())

    @both
    async def observations(
        self, *, candidate: str | None = None, versions: Literal["current", "all"] = "current", as_frame: bool = False
    ) -> list[Observation] | Frame:
        """What was measured, as it stands or in every version."""
        found = await self._pages("observations", candidate=candidate, versions=versions)
        return frame_of(found) if as_frame else [shaped(Observation, one) for one in found]

    @both
    async def correct(self, observation: int | Observation, value: float, reason: str) -> Corrected:
        """Another value, with a reason; the old one is kept.

        With an Observation, the correction is refused (Conflict) if somebody changed it since it was read.
        """
        return await self._amend(observation, "corrections", {"value": float(value), "reason": reason})

    @both
    async def retract(self, observation: int | Observation, reason: str) -> Corrected:
        """Take a value back, with a reason; it is kept but does not count."""
        return await self._amend(observation, "retraction", {"reason": reason})

    async def _amend(self, observation: int | Observation, what: str, body: Mapping[str, Any]) -> Corrected:
        number, seen = (observation, "*") if isinstance(observation, int) else _version(observation)
        path = f"{self._path}/observations/{number}/{what}"
        answer = await self._wire.call("POST", path, json=body, headers={"If-Match": seen})
        return shaped(Corrected, answer.json())


def _version(observation: Observation) -> tuple[int, str]:
    return observation.observation, f'"{observation.version}"'
