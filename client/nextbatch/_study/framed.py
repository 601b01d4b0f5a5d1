"""Calls that give a list, or a frame with `as_frame=True`: their types for both clients."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Literal, Protocol, TypedDict, Unpack, overload

from .._frames import Frame
from ..answers import Candidate, Observation


class CandidateQuery(TypedDict, total=False):
    posterior: bool
    available: bool | None
    search: str | None
    where: Sequence[str]
    sort: str | None
    limit: int | None


class ReadCandidates(Protocol):
    @overload
    def __call__(self, *, as_frame: Literal[True], **query: Unpack[CandidateQuery]) -> Frame: ...
    @overload
    def __call__(self, *, as_frame: Literal[False] = False, **query: Unpack[CandidateQuery]) -> list[Candidate]: ...


class AwaitCandidates(Protocol):
    @overload
    def __call__(self, *, as_frame: Literal[True], **query: Unpack[CandidateQuery]) -> Awaitable[Frame]: ...
    @overload
    def __call__(
        self, *, as_frame: Literal[False] = False, **query: Unpack[CandidateQuery]
    ) -> Awaitable[list[Candidate]]: ...


class ObservationQuery(TypedDict, total=False):
    candidate: str | None
    versions: Literal["current", "all"]


class ReadObservations(Protocol):
    @overload
    def __call__(self, *, as_frame: Literal[True], **query: Unpack[ObservationQuery]) -> Frame: ...
    @overload
    def __call__(self, *, as_frame: Literal[False] = False, **query: Unpack[ObservationQuery]) -> list[Observation]: ...


class AwaitObservations(Protocol):
    @overload
    def __call__(self, *, as_frame: Literal[True], **query: Unpack[ObservationQuery]) -> Awaitable[Frame]: ...
    @overload
    def __call__(
        self, *, as_frame: Literal[False] = False, **query: Unpack[ObservationQuery]
    ) -> Awaitable[list[Observation]]: ...
