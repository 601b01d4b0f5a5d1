"""Constraints in auto mode: weigh by the chance of feasibility, or choose among what may be feasible?

    python -m benchmarks.objectives.constraints [--seeds 3] [--tables …]

The first objective of each table is sought; each of the others must be among the best half, or the best fifth, of its
values. Regret is the distance from the best feasible candidate, in units of best less median of the feasible ones.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from unittest.mock import patch

import numpy as np

from app.arrays import BoolArray, FloatArray
from app.domain.studies import Constraint, Direction
from app.engine.several.aims import Aims, weighed
from app.modelling.aiming import Aiming
from benchmarks.objectives.simulation import Study
from benchmarks.objectives.tables import Table, load
from benchmarks.one_thread import one_blas_thread

TABLES = (
    "direct_arylation_cost",
    "bicarbonate_electrolyzer",
    "suzuki_virtual_tasks:suzuki_i",
    "suzuki_virtual_tasks:suzuki_iii",
    "suzuki_virtual_tasks:suzuki_iv",
    "hpo_alexnet_imagenet",
    "storm_wordcount_6d_mo",
)
SHARES = (0.5, 0.2)
TRIES, SIZE = 60, 5
HEADER = "| table | feasible | mode | seeds | regret after 60 | on the way | infeasible |"


@dataclass(frozen=True)
class Outcome:
    last: float
    mean: float  # on the way
    infeasible: int  # measurements


def bounds(table: Table, share: float) -> tuple[tuple[Constraint, ...], BoolArray]:
    """A constraint for every objective but the first, and (A,) which candidates meet all of them."""
    feasible, constraints = table.works.copy(), []
    for k, goal in enumerate(table.objectives[1:], start=1):
        values, falls = table.values[:, k], goal.direction is Direction.MINIMIZE
        limit = float(np.quantile(values[table.works], share if falls else 1 - share))
        constraints.append(Constraint(goal.name, *((None, limit) if falls else (limit, None))))
        feasible &= values <= limit if falls else values >= limit
    return tuple(constraints), feasible


class ConstrainedStudy(Study):
    def __init__(self, table: Table, seed: int, constraints: tuple[Constraint, ...]) -> None:
        super().__init__(table, seed, learns=True)
        configuration = self._state.configuration
        stated = replace(configuration, objectives=table.objectives[:1], constraints=constraints)
        self._state = replace(self._state, configuration=stated)


def simulate(table: Table, share: float, seed: int) -> Outcome | None:
    """None if nothing is feasible."""
    constraints, feasible = bounds(table, share)
    if not feasible.any():
        return None
    utilities = table.utilities(np.arange(len(table.values)))[:, 0]
    best, median = utilities[feasible].max(), np.median(utilities[feasible])
    study, tried, regrets = ConstrainedStudy(table, seed, constraints), list[int](), []
    while len(tried) < TRIES:
        batch = study.ask(SIZE)
        study.tell(np.array(batch))
        tried += batch
        good = [number for number in tried if feasible[number]]
        regrets.append(float((best - utilities[good].max()) / (best - median)) if good else 1.0)
    return Outcome(regrets[-1], float(np.mean(regrets)), len(tried) - len(good))


@contextmanager
def among_what_may_be_feasible() -> Iterator[None]:
    """Auto mode as theory mode treats constraints; failures weigh as they do in auto mode."""
    made, ordered = Aiming.__dict__["aims"].func, Aims.__dict__["_optimistic"]

    def weigh(aims: Aims, score: FloatArray, means: list[FloatArray], widths: list[FloatArray]) -> object:
        return ordered(aims, score if aims.success is None else weighed(score, aims.success), means, widths)

    aimed = property(lambda aiming: replace(made(aiming), optimistic=True))
    with patch.object(Aims, "_optimistic", weigh), patch.object(Aiming, "aims", aimed):
        yield


def lines(names: list[str], seeds: int) -> Iterator[str]:
    yield HEADER
    yield "|---" * HEADER.count(" |") + "|"
    for name in names:
        table = load(name)
        for share in SHARES:
            kept = f"{bounds(table, share)[1].mean():.0%}"
            for mode, setting in (("chance", nullcontext()), ("optimistic", among_what_may_be_feasible())):
                with setting:
                    outcomes = [simulate(table, share, seed) for seed in range(seeds)]
                parts = [[o.last, o.mean, o.infeasible] for o in outcomes if o is not None]
                if parts:
                    last, mean, infeasible = np.mean(parts, axis=0)
                    yield f"| {name} | {kept} | {mode} | {seeds} | {last:.4f} | {mean:.3f} | {infeasible:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", default=",".join(TABLES), help="names of tables, with commas between them")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    with one_blas_thread():
        for line in lines(options.tables.split(","), options.seeds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
