"""What the demo shows: the best so far, a curve, and the batch on the bench as it fills."""

from dataclasses import dataclass, field
from typing import Any

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from nextbatch import Batch, Progress
from nextbatch.display import sparkline

_MOST_ROWS = 12


@dataclass
class Screen:
    """The state of the demo; `rich` asks it how it looks."""

    title: str
    budget: int
    values: dict[str, list[float]] = field(default_factory=dict)  # of this batch, by suggestion
    best: list[float] = field(default_factory=list)
    best_key: str = ""
    batch: Batch[Any] | None = None
    words: str = "Choosing the first batch …"

    def begin(self, batch: Batch[Any]) -> None:
        self.batch, self.values = batch, {}
        self.words = f"Batch {batch.number}: {batch.size} measurements. It ended there because: {batch.details.ended}."

    def take(self, suggestion: str, key: str, values: list[float]) -> None:
        self.values[suggestion] = values
        for value in values:
            if not self.best or value > self.best[-1]:
                self.best_key = key
            self.best.append(max(value, self.best[-1] if self.best else value))

    def __rich__(self) -> RenderableType:
        parts: list[RenderableType] = [
            self._headline(),
            Text(sparkline(self.best, 60), "cyan"),
            Text(self.words, "dim"),
        ]
        if self.batch is not None:
            parts.append(self._bench(self.batch))
        return Panel(Group(*parts), title=self.title, border_style="dim", padding=(1, 2))

    def _headline(self) -> Text:
        if not self.best:
            return Text("Nothing is measured yet.")
        done = Progress(len(self.best), self.budget, self.best[-1], self.best_key)
        return Text.assemble(("best so far  ", "dim"), (f"{self.best[-1]:.1f} %  ", "bold cyan"), str(done))

    def _bench(self, batch: Batch[Any]) -> Table:
        names = list(batch.suggestions[0].features)
        table = Table("candidate", *names, "yield / %", box=None, header_style="bold", pad_edge=False)
        waiting = [one for one in batch if one.id not in self.values]
        done = [one for one in batch if one.id in self.values]
        for one in [*done, *waiting][max(0, len(done) - _MOST_ROWS + 3) :][:_MOST_ROWS]:
            shown = ", ".join(f"{value:.1f}" for value in self.values.get(one.id, ())) or "…"
            cells = (f"{one[name]:g}" if isinstance(one[name], float) else str(one[name]) for name in names)
            table.add_row(one.key, *cells, shown)
        return table
