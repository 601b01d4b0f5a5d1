"""The observations of a study: report, read, correct and retract them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from .._frames import Frame, frame_of, observation_row
from .._json import parse
from .._request_bodies import Table, reports_body
from .._sync_and_async import ConnectionT, sync_and_async, sync_or_async
from ..answers import Corrected, Observation, Reported
from ..batch import Implausible, OutsideLimits
from .base import StudyBase
from .framed import AwaitObservations, ReadObservations


class Observations(StudyBase[ConnectionT]):
    @sync_and_async
    async def report(
        self,
        data: Table,
        *,
        dry_run: bool = False,
        map: Mapping[str, str] | None = None,  # noqa: A002
        duplicates: Literal["skip", "new"] = "skip",
        implausible: Implausible = "accept",
        outside_limits: OutsideLimits = "refuse",
        corrections: Literal["refuse", "accept"] = "refuse",
        reason: str | None = None,
    ) -> Reported:
        """Report results, all or nothing: a sheet (frame, or path to CSV or .xlsx), a list of dicts, or one dict.

        Each row has `suggestion` or `key`, and one of `value`, `values`, `replicates`, `failed` and `abandoned`;
        `values` names several quantities, as in `{"yield": 83.1, "purity": 97}`. Results that nobody asked
        for and historical results are welcome. An equal value of the same key counts once unless you say
        `duplicates="new"`.
        `map={"Ausbeute": "value"}` names the columns of a sheet of your own.

        A value far from all earlier ones is stored with a warning. With `implausible="refuse"` it raises InvalidInput
        instead and nothing is stored; report it again without that to confirm it. A value outside the limits of its
        quantity raises InvalidInput, unless you say `outside_limits="accept"`.

        Another value of a result that is stored raises Conflict. With `corrections="accept"` and a `reason` it corrects
        that result; `replaced` of the answer, also of a dry run, has the old value.

        >>> study.report([{"key": "A1", "value": 0.41}, {"key": "A2", "value": 0.56}]).recorded
        2
        """
        renamed = [f"{theirs}={ours}" for theirs, ours in (map or {}).items()]
        params = {
            "dry_run": "true" if dry_run else None,
            "duplicates": duplicates,
            "implausible": implausible,
            "outside_limits": outside_limits if outside_limits == "accept" else None,
            "corrections": corrections if corrections == "accept" else None,
            "reason": reason,
            "map": renamed,
        }
        answer = await self._connection.call("POST", f"{self._path}/observations", params=params, **reports_body(data))
        return parse(Reported, answer.json())

    async def _read_observations(
        self, *, candidate: str | None = None, versions: Literal["current", "all"] = "current", as_frame: bool = False
    ) -> list[Observation] | Frame:
        """The measured values, each in its current version or in all versions; a frame has a column per quantity."""
        rows = await self._entries("observations", candidate=candidate, versions=versions)
        return frame_of(map(observation_row, rows)) if as_frame else [parse(Observation, row) for row in rows]

    observations = sync_or_async[ReadObservations, AwaitObservations](_read_observations)

    @sync_and_async
    async def correct(
        self,
        observation: int | Observation,
        value: float | Mapping[str, float],
        reason: str,
        *,
        outside_limits: OutsideLimits = "refuse",
    ) -> Corrected:
        """Correct a value, or some of several by name, with a reason; the old value is kept.

        Given an Observation, it raises Conflict if somebody changed that observation since it was read. A value outside
        the limits of its quantity raises InvalidInput, until you confirm it with `outside_limits="accept"`.
        """
        changed = {"values": dict(value)} if isinstance(value, Mapping) else {"value": float(value)}
        params = {"outside_limits": outside_limits}
        return await self._amend(observation, "corrections", {**changed, "reason": reason}, params)

    @sync_and_async
    async def retract(
        self, observation: int | Observation | Sequence[int | Observation], reason: str
    ) -> tuple[Corrected, ...]:
        """Retract a value, or a list of them one by one, with a reason; they are kept but no longer count."""
        chosen = observation if isinstance(observation, Sequence) else [observation]
        return tuple([await self._amend(result, "retraction", {"reason": reason}) for result in chosen])

    @sync_and_async
    async def retract_upload(self, upload: int | Reported, reason: str) -> tuple[int, ...]:
        """Retract everything that one report recorded, with a reason; the observations that count no more."""
        number = upload.upload if isinstance(upload, Reported) else upload
        body = {"upload": number, "reason": reason}
        answer = await self._connection.call("POST", f"{self._path}/observations/retractions", json=body)
        return tuple(answer.json()["retracted"])

    async def _amend(
        self,
        observation: int | Observation,
        action: str,
        body: Mapping[str, Any],
        params: Mapping[str, str] | None = None,
    ) -> Corrected:
        if isinstance(observation, int):
            number, version = observation, "*"
        else:
            number, version = observation.observation, f'"{observation.version}"'
        path = f"{self._path}/observations/{number}/{action}"
        headers = {"If-Match": version}
        answer = await self._connection.call("POST", path, json=body, params=params or {}, headers=headers)
        return parse(Corrected, answer.json())
