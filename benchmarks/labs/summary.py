"""Means over seeds for every table, and over tables for every policy, with standard errors."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.labs.records import Record

FIGURES = ("simple", "hit", "cumulative", "recommended", "seconds")


def per_policy(records: Iterable[Record]) -> str:
    """A Markdown table: a row for each policy and protocol, means over the tables."""
    lines = [_row("policy", "protocol", "tables", "seeds", *FIGURES), _row(*["---"] * (4 + len(FIGURES)))]
    for (policy, protocol), group in _grouped(records, "policy", "protocol"):
        tables = [_means(part) for _, part in _grouped(group, "table")]
        seeds = len({record.seed for record in group})
        lines.append(_row(policy, protocol, len(tables), seeds, *(f"{value:.4f}" for value in np.mean(tables, axis=0))))
    return "\n".join(lines)


def per_table(records: Iterable[Record], figure: str = "simple") -> str:
    """A Markdown table: a row for each data set, a column for each policy, mean ± standard error of one figure."""
    records = list(records)
    policies = list(dict.fromkeys(record.policy for record in records))
    lines = [_row("table", *policies), _row(*["---"] * (1 + len(policies)))]
    for (table,), group in _grouped(records, "table"):
        values = {policy: [getattr(record, figure) for record in part] for (policy,), part in _grouped(group, "policy")}
        lines.append(_row(table, *(_mean_and_error(values.get(policy, [])) for policy in policies)))
    return "\n".join(lines)


def _grouped(records: Iterable[Record], *names: str) -> list[tuple[tuple[str, ...], list[Record]]]:
    groups: dict[tuple[str, ...], list[Record]] = defaultdict(list)
    for record in records:
        groups[tuple(str(getattr(record, name)) for name in names)].append(record)
    return sorted(groups.items())


def _means(records: Sequence[Record]) -> list[float]:
    return [float(np.mean([getattr(record, figure) for record in records])) for figure in FIGURES]


def _mean_and_error(values: Sequence[float]) -> str:
    if not values:
        return "–"
    return f"{np.mean(values):.4f} ± {np.std(values) / np.sqrt(len(values)):.4f}"


def _row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"
