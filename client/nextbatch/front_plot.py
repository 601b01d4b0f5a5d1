"""A front as a small picture and a table, for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .fronts import Front, FrontPoint

_WIDTH, _HEIGHT, _MARGIN = 360, 220, 34


def front_html(front: Front) -> str:
    """The words, a scatter of the first two objectives, and a table with the measured front."""
    names = list(front.reference) or sorted({name for point in front.measured for name in point.values})
    picture = _scatter(front, names[0], names[1]) if len(names) > 1 else ""
    return f"<div><p>{escape(front.words)}</p>{picture}{_table(front.measured)}</div>"


def _scatter(front: Front, across: str, up: str) -> str:
    """Measured points are filled, expected ones are rings; a tooltip names each."""
    kinds = (("expected", front.expected, "none"), ("measured", front.measured, "currentColor"))
    shown = [(kind, point, fill) for kind, points, fill in kinds for point in points if {across, up} <= {*point.values}]
    if not shown:
        return ""
    xs, ys = ([point.values[name] for _, point, _ in shown] for name in (across, up))
    dots = "".join(
        f'<circle cx="{_MARGIN + _WIDTH * _share(x, xs):.1f}" cy="{_MARGIN + _HEIGHT * (1 - _share(y, ys)):.1f}" r="4"'
        f' fill="{fill}" stroke="currentColor"><title>{_words(kind, point)}</title></circle>'
        for (kind, point, fill), x, y in zip(shown, xs, ys, strict=True)
    )
    width, height, low = _WIDTH + 2 * _MARGIN, _HEIGHT + 2 * _MARGIN, _HEIGHT + _MARGIN + 18
    axes = (
        f'<path d="M{_MARGIN - 8} {_MARGIN - 8}V{_HEIGHT + _MARGIN + 8}H{_WIDTH + _MARGIN + 8}" fill="none"'
        f' stroke="currentColor" opacity="0.4"/>'
        f'<text x="{_MARGIN}" y="{_MARGIN - 14}">{escape(up)}: {min(ys):.4g} to {max(ys):.4g}</text>'
        f'<text x="{_WIDTH + _MARGIN}" y="{low + 8}" text-anchor="end">'
        f"{escape(across)}: {min(xs):.4g} to {max(xs):.4g}</text>"
    )
    label = escape(f"the front in {across} and {up}: {len(front.measured)} measured, {len(front.expected)} expected")
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{label}"'
        f' font-size="12" fill="currentColor">{axes}{dots}</svg>'
    )


def _words(kind: str, point: FrontPoint) -> str:
    values = ", ".join(f"{name} {value:.4g}" for name, value in point.values.items())
    return escape(f"{point.key} ({kind}): {values}")


def _table(points: Sequence[FrontPoint]) -> str:
    if not points:
        return ""
    names = list(dict.fromkeys(name for point in points for name in point.values))
    head = _cells("th", ["measured", *names])
    rows = "".join(f"<tr>{_cells('td', _row(point, names))}</tr>" for point in points)
    return f"<table><tr>{head}</tr>{rows}</table>"


def _row(point: FrontPoint, names: Sequence[str]) -> list[str]:
    return [point.key, *(f"{point.values[name]:.4g}" if name in point.values else "" for name in names)]


def _cells(tag: str, texts: Iterable[str]) -> str:
    return "".join(f"<{tag}>{escape(text)}</{tag}>" for text in texts)


def _share(value: float, values: Sequence[float]) -> float:
    """Where a value lies in the range of all, from 0 to 1."""
    low, width = min(values), max(values) - min(values)
    return (value - low) / width if 0 < width < float("inf") else 0.5
