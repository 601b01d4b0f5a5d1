"""How long an ask takes with one and with three objectives: `python -m benchmarks.objectives.timing`.

The same synthetic list and results for both, in turns within one run. An ask is what follows a batch of results: the
models learn from them, and the next batch is chosen. Seconds are processor time with one BLAS thread.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from time import process_time

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.domain.batches import BatchSize
from app.domain.candidates import BlockArrays, CandidateBlock, Column
from app.domain.studies import Configuration, Direction, Objective
from app.modelling.ledger_state import LedgerState
from app.modelling.model import RawFeatures
from app.modelling.several_drafting import draft_batch
from app.modelling.study_model import StudyModel, advance_study
from benchmarks.one_thread import one_blas_thread

FEATURES = 8
SIZE = 5


class Timed:
    """A study of the first few objectives, with some candidates measured at random."""

    def __init__(self, X: FloatArray, Y: FloatArray, measured: IndexArray) -> None:
        goals = tuple(Objective(f"o{k}", "", Direction.MAXIMIZE) for k in range(Y.shape[1]))
        self._X, self._Y = X, Y
        self._state = LedgerState(
            configuration=Configuration(objectives=goals, seed=0, noise="none", failures="learn"),
            columns=tuple(Column(f"x{number}", "number", "feature") for number in range(X.shape[1])),
            blocks=(CandidateBlock(0, len(X), BlockArrays("", "")),),
            further={goal.name: np.empty(0) for goal in goals[1:]},
        )
        self._tell(measured)
        self._model: StudyModel | None = advance_study(None, self._state, self._features)

    def ask(self) -> float:
        """Choose a batch, measure it, learn from it; the seconds that this took."""
        started = process_time()
        drafted = draft_batch(self._learnt(), BatchSize(SIZE, SIZE))
        self._tell(np.array([suggestion.candidate for suggestion in drafted.suggestions]))
        self._learnt()
        return process_time() - started

    def _learnt(self) -> StudyModel:
        self._model = advance_study(self._model, self._state, self._features)
        return self._model

    def _tell(self, numbers: IndexArray) -> None:
        state = self._state
        further = {
            name: np.concatenate((values, self._Y[numbers, k]))
            for k, (name, values) in enumerate(state.further.items(), 1)
        }
        self._state = replace(
            state,
            candidates=np.concatenate((state.candidates, numbers.astype("<i4"))),
            values=np.concatenate((state.values, self._Y[numbers, 0])),
            further=further,
            counted=np.ones(len(state.counted) + len(numbers), dtype="|b1"),
        )

    def _features(self, _block: CandidateBlock) -> RawFeatures:
        return self._X, np.empty((len(self._X), 0), dtype=np.int32), {}


def lines(candidates: int, results: int, rounds: int) -> Iterator[str]:
    rng = np.random.default_rng(0)
    X = rng.random((candidates, FEATURES))
    Y = np.column_stack(
        [
            np.sin(3 * X[:, 0]) + X[:, 1] - X[:, 2] ** 2,
            np.cos(2 * X[:, 3]) + X[:, 4] * X[:, 0],
            X[:, 5] - X[:, 6] * X[:, 1],
        ]
    )
    measured = rng.permutation(candidates)[:results]
    studies = {k: Timed(X, Y[:, :k], measured) for k in (1, 3)}
    yield "| round | one objective | three | ratio |\n|---|---|---|---|"
    spent = np.array([[studies[k].ask() for k in studies] for _ in range(rounds)])
    for number, (one, three) in enumerate(spent, start=1):
        yield f"| {number} | {one:.3f} s | {three:.3f} s | {three / one:.1f} |"
    one, three = spent.sum(axis=0)
    yield f"| all | {one:.3f} s | {three:.3f} s | {three / one:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--candidates", type=int, default=20_640)
    parser.add_argument("--results", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    with one_blas_thread():
        print("\n".join(lines(options.candidates, options.results, options.rounds)))


if __name__ == "__main__":
    main()
