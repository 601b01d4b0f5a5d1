"""A simulated lab: ask, look the values up, report, until T measurements were tried."""

from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from app.arrays import IndexArray
from app.domain.batches import BatchSize
from app.domain.candidates import BlockArrays, CandidateBlock
from app.domain.events import Basis
from app.domain.studies import Configuration
from app.modelling.ledger_state import LedgerState
from app.modelling.model import RawFeatures
from app.modelling.several_drafting import draft_batch
from app.modelling.study_model import StudyModel, advance_study
from benchmarks.objectives.tables import Table

POLICIES = ("ours", "no failure model", "random")


@dataclass(frozen=True)
class Run:
    """What one simulated study reached."""

    table: str
    policy: str
    seed: int
    regrets: tuple[float, ...]  # after each batch
    wasted: int  # measurements that failed
    seconds: float  # per ask


def simulate(table: Table, policy: str, seed: int, tries: int = 60, size: int = 5) -> Run:
    lab = _Random(table, seed) if policy == "random" else _Study(table, seed, learns=policy == "ours")
    tried: list[int] = []
    regrets, seconds = [], []
    while len(tried) < min(tries, len(table.values)):
        started = perf_counter()
        batch = lab.ask(size)
        seconds.append(perf_counter() - started)
        tried += batch
        lab.tell(np.array(batch))
        done = np.array(tried)
        regrets.append(table.regret(done[table.works[done]]))
    wasted = int((~table.works[np.array(tried)]).sum())
    return Run(table.name, policy, seed, tuple(regrets), wasted, float(np.mean(seconds)))


class _Random:
    def __init__(self, table: Table, seed: int) -> None:
        self._left = np.random.default_rng(seed).permutation(len(table.values)).tolist()

    def ask(self, size: int) -> list[int]:
        return [self._left.pop() for _ in range(min(size, len(self._left)))]

    def tell(self, numbers: IndexArray) -> None:
        """What was measured does not matter."""


class _Study:
    """A study in auto mode without a server: its ledger state and its model."""

    def __init__(self, table: Table, seed: int, *, learns: bool) -> None:
        rows = len(table.values)
        self._table = table
        self._model: StudyModel | None = None
        self._state = LedgerState(
            configuration=Configuration(
                objectives=table.objectives, seed=seed, noise="none", failures="learn" if learns else None
            ),
            columns=table.columns,
            blocks=(CandidateBlock(0, rows, BlockArrays("", "")),),
            further={objective.name: np.empty(0) for objective in table.objectives[1:]},
        )

    def ask(self, size: int) -> list[int]:
        self._model = advance_study(self._model, self._state, self._features)
        drafted = draft_batch(self._model, BatchSize(size, size))
        self._state = replace(self._state, bases=(*self._state.bases, Basis(len(self._state.bases) + 1, "")))
        return [suggestion.candidate for suggestion in drafted.suggestions]

    def tell(self, numbers: IndexArray) -> None:
        state, works = self._state, self._table.works[numbers]
        done, failed = numbers[works], numbers[~works].tolist()
        first, *others = self._table.objectives
        columns = {goal.name: self._table.values[done, k] for k, goal in enumerate((first, *others))}
        self._state = replace(
            state,
            candidates=np.concatenate((state.candidates, done.astype("<i4"))),
            values=np.concatenate((state.values, columns[first.name])),
            further={goal.name: np.concatenate((state.further[goal.name], columns[goal.name])) for goal in others},
            counted=np.ones(len(state.counted) + len(done), dtype="|b1"),
            unavailable=state.unavailable | set(failed),
            failed={**state.failed, **dict.fromkeys(failed, 1)},
        )

    def _features(self, _block: CandidateBlock) -> RawFeatures:
        return self._table.numbers, self._table.codes, {}
