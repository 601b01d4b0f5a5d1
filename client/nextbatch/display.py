"""How things look: text for terminals, a small table and a curve for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from .answers import Summary, Trace

if TYPE_CHECKING:
    from .batch import Batch

_BARS = "▁▂▃▄▅▆▇█"
_WIDTH, _HEIGHT = 280, 48


@dataclass(frozen=True)
class Overview:
    """A study at a glance and how it got there."""

    summary: Summary
    trace: Trace

    @property
    def best_so_far(self) -> list[float]:
        return [point.best for point in self.trace.progress]

    def __str__(self) -> str:
        lines = [f"{self.summary.name} ({self.summary.state})", self.summary.headline]
        if self.best_so_far:
            lines.append(f"best so far  {sparkline(self.best_so_far)}")
        return "\n".join([*lines, *(f"{name:<12} {value}" for name, value in _facts(self.summary))])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in _facts(self.summary)
        )
        title = f"<strong>{escape(self.summary.name)}</strong> ({escape(self.summary.state)})"
        return f"<div>{title}<p>{escape(self.summary.headline)}</p>{curve(self.best_so_far)}<table>{rows}</table></div>"


def sparkline(values: Sequence[float], width: int = 40) -> str:
    """A curve of block characters, thinned to `width`."""
    if not values:
        return ""
    low, high = min(values), max(values)
    step = max(1, -(-len(values) // width))
    shown = [*values[::step][: width - 1], values[-1]] if len(values) > 1 else values
    return "".join(_BARS[round(_share(value, low, high) * (len(_BARS) - 1))] for value in shown)


def curve(values: Sequence[float]) -> str:
    """A curve as inline SVG; nothing before there are two points."""
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    points = " ".join(
        f"{index * _WIDTH / (len(values) - 1):.1f},{_HEIGHT * (1 - _share(value, low, high)):.1f}"
        for index, value in enumerate(values)
    )
    return (
        f'<svg viewBox="-2 -2 {_WIDTH + 4} {_HEIGHT + 4}" width="{_WIDTH}" height="{_HEIGHT}" role="img" '
        f'aria-label="best so far, from {values[0]:.4g} to {values[-1]:.4g}">'
        f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="2"/></svg>'
    )


def batch_text(batch: Batch[Any]) -> str:
    """A batch as a table of plain text."""
    header, *rows = _cells(batch)
    widths = [max(len(row[place]) for row in (header, *rows)) for place in range(len(header))]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    )
    return "\n".join([repr(batch), *lines])


def batch_html(batch: Batch[Any]) -> str:
    header, *rows = _cells(batch)
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><caption>{escape(repr(batch)[1:-1])}</caption><tr>{head}</tr>{body}</table>"


def _cells(batch: Batch[Any]) -> Iterable[list[str]]:
    """The header and a row per suggestion."""
    names = list(batch.suggestions[0].features) if batch.suggestions else []
    yield ["suggestion", "candidate", "×", *names, "state"]
    for one in batch:
        features = [_cell(one.features[name]) for name in names]
        yield [one.id, one.key, str(one.replicates), *features, one.state]


def _cell(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else "" if value is None else str(value)


def _facts(summary: Summary) -> list[tuple[str, str]]:
    counts, sure = summary.counts, summary.certificate
    facts = [
        ("candidates", f"{counts.candidates}, {counts.measured} of them measured"),
        ("results", f"{counts.observations} in {counts.batches} batches, {counts.pending} waited for"),
    ]
    if sure is not None:
        facts.append(("recommended", f"{sure.key}: {sure.mean:.4g} ({sure.lower:.4g} to {sure.upper:.4g})"))
        facts.append(("at most", f"{sure.regret_bound:.3g} {summary.unit} to gain elsewhere".replace("  ", " ")))
    if summary.finished:
        facts.append(("finished", f"by its rule: {summary.finished}"))
    return facts


def _share(value: float, low: float, high: float) -> float:
    """Where a value lies between the least and the most, from 0 to 1."""
    spread = high - low
    return (value - low) / spread if 0 < spread < float("inf") else 0.5
