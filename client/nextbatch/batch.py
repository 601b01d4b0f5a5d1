"""A batch and its suggestions: what to measure next, and the way to say what came out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypedDict, Unpack

from ._bodies import report_of
from ._both import Handle, W, both
from ._reading import shaped
from .answers import BatchBrief, Reported, Value, Why
from .display import batch_html, batch_text

Measured: TypeAlias = float | Iterable[float]


class Remarks(TypedDict, total=False):
    """What may be said of a measurement besides its value."""

    replicate: int
    measured_at: datetime | str
    measured_by: str
    note: str
    ref: str


class Suggestion(Handle[W]):
    """One candidate of a batch, to be measured `replicates` times."""

    def __init__(self, wire: W, path: str, document: Mapping[str, Any]) -> None:
        super().__init__(wire)
        self._path = path
        self.id: str = document["suggestion"]
        self.key: str = document["key"]
        self.replicates: int = document["replicates"]
        self.state: str = document["state"]
        self.features: Mapping[str, Value] = document["features"]
        self.attributes: Mapping[str, Value] = document["attributes"]
        self.why = shaped(Why, document["why"])

    def __getitem__(self, column: str) -> Any:
        """The value of a feature or an attribute."""
        return self.features[column] if column in self.features else self.attributes[column]

    def __repr__(self) -> str:
        return f"<suggestion {self.id}: {self.key}, {self.state}>"

    @both
    async def report(self, value: Measured, **remarks: Unpack[Remarks]) -> Reported:
        """Say what was measured: a number, or a list of them when replicates are wanted.

        >>> suggestion.report(0.83, note="slightly yellow").recorded
        1
        """
        return await self._tell({**_measured(value), **remarks})

    @both
    async def failed(self, reason: str, *, retry: bool = True) -> Reported:
        """Say that there is no value; with `retry=False` the candidate is not suggested again."""
        return await self._tell({"failed": {"reason": reason, "retry": retry}})

    @both
    async def abandon(self, reason: str) -> Reported:
        """Say that it will not be measured; a late result is still welcome."""
        return await self._tell({"abandoned": {"reason": reason}})

    async def _tell(self, what: Mapping[str, Any]) -> Reported:
        body = report_of({"suggestion": self.id, **what})
        answer = await self._wire.call("POST", f"{self._path}/observations", json=body)
        return shaped(Reported, answer.json())


class Batch(Handle[W], Generic[W]):
    """What one ask was answered. Iterate over it, or take a suggestion by its candidate's key."""

    def __init__(self, wire: W, path: str, document: Mapping[str, Any]) -> None:
        super().__init__(wire)
        self._path = path
        self._take(document)

    def _take(self, document: Mapping[str, Any]) -> None:
        self.details = shaped(BatchBrief, document)
        self.number = self.details.number
        self.worker = self.details.worker
        self.state = self.details.state
        self.size = self.details.size
        self.suggestions = tuple(Suggestion(self._wire, self._path, one) for one in document["suggestions"])

    @property
    def pending(self) -> tuple[Suggestion[W], ...]:
        """What is still to be measured, as far as this copy knows; `refresh` asks again."""
        return tuple(one for one in self.suggestions if one.state == "pending")

    def __iter__(self) -> Iterator[Suggestion[W]]:
        return iter(self.suggestions)

    def __len__(self) -> int:
        return len(self.suggestions)

    def __getitem__(self, key: str) -> Suggestion[W]:
        for one in self.suggestions:
            if key in (one.key, one.id):
                return one
        raise KeyError(f"batch {self.number} does not suggest {key!r}")

    def __repr__(self) -> str:
        return f"<batch {self.number} for {self.worker}: {len(self)} candidates, {self.state}>"

    def __str__(self) -> str:
        return batch_text(self)

    def _repr_html_(self) -> str:
        return batch_html(self)

    @both
    async def report(self, values: Mapping[str, Measured]) -> Reported:
        """Report several at once, by key: a number, or a list of them for replicates. All or nothing.

        >>> batch = study.ask(worker="bench-3", max_size=2)
        >>> batch.report({one.key: [0.7] * one.replicates for one in batch}).stored
        True
        """
        lines = [{"suggestion": self[key].id, **_measured(value)} for key, value in values.items()]
        answer = await self._wire.call("POST", f"{self._path}/observations", json={"observations": lines})
        return shaped(Reported, answer.json())

    @both
    async def sheet(
        self, path: str | Path | None = None, *, decimal: Literal["point", "comma"] = "point", bom: bool = False
    ) -> str:
        """The CSV sheet to print and fill in; also written to `path`. Spreadsheet programs like `bom=True`."""
        params = {"decimal": decimal, "bom": str(bom).lower()}
        answer = await self._wire.call("GET", f"{self._path}/batches/{self.number}/sheet", params=params)
        if path is not None:
            Path(path).write_bytes(answer.content)
        return answer.content.decode()

    @both
    async def close(self, reason: str | None = None) -> None:
        """Give up what is still pending."""
        params = {"reason": reason}
        answer = await self._wire.call("POST", f"{self._path}/batches/{self.number}/close", params=params)
        self._take(answer.json())

    @both
    async def refresh(self) -> None:
        """Read it again."""
        answer = await self._wire.call("GET", f"{self._path}/batches/{self.number}")
        self._take(answer.json())


def _measured(value: Measured) -> dict[str, Any]:
    if isinstance(value, Iterable):
        return {"values": [float(one) for one in value]}
    return {"value": float(value)}
