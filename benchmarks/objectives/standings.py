"""Ours beside every other policy, table by table, on the seeds that both have run."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from app.arrays import FloatArray
from benchmarks.objectives.simulation import OURS, Run

HEADER = (
    "| table | beside | seeds | ours less theirs after 60 | ± | on the way | ± | better | worse | wasted | processor |"
)
EQUAL = 1e-9
"""Regrets that differ by less are equal."""


def standings(runs: Sequence[Run]) -> list[str]:
    """A line for each table and policy beside ours; then on how many tables ours is at or below the best peer.

    `processor` says how much more of it the other policy took for an ask.
    """
    regrets: dict[str, dict[str, dict[int, Run]]] = defaultdict(lambda: defaultdict(dict))
    for run in runs:
        regrets[run.table][run.policy][run.seed] = run
    rows, led = [], list[bool]()
    for table, by_policy in regrets.items():
        pairs = {policy: _pairs(by_policy, policy) for policy in by_policy if policy != "ours"}
        rows += [_line(table, policy, both) for policy, both in pairs.items() if both]
        peers = [both for policy, both in pairs.items() if both and policy not in OURS]
        if peers:
            led.append(
                all(float(np.mean([_last(one) - _last(other) for one, other in both])) <= EQUAL for both in peers)
            )
    said = f"At or below every peer on the same seeds: {sum(led)} of {len(led)} tables."
    return [HEADER, "|---" * HEADER.count(" |") + "|", *rows, "", said]


def _pairs(by_policy: dict[str, dict[int, Run]], policy: str) -> list[tuple[Run, Run]]:
    """Our run and theirs, for each seed that both have."""
    ours, theirs = by_policy["ours"], by_policy[policy]
    return [(ours[seed], theirs[seed]) for seed in sorted(ours.keys() & theirs.keys())]


def _line(table: str, policy: str, pairs: list[tuple[Run, Run]]) -> str:
    last = np.array([_last(ours) - _last(theirs) for ours, theirs in pairs])
    way = np.array([np.mean(ours.regrets) - np.mean(theirs.regrets) for ours, theirs in pairs])
    wasted = np.mean([ours.wasted - theirs.wasted for ours, theirs in pairs])
    spent = [float(np.mean([run.processor for run in side])) for side in zip(*pairs, strict=True)]
    times = f"× {spent[1] / spent[0]:.0f}" if spent[1] > spent[0] > 0 else "less"
    better, worse = int((last < -EQUAL).sum()), int((last > EQUAL).sum())
    cells = [
        f"{last.mean():+.4f}",
        standard_error(last),
        f"{way.mean():+.4f}",
        standard_error(way),
        str(better),
        str(worse),
    ]
    return f"| {table} | {policy} | {len(pairs)} | {' | '.join(cells)} | {wasted:+.1f} | {times} |"


def _last(run: Run) -> float:
    return run.regrets[-1]


def standard_error(values: FloatArray) -> str:
    """That of the mean; one seed has none."""
    return f"{values.std(ddof=1) / np.sqrt(len(values)):.4f}" if len(values) > 1 else "–"
