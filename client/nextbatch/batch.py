"""A batch and its suggestions: what to measure next, and how to report the results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Generic, Literal, TypeAlias, TypedDict, Unpack
from urllib.parse import quote

from ._connection import SyncConnection, run_sync
from ._json import parse
from ._request_bodies import report_of
from ._sync_and_async import ConnectionT, Handle, sync_and_async
from .answers import BatchDetails, Reported
from .display import Pictures, Structure, batch_html, batch_text
from .errors import NextbatchError
from .previews import Value, Why

Quantities: TypeAlias = Mapping[str, "float | Mapping[str, float]"]
"""Values by quantity: `{"yield": 83.1, "purity": {"value": 97.2, "std": 0.3}}`."""

Measured: TypeAlias = float | Quantities | Iterable["float | Quantities"]
MOST_DRAWN = 20  # suggestions of a batch whose molecules are drawn in a notebook
PICTURE_SIZE = {"width": 160, "height": 120}

Implausible: TypeAlias = Literal["accept", "refuse"]
OutsideLimits: TypeAlias = Literal["accept", "refuse"]


class Remarks(TypedDict, total=False):
    """What can be reported with a value."""

    replicate: int
    measured_at: datetime | str
    measured_by: str
    note: str
    ref: str


class Suggestion(Handle[ConnectionT]):
    """One candidate of a batch, to be measured `replicates` times."""

    def __init__(self, connection: ConnectionT, path: str, document: Mapping[str, Any]) -> None:
        super().__init__(connection)
        self._path = path
        self.id: str = document["suggestion"]
        self.key: str = document["key"]
        self.replicates: int = document["replicates"]
        self.state: str = document["state"]
        self.features: Mapping[str, Value] = document["features"]
        self.attributes: Mapping[str, Value] = document["attributes"]
        self.cost: float | None = document.get("cost")  # of one measurement
        self.duration: float | None = document.get("duration")
        self.why = parse(Why, document["why"])

    def __getitem__(self, column: str) -> Any:
        """The value of a feature or an attribute."""
        return self.features[column] if column in self.features else self.attributes[column]

    def __repr__(self) -> str:
        return f"<suggestion {self.id}: {self.key}, {self.state}>"

    @sync_and_async
    async def report(
        self,
        value: Measured,
        *,
        implausible: Implausible = "accept",
        outside_limits: OutsideLimits = "refuse",
        **remarks: Unpack[Remarks],
    ) -> Reported:
        """Report what was measured: a number, or a list if there are several replicates.

        With several quantities, name the values: `report({"yield": 83.1, "purity": 97})`. Those that are missing can be
        reported later in the same way.

        With `implausible="refuse"`, a value far from all earlier ones raises InvalidInput and is not stored. So does a
        value outside the limits of its quantity, until you confirm it with `outside_limits="accept"`.

        >>> suggestion.report(0.83, note="slightly yellow").recorded
        1
        """
        return await self._send_report({**_measured(value), **remarks}, implausible, outside_limits)

    @sync_and_async
    async def failed(self, reason: str, *, retry: bool = True) -> Reported:
        """Report that the measurement failed; with `retry=False` the candidate is not suggested again."""
        return await self._send_report({"failed": {"reason": reason, "retry": retry}})

    @sync_and_async
    async def abandon(self, reason: str) -> Reported:
        """Report that it will not be measured; a result can still be reported later."""
        return await self._send_report({"abandoned": {"reason": reason}})

    @sync_and_async
    async def swap(self, reason: str, *, switch_off: bool | None = None) -> Batch[ConnectionT]:
        """Replace it by the next best candidate; with `switch_off` its own candidate is switched off as well.

        If `switch_off` is None, "not in stock" and "out of stock" switch it off, and other reasons do not.

        >>> suggestion.swap("not in stock").number
        1
        """
        body = {"reason": reason} | ({} if switch_off is None else {"switch_off": switch_off})
        answer = await self._connection.call("POST", f"{self._path}/suggestions/{self.id}/swap", json=body)
        return Batch(self._connection, self._path, answer.json())

    async def _send_report(
        self,
        report: Mapping[str, Any],
        implausible: Implausible = "accept",
        outside_limits: OutsideLimits = "refuse",
    ) -> Reported:
        body = report_of({"suggestion": self.id, **report})
        params = {"implausible": implausible, "outside_limits": outside_limits}
        answer = await self._connection.call("POST", f"{self._path}/observations", params=params, json=body)
        return parse(Reported, answer.json())


class Batch(Handle[ConnectionT], Generic[ConnectionT]):
    """The suggestions of one ask: iterate over it, or get one by its position (`batch[0]`) or its candidate's key."""

    def __init__(self, connection: ConnectionT, path: str, document: Mapping[str, Any]) -> None:
        super().__init__(connection)
        self._path = path
        self._load(document)

    def _load(self, document: Mapping[str, Any]) -> None:
        self.details = parse(BatchDetails, document)
        self.number = self.details.number
        self.worker = self.details.worker
        self.state = self.details.state
        self.size = self.details.size
        self.suggestions = tuple(Suggestion(self._connection, self._path, entry) for entry in document["suggestions"])

    @property
    def pending(self) -> tuple[Suggestion[ConnectionT], ...]:
        """The suggestions still to be measured when the batch was last read; `refresh` reads it again."""
        return tuple(suggestion for suggestion in self.suggestions if suggestion.state == "pending")

    def __iter__(self) -> Iterator[Suggestion[ConnectionT]]:
        return iter(self.suggestions)

    def __len__(self) -> int:
        return len(self.suggestions)

    def __getitem__(self, key: str | int) -> Suggestion[ConnectionT]:
        if isinstance(key, int):
            return self.suggestions[key]
        for suggestion in self.suggestions:
            if key in (suggestion.key, suggestion.id):
                return suggestion
        raise KeyError(f"batch {self.number} does not suggest {key!r}")

    def __repr__(self) -> str:
        return f"<batch {self.number} for {self.worker}: {len(self)} candidates, {self.state}>"

    def __str__(self) -> str:
        return batch_text(self)

    def _repr_html_(self) -> str:
        """A table; the structures of molecules are read from the server when a notebook shows it."""
        if not isinstance(self._connection, SyncConnection):
            return batch_html(self, {})
        return batch_html(self, run_sync(self._pictures()))

    async def _pictures(self) -> Pictures:
        """The structures of the first suggestions; none if the server cannot draw."""
        pictures = {}
        try:
            study = (await self._connection.call("GET", self._path)).json()
            molecules = [column["name"] for column in study["columns"] if column.get("fingerprint")]
            for suggestion in self.suggestions[:MOST_DRAWN] if molecules else ():
                for column in molecules:
                    path = f"{self._path}/structures/{quote(suggestion.key, safe='')}"
                    answer = await self._connection.call("GET", path, params={"column": column, **PICTURE_SIZE})
                    pictures[suggestion.key, column] = Structure(suggestion.key, answer.text)
        except NextbatchError:
            pass
        return pictures

    @sync_and_async
    async def report(
        self,
        values: Mapping[Any, Measured],
        *,
        implausible: Implausible = "accept",
        outside_limits: OutsideLimits = "refuse",
    ) -> Reported:
        """Report several at once, by key: what `Suggestion.report` takes. All or nothing.

        With `implausible="refuse"`, a value far from all earlier ones raises InvalidInput and nothing is stored. A
        value outside the limits of its quantity does so until you confirm it with `outside_limits="accept"`.

        >>> batch = study.ask(worker="bench-3", max_size=2)
        >>> batch.report({suggestion.key: [0.7] * suggestion.replicates for suggestion in batch}).stored
        True
        """
        reports = [{"suggestion": self[str(key)].id, **_measured(value)} for key, value in values.items()]
        body = {"observations": reports}
        params = {"implausible": implausible, "outside_limits": outside_limits}
        answer = await self._connection.call("POST", f"{self._path}/observations", params=params, json=body)
        return parse(Reported, answer.json())

    @sync_and_async
    async def sheet(
        self,
        path: str | Path | None = None,
        *,
        decimal: Literal["point", "comma"] = "point",
        bom: bool = False,
        plate: str | None = None,
        order_by: str | None = None,
    ) -> str:
        """The CSV sheet to print and fill in; also written to `path`, as an Excel file if `path` ends in .xlsx.

        Some spreadsheet programs need `bom=True` to read CSV. With `plate="8x12"` (rows and columns), every measurement
        has a well; `order_by` names a column whose equal values come one after the other, to save changeovers.

        >>> study.ask().sheet(plate="2x3", order_by="temperature").splitlines()[1][:2]
        'A1'
        """
        address = f"{self._path}/batches/{self.number}/sheet"
        layout = {"plate": plate, "order_by": order_by}
        params = {"decimal": decimal, "bom": str(bom).lower(), **layout}
        answer = await self._connection.call("GET", address, params=params)
        if path is not None and Path(path).suffix.lower() == ".xlsx":
            workbook = await self._connection.call("GET", address, params={"format": "xlsx", **layout})
            Path(path).write_bytes(workbook.content)
        elif path is not None:
            Path(path).write_bytes(answer.content)
        return answer.content.decode()

    @sync_and_async
    async def close(self, reason: str | None = None) -> None:
        """Abandon what is still pending."""
        params = {"reason": reason}
        answer = await self._connection.call("POST", f"{self._path}/batches/{self.number}/close", params=params)
        self._load(answer.json())

    @sync_and_async
    async def refresh(self) -> None:
        """Read the batch again."""
        answer = await self._connection.call("GET", f"{self._path}/batches/{self.number}")
        self._load(answer.json())


def _measured(value: Measured) -> dict[str, Any]:
    if isinstance(value, Mapping):
        return {"values": _by_quantity(value)}
    if isinstance(value, Iterable):
        replicates = [_by_quantity(outcome) if isinstance(outcome, Mapping) else float(outcome) for outcome in value]
        return {"replicates": replicates}
    return {"value": float(value)}


def _by_quantity(values: Quantities) -> dict[str, Any]:
    return {name: dict(value) if isinstance(value, Mapping) else float(value) for name, value in values.items()}
