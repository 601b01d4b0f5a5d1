"""What it costs to run each batch at one value of a column: `python -m benchmarks.plates [--seeds 5] [--baybe]`.

An interrupted run goes on where it was; `--only-print` prints what the records say.

Every table with a suitable column, a temperature where there is one, is simulated with the same seeds: batches chosen
freely, and batches whose members share one value of that column, as on a plate with one temperature; with `--baybe`
also by BayBE with its constraint. Of a table with several objectives the first one is sought.
After every batch of ours the price that the product would state is written down, and what the free batch of the same
moment would really have found more: by how much the best of its true values exceeds the best so far.
"""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from app.arrays import IndexArray
from app.domain.studies import Direction
from app.engine import Ask, Selection, State, choose
from app.engine.auto import (
    AutoOptions,
    FeatureColumn,
    FittedModel,
    ObjectiveDirection,
    Observed,
    alpha_for,
    cell_count,
    draw_jointly,
    integrated,
    limits_for,
    next_batch,
)
from app.modelling.composing import compose
from app.modelling.pricing import expected_gains
from app.modelling.terms import NO_TERMS, Terms
from benchmarks.labs.policies import Auto, MakePolicy, sign_of
from benchmarks.labs.protocol import Protocol
from benchmarks.labs.simulation import simulate
from benchmarks.labs.tables import LABS, Table, load
from benchmarks.lines import append, read
from benchmarks.objectives.tables import load as load_several
from benchmarks.one_thread import one_blas_thread
from benchmarks.peers.link import Link, python_of
from benchmarks.peers.policy import Peer

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
MARKED = (
    "direct_arylation_cost",
    "suzuki_virtual_tasks:suzuki_i",
    "suzuki_virtual_tasks:suzuki_ii",
    "suzuki_virtual_tasks:suzuki_iii",
    "suzuki_virtual_tasks:suzuki_iv",
)
"""Tables of the folder `data2` beside, whose temperature is marked as a setting of the whole plate."""

TABLES = (*(name for name in LABS if name != "direct_arylation"), *MARKED)
"""direct_arylation has the candidates and the yields of direct_arylation_cost."""
FEWEST, MOST = 3, 20  # values of a column that a plate could share
RECORDS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "plates.jsonl"
FREE, SHARED, BAYBE = "free", "one value", "BayBE, one value"
PROTOCOL = Protocol(60, 5)


@dataclass(frozen=True)
class Run:
    """What one study reached; prices are those of its batches, if it stated any."""

    table: str
    column: str
    values: int
    policy: str
    seed: int
    cumulative: float
    simple: float
    processor: float  # seconds per ask
    stated: tuple[float, ...] = ()
    real: tuple[float, ...] = ()


@dataclass(frozen=True)
class Priced:
    """One batch: the stated price and the real one, both in ranges of the objective."""

    stated: float
    real: float


def shared_column(table: Table) -> tuple[str, IndexArray] | None:
    """A column with a suitable number of values, a temperature before all others, and (A,) the code of each value."""
    columns = list(zip(table.columns, table.cells(), strict=True))
    for column, cells in sorted(columns, key=lambda column: not column[0].name.startswith("temperature")):
        values, codes = np.unique(np.array(cells), return_inverse=True)
        if FEWEST <= len(values) <= MOST:
            return column.name, codes.astype(np.int64)
    return None


def table_of(folder: Path, name: str) -> Table:
    """A table of the folder, or of the one beside it, of which the first objective is sought."""
    if name not in MARKED:
        return load(folder, name)
    several = load_several(name, folder.with_name("data2"))
    columns = tuple(FeatureColumn(column.name, column.kind, column.levels) for column in several.columns)
    minimised = several.objectives[0].direction is Direction.MINIMIZE
    direction: ObjectiveDirection = "minimize" if minimised else "maximize"
    return Table(name, columns, several.numbers, several.codes, several.values[:, 0], direction)


