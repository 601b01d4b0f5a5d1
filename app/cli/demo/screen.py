"""What the demo shows: the best so far, a curve, and the current batch with its results."""

import math
from dataclasses import dataclass, field
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from nextbatch import Batch, Progress, Suggestion
from nextbatch.display import plural, sparkline

_MAX_ROWS = 12


@dataclass
class Screen:
    """The state of the demo, drawn by `rich`."""

    title: str
    budget: int
    values: dict[str, list[float]] = field(default_factory=dict)  # of the current batch, by suggestion
    best_so_far: list[float] = field(default_factory=list)
    best_key: str = ""
    batch: Batch[Any] | None = None
    caption: str = "Choosing the first batch …"

    def start(self, batch: Batch[Any]) -> None:
        self.batch, self.values = batch, {}
        why = batch.details.size_words or f"{plural(batch.size, 'measurement')}."
        self.caption = f"Batch {batch.number}: {why}"

    def add(self, suggestion: str, key: str, values: list[float]) -> None:
        self.values[suggestion] = values
        for value in values:
            best = self.best_so_far[-1] if self.best_so_far else -math.inf
            if value > best:
                best, self.best_key = value, key
            self.best_so_far.append(best)

    def __rich__(self) -> RenderableType:
        parts: list[RenderableType] = [
            self._headline(),
            Text(sparkline(self.best_so_far, 60), "cyan"),
            Text(self.caption, "dim"),
        ]
        if self.batch is not None:
            parts.append(self._batch_table(self.batch))
        return Panel(Group(*parts), title=self.title, border_style="dim", padding=(1, 2))

    def _headline(self) -> Text:
        if not self.best_so_far:
            return Text("No results yet.")
        best = self.best_so_far[-1]
        progress = Progress(len(self.best_so_far), self.budget, best, self.best_key)
        return Text.assemble(("best so far  ", "dim"), (f"{best:.1f} %  ", "bold cyan"), str(progress))

    def _batch_table(self, batch: Batch[Any]) -> Table:
        names = list(batch.suggestions[0].features)
        table = Table("candidate", *names, "yield / %", box=None, header_style="bold", pad_edge=False)
        for suggestion in self._visible(batch):
            results = ", ".join(f"{value:.1f}" for value in self.values.get(suggestion.id, ())) or "…"
            table.add_row(suggestion.key, *(_cell(suggestion[name]) for name in names), results)
        return table

    def _visible(self, batch: Batch[Any]) -> list[Suggestion[Any]]:
        """The suggestions that fit: those with results first, scrolled so that some pending ones are seen."""
        done = [suggestion for suggestion in batch if suggestion.id in self.values]
        pending = [suggestion for suggestion in batch if suggestion.id not in self.values]
        first = max(0, len(done) - _MAX_ROWS + 3)
        return [*done, *pending][first : first + _MAX_ROWS]


def _cell(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
