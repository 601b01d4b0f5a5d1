"""Means over seeds for every table, over tables for every policy, and paired differences, with standard errors."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

import numpy as np

from app.arrays import FloatArray
from benchmarks.labs.records import Record
from benchmarks.pages import markdown

FIGURES = ("simple", "hit", "cumulative", "recommended", "average", "rounds", "seconds", "processor")
PAIRED = ("simple", "hit", "cumulative", "recommended")
STANDING = ("simple", "cumulative", "recommended")
LEVELS = (0.05, 0.02, 0.01, 0.0)
"""Regrets that a study may have reached."""

CERTAIN = 1.96
"""Standard errors on either side of a 95 % interval."""

Pair = tuple[Record, Record]


def per_policy(records: Iterable[Record]) -> str:
    """A Markdown table: a row for each policy and protocol, means over the tables that all policies have."""
    header, rows = ("policy", "protocol", "tables", "studies", *FIGURES), []
    for (protocol,), group in _grouped(records, "protocol"):
        for (policy,), part in _grouped(shared(group), "policy"):
            tables = [_means(studies) for _, studies in _grouped(part, "table")]
            means = (_known(value) for value in np.mean(tables, axis=0))
            rows.append((policy, protocol, len(tables), len(part), *means))
    return markdown(header, rows)


def per_table(records: Iterable[Record], figure: str = "simple") -> str:
    """A Markdown table: a row for each data set, a column for each policy, mean ± standard error (studies)."""
    records = list(records)
    policies = list(dict.fromkeys(record.policy for record in records))
    header, rows = ("table", *policies), []
    for (table,), group in _grouped(records, "table"):
        values = {policy: [getattr(record, figure) for record in part] for (policy,), part in _grouped(group, "policy")}
        rows.append((table, *(_mean_and_error(values.get(policy, [])) for policy in policies)))
    return markdown(header, rows)


def against(records: Iterable[Record], ours: str) -> str:
    """A Markdown table: ours minus each other policy on the same tables and seeds, with 95 % intervals."""
    header, rows = ("protocol", "ours minus", "studies", *PAIRED), []
    for (protocol,), group in _grouped(records, "protocol"):
        for policy, pairs in _pairs(group, ours).items():
            rows.append((protocol, policy, len(pairs), *(_difference(pairs, figure) for figure in PAIRED)))
    return markdown(header, rows)


def standings(records: Iterable[Record], ours: str, peers: Collection[str]) -> str:
    """A Markdown table: on how many tables ours is above no peer in the mean over the seeds that both have."""
    header, rows = ("protocol", "tables", *STANDING), []
    for (protocol,), group in _grouped(records, "protocol"):
        known = [record for record in group if record.policy in {ours, *peers}]
        tables = [pairs for _, part in _grouped(known, "table") if (pairs := _pairs(part, ours))]
        if tables:
            counts = (sum(_above_nobody(pairs, figure) for pairs in tables) for figure in STANDING)
            rows.append((protocol, len(tables), *counts))
    return markdown(header, rows)


def experiments(records: Iterable[Record], policy: str, protocols: tuple[str, str], limit: int) -> str:
    """A Markdown table: how many measurements a policy needs until each of LEVELS in either protocol, on equal tables
    and seeds, and the second minus the first; studies that do not get there within `limit` count as `limit`."""
    header = ("batches", "studies", *(f"≤ {level}" for level in LEVELS[:-1]), "best found")
    own = [record for record in records if record.policy == policy]
    first, second = (
        {(one.table, one.seed): _needed(one, limit) for one in own if one.protocol == protocol}
        for protocol in protocols
    )
    both = sorted(first.keys() & second.keys())
    if not both:
        return markdown(header, [])
    before, after = (np.array([part[study] for study in both], dtype=float) for part in (first, second))
    rows = [
        (protocol, len(both), *(f"{mean:.1f}" for mean in needed.mean(axis=0)))
        for protocol, needed in zip(protocols, (before, after), strict=True)
    ]
    error = CERTAIN * (after - before).std(axis=0) / np.sqrt(len(both))
    differences = zip((after - before).mean(axis=0), error, strict=True)
    rows.append(("second minus first", len(both), *(f"{mean:+.1f} ± {width:.1f}" for mean, width in differences)))
    return markdown(header, rows)


def _needed(record: Record, limit: int) -> list[int]:
    """Measurements until each of LEVELS is reached; `limit` if it is not reached within so many."""
    best = np.minimum.accumulate(record.regrets[:limit])
    return [int(np.argmax(best <= level)) + 1 if best[-1] <= level else limit for level in LEVELS]


def speed(records: Iterable[Record], ours: str, peers: Sequence[str]) -> str:
    """A Markdown table: processor seconds of an ask of ours, and how many times as many each peer needs."""
    records = list(records)
    known = [peer for peer in peers if any(record.policy == peer for record in records)]
    header, rows = ("table", f"{ours}, s", *known), []
    for (table,), group in _grouped(records, "table"):
        means = {policy: np.mean([one.processor for one in part]) for (policy,), part in _grouped(group, "policy")}
        if ours in means:
            times = (f"{means[peer] / means[ours]:.1f} ×" if peer in means else "–" for peer in known)
            rows.append((table, f"{means[ours]:.3f}", *times))
    return markdown(header, rows)


def shared(records: Iterable[Record]) -> list[Record]:
    """The studies of those tables that every policy has studied."""
    records = list(records)
    tables = [{one.table for one in part} for _, part in _grouped(records, "policy")]
    return [record for record in records if all(record.table in those for those in tables)]


def _pairs(records: Iterable[Record], ours: str) -> dict[str, list[Pair]]:
    """Ours and the other's study of the same table with the same seed, for every other policy that has any."""
    records = list(records)
    mine = {(record.table, record.seed): record for record in records if record.policy == ours}
    others = [record for record in records if record.policy != ours and (record.table, record.seed) in mine]
    return {
        policy: [(mine[one.table, one.seed], one) for one in part] for (policy,), part in _grouped(others, "policy")
    }


def _above_nobody(pairs: dict[str, list[Pair]], figure: str) -> bool:
    return all(_differences(those, figure).mean() <= 0 for those in pairs.values())


def _differences(pairs: Sequence[Pair], figure: str) -> FloatArray:
    return np.array([float(getattr(mine, figure)) - getattr(other, figure) for mine, other in pairs])


def _difference(pairs: Sequence[Pair], figure: str) -> str:
    values = _differences(pairs, figure)
    return f"{values.mean():+.4f} ± {CERTAIN * values.std() / np.sqrt(len(values)):.4f}"


def _grouped(records: Iterable[Record], *names: str) -> list[tuple[tuple[str, ...], list[Record]]]:
    groups: dict[tuple[str, ...], list[Record]] = defaultdict(list)
    for record in records:
        groups[tuple(str(getattr(record, name)) for name in names)].append(record)
    return sorted(groups.items())


def _means(records: Sequence[Record]) -> list[float]:
    return [float(np.mean([getattr(record, figure) for record in records])) for figure in FIGURES]


def _known(value: float) -> str:
    """A mean; older records lack some figures."""
    return f"{value:.4f}" if np.isfinite(value) else "–"


def _mean_and_error(values: Sequence[float]) -> str:
    if not values or not np.isfinite(values).all():
        return "–"
    return f"{np.mean(values):.4f} ± {np.std(values) / np.sqrt(len(values)):.4f} ({len(values)})"