class OnePlate(Auto):
    """Auto mode whose batches share one value of a column."""

    def __init__(self, table: Table, protocol: Protocol, seed: int, prices: list[Priced]) -> None:
        super().__init__(table, protocol, seed, AutoOptions(noisy=protocol.noisy))
        shared = shared_column(table)
        assert shared is not None
        self._codes, self._prices = shared[1], prices
        self._gains = sign_of(table) * table.truth
        self._range = float(np.ptp(table.truth))

    def ask(self, observed: Observed, size: int) -> IndexArray:
        if observed.size == 0:
            return super().ask(observed, size)
        self.number += 1
        state, model = self.state(observed)
        alpha = alpha_for(model, self.options)
        ask = Ask(self.number, size, size, alpha=alpha)
        promise = state.mean + alpha * np.sqrt(state.leverage)

        def choose_one(ahead: State, request: Ask) -> Selection:
            limit = limits_for(ahead, observed, self.options, noisy=False)
            request = Ask(request.batch_number, request.min_size, request.max_size, alpha, limit, request.chosen_before)
            return next_batch(choose, ahead, observed, self.options, request, cell_count(self.X.shape[1]), self.seed)

        same = compose(choose_one, _open(state, observed), ask, Terms(same=self._codes), promise)
        free = compose(choose_one, _open(state, observed), ask, NO_TERMS, promise)
        self._note(state, model, (free.picks, same.picks), observed)
        return same.picks

    def _note(
        self, state: State, model: FittedModel, batches: tuple[IndexArray, IndexArray], observed: Observed
    ) -> None:
        """`batches` are the free one and the one with a shared value."""
        best = int(state.measured[np.argmax(state.mean[state.measured])])
        numbers = np.unique([*batches[0], *batches[1], best])
        draws = draw_jointly(state, integrated(state, model, observed), numbers, self.seed, self.number).values
        values = model.objective.sign * model.objective.to_user(draws)
        free, same = expected_gains(values, numbers, batches, best)
        reached = float(self._gains[observed.numbers].max())
        found_free, found_same = (max(0.0, float(self._gains[batch].max()) - reached) for batch in batches)
        self._prices.append(Priced(max(0.0, free - same) / self._range, (found_free - found_same) / self._range))


def _open(state: State, observed: Observed) -> State:
    return state.replace(available=state.available & (observed.counts == 0))


def run(folder: Path, names: Sequence[str], seeds: int, out: Path, link: Link | None, protocol: Protocol) -> None:
    """Append a record for every study; those that the file has already are left out."""
    done = {(run.table, run.policy, run.seed) for run in read(out, Run)}
    for seed in range(seeds):
        for name in names:
            table = table_of(folder, name)
            shared = shared_column(table)
            for policy in (FREE, SHARED, *([BAYBE] if link else [])):
                if shared is not None and (name, policy, seed) not in done:
                    append(out, _study(table, protocol, policy, seed, shared, link))


def _study(
    table: Table, protocol: Protocol, policy: str, seed: int, shared: tuple[str, IndexArray], link: Link | None
) -> Run:
    prices: list[Priced] = []
    make: MakePolicy = Auto if policy == FREE else partial(OnePlate, prices=prices)
    if policy == BAYBE and link is not None:
        make = partial(Peer, link, shared[0])
    record = simulate(table, protocol, seed, policy, make)
    stated, real = (tuple(getattr(price, part) for price in prices) for part in ("stated", "real"))
    figures = record.cumulative, record.simple, record.processor
    return Run(table.name, shared[0], len(set(shared[1])), policy, seed, *figures, stated, real)


def lines(runs: Sequence[Run], policies: Sequence[str]) -> Iterator[str]:
    """A table of the seeds that all these policies have run."""
    figures = [f"{figure}, {policy}" for figure in ("cumulative", "simple") for policy in policies]
    header = ("table", "column", "values", "seeds", *figures, "processor s per ask", "stated price", "real price")
    yield f"| {' | '.join(header)} |"
    yield "|---" * len(header) + "|"
    for name in dict.fromkeys(run.table for run in runs):
        of = {policy: [run for run in runs if (run.table, run.policy) == (name, policy)] for policy in policies}
        common = set.intersection(*({run.seed for run in group} for group in of.values()))
        if common:
            yield _line(name, [[run for run in group if run.seed in common] for group in of.values()])


def _line(name: str, groups: Sequence[Sequence[Run]]) -> str:
    cells = [name, groups[0][0].column, str(groups[0][0].values), str(len(groups[0]))]
    for figure in ("cumulative", "simple"):
        cells += [_interval([getattr(run, figure) for run in group]) for group in groups]
    cells.append(", ".join(f"{np.mean([run.processor for run in group]):.2f}" for group in groups))
    for part in ("stated", "real"):
        cells.append(_interval([price for group in groups for run in group for price in getattr(run, part)]))
    return f"| {' | '.join(cells)} |"


def _interval(values: Sequence[float]) -> str:
    """The mean with its standard error."""
    if not values:
        return "-"
    error = float(np.std(values, ddof=1)) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return f"{np.mean(values):.4f} ± {error:.4f}"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--out", type=Path, default=RECORDS, help="the file of the records")
    parser.add_argument("--baybe", action="store_true", help="also BayBE, which takes minutes for a study")
    parser.add_argument("--only-print", action="store_true", help="run nothing")
    options = parser.parse_args(arguments)
    if not options.only_print:
        peer = Link("baybe_plate", python_of("baybe")) if options.baybe else None
        with one_blas_thread(), peer or nullcontext() as link:
            run(options.folder, options.tables, options.seeds, options.out, link, PROTOCOL)
    policies = (FREE, SHARED, BAYBE) if options.baybe else (FREE, SHARED)
    print("\n".join(lines(read(options.out, Run), policies)))


if __name__ == "__main__":
    main()
