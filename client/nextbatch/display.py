"""Text for terminals; a small table and a curve for notebooks."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from .answers import Certificate, Summary, Trace

if TYPE_CHECKING:
    from .batch import Batch

_BARS = "▁▂▃▄▅▆▇█"
_WIDTH, _HEIGHT = 280, 48


@dataclass(frozen=True)
class Structure:
    """The structure of a molecule: a picture in a notebook."""

    key: str
    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return f"structure of {self.key}"


@dataclass(frozen=True)
class Overview:
    """A study at a glance, and the course it took."""

    summary: Summary
    trace: Trace

    @property
    def best_so_far(self) -> list[float]:
        return [point.best for point in self.trace.progress if point.best is not None]

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
    """A curve as inline SVG; empty if there are fewer than two points."""
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
    widths = [max(len(cell) for cell in column) for column in zip(header, *rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (header, *rows)
    )
    why_this_size = [batch.details.size_words] if batch.details.size_words else []
    return "\n".join([repr(batch), *lines, *why_this_size])


Pictures = Mapping[tuple[str, str], Structure]
"""The structures of molecules by candidate and column."""


def batch_html(batch: Batch[Any], pictures: Pictures) -> str:
    """A batch as a table, with pictures in place of the molecules that have one."""
    header, *rows = _cells(batch)
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{_html_cells(header, row, pictures)}</tr>" for row in rows)
    return f"<table><caption>{escape(repr(batch)[1:-1])}</caption><tr>{head}</tr>{body}</table>"


def _html_cells(header: Sequence[str], row: Sequence[str], pictures: Pictures) -> str:
    key = row[1]
    shown = (
        _picture(pictures[key, name], cell) if (key, name) in pictures else escape(cell)
        for name, cell in zip(header, row, strict=True)
    )
    return "".join(f"<td>{cell}</td>" for cell in shown)


def _picture(structure: Structure, smiles: str) -> str:
    """As an image, because a notebook must not run what a picture may hold."""
    source = b64encode(structure.svg.encode()).decode()
    words = escape(smiles)
    return f'<img src="data:image/svg+xml;base64,{source}" alt="{words}" title="{words}"/>'


def _cells(batch: Batch[Any]) -> Iterable[list[str]]:
    """The header, then a row per suggestion."""
    names = list(batch.suggestions[0].features) if batch.suggestions else []
    expenses = [name for name in ("cost", "duration") if any(getattr(s, name) is not None for s in batch)]
    yield ["suggestion", "candidate", "×", *names, *expenses, "state"]
    for suggestion in batch:
        features = [_cell(suggestion.features[name]) for name in names]
        features += [_cell(getattr(suggestion, name)) for name in expenses]
        yield [suggestion.id, suggestion.key, str(suggestion.replicates), *features, suggestion.state]


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _facts(summary: Summary) -> list[tuple[str, str]]:
    counts, certificate = summary.counts, summary.certificate
    results = f"{plural(counts.observations, 'result')} in {plural(counts.batches, 'batch', 'batches')}"
    facts = [
        ("candidates", f"{counts.candidates}, {counts.measured} of them measured"),
        ("measured", f"{results}, {counts.pending or 'none'} pending"),
    ]
    if summary.spending is not None:
        facts.append(("spent", str(summary.spending)))
    if certificate is not None:
        bounds = f"{certificate.lower:.4g} to {certificate.upper:.4g}"
        facts.append(("recommended", f"{certificate.key}: {certificate.mean:.4g} ({bounds})"))
        left = _left_to_gain(summary, certificate)
        if left:
            facts.append(("left to gain", left))
    if summary.outlook is not None:
        facts.append(("advice", f"{summary.outlook.advice.do}: {summary.outlook.advice.why}"))
    if summary.finished:
        facts.append(("finished", f"its stopping rule is met: {summary.finished}"))
    return facts


def _left_to_gain(summary: Summary, certificate: Certificate) -> str:
    if summary.outlook is None:
        return f"at most {certificate.regret_bound:.3g} {summary.unit}".rstrip()
    gain = summary.outlook.remaining_gain
    if gain is None:
        return ""
    most = f"{gain.upper:.3g} {'percentage points' if summary.unit == '%' else summary.unit}".rstrip()
    return f"{gain.expected:.3g} expected, at most {most} (95 %)"


def plural(count: int, singular: str, several: str | None = None) -> str:
    """A count with its noun: "1 batch", "2 batches"."""
    return f"{count} {singular if count == 1 else several or f'{singular}s'}"


def _share(value: float, low: float, high: float) -> float:
    """Where a value lies between `low` and `high`, from 0 to 1."""
    width = high - low
    return (value - low) / width if 0 < width < float("inf") else 0.5
