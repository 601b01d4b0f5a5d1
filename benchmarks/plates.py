"""What it costs to run each batch at one value of a column: `python -m benchmarks.plates [--seeds 5]`.

Every table with a suitable column is simulated twice with the same seeds: batches chosen freely, and batches whose
members share one value of that column, as on a plate with one temperature. After every batch the price that the product
would state is written down, and what the free batch of the same moment would really have brought.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from app.arrays import IndexArray
from app.engine import Ask, Selection, State, choose
from app.engine.auto import AutoOptions, Observed, alpha_for, cell_count, limits_for, next_batch
from app.modelling.composing import NO_TERMS, Terms, best_measured, compose
from benchmarks.labs.policies import Auto, sign_of
from benchmarks.labs.protocol import Protocol
from benchmarks.labs.simulation import simulate
from benchmarks.labs.tables import LABS, Table, load

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
FEWEST, MOST = 3, 20  # values of a column that a plate could share


@dataclass(frozen=True)
class Priced:
    """One batch: the stated price, and the same difference with the true values instead of optimistic ones, both in
    ranges of the objective."""

    stated: float
    real: float


def shared_column(table: Table) -> tuple[str, IndexArray] | None:
    """The first column with a suitable number of values, and (A,) the code of each candidate's value."""
    for column, cells in zip(table.columns, table.cells(), strict=True):
        values, codes = np.unique(np.array(cells), return_inverse=True)
        if FEWEST <= len(values) <= MOST:
            return column.name, codes.astype(np.int64)
    return None


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
        self._note(state, model.objective.scale, free, same, observed)
        return same.picks

    def _note(self, state: State, scale: float, free: Selection, same: Selection, observed: Observed) -> None:
        optimistic, true = best_measured(state), float(self._gains[observed.numbers].max())
        signed = ((free, 1.0), (same, -1.0))
        stated = sum(sign * float(np.maximum(batch.ucb - optimistic, 0).sum()) for batch, sign in signed)
        real = sum(sign * float(np.maximum(self._gains[batch.picks] - true, 0).sum()) for batch, sign in signed)
        self._prices.append(Priced(max(0.0, stated) * scale / self._range, real / self._range))


def _open(state: State, observed: Observed) -> State:
    return state.replace(available=state.available & (observed.counts == 0))


def lines(folder: Path, seeds: int, protocol: Protocol) -> Iterator[str]:
    yield "| table | column | values | regret free | one value | simple free | one value | stated price | real |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for name in LABS:
        if not (folder / f"{name}.csv.gz").exists():
            continue
        table = load(folder, name)
        shared = shared_column(table)
        if shared is None:
            continue
        prices: list[Priced] = []
        free = [simulate(table, protocol, seed, "free", Auto) for seed in range(seeds)]
        plate = [simulate(table, protocol, seed, "plate", partial(OnePlate, prices=prices)) for seed in range(seeds)]
        figures = [f"{np.mean([record.cumulative for record in records]):.3f}" for records in (free, plate)]
        figures += [f"{np.mean([record.simple for record in records]):.4f}" for records in (free, plate)]
        stated, real = (np.mean([getattr(price, part) for price in prices]) for part in ("stated", "real"))
        yield f"| {name} | {shared[0]} | {len(set(shared[1]))} | {' | '.join(figures)} | {stated:.3f} | {real:.3f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    for line in lines(options.folder, options.seeds, Protocol(60, 5)):
        print(line, flush=True)


if __name__ == "__main__":
    main()
