"""A simulated lab: ask, look the values up, report, until T measurements were tried."""

from dataclasses import dataclass, replace
from time import perf_counter, process_time
from typing import Protocol, Self

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
from benchmarks.peers.link import Link, python_of

OURS = ("ours", "no failure model", "random")
PEERS = {"BoTorch qLogNEHVI": "botorch", "BayBE": "baybe", "Optuna GP": "optuna"}
"""Each with its adapter, whose other name ends in `_front`."""
POLICIES = (*OURS, *PEERS)
PATIENCE = 3600.0  # seconds for one answer of a peer


@dataclass(frozen=True)
class Run:
    """What one simulated study reached."""

    table: str
    policy: str
    seed: int
    regrets: tuple[float, ...]  # after each batch
    wasted: int  # measurements that failed
    seconds: float  # per ask
    processor: float  # seconds of processor time per ask


class Lab(Protocol):
    """Whoever chooses what is measured next."""

    def ask(self, size: int) -> list[int]: ...

    def tell(self, numbers: IndexArray) -> None: ...

    def processor(self) -> float:
        """Seconds of processor time so far."""
        ...


class Simulation:
    """Runs studies one after the other. A peer's process goes on from study to study: it takes seconds to start."""

    def __init__(self, tries: int = 60, size: int = 5) -> None:
        self._tries, self._size = tries, size
        self._links: dict[str, Link] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for link in self._links.values():
            link.__exit__()

    def run(self, table: Table, policy: str, seed: int) -> Run:
        return measured(table, policy, seed, self._lab(table, policy, seed), self._tries, self._size)

    def _lab(self, table: Table, policy: str, seed: int) -> Lab:
        if policy == "random":
            return _Random(table, seed)
        if policy not in PEERS:
            return Study(table, seed, learns=policy == "ours")
        name = PEERS[policy]
        if name not in self._links:
            self._links[name] = Link(f"{name}_front", python_of(name), PATIENCE)
        return _Peer(self._links[name], table, seed)


def measured(table: Table, policy: str, seed: int, lab: Lab, tries: int, size: int) -> Run:
    """What a lab reaches that does what it is told. The first batch is the same for all; its time does not count."""
    tried: list[int] = []
    regrets, seconds, processor = [], [], []
    while len(tried) < min(tries, len(table.values)):
        started, busy = perf_counter(), lab.processor()
        batch = lab.ask(size)
        seconds.append(perf_counter() - started)
        processor.append(lab.processor() - busy)
        tried += batch
        lab.tell(np.array(batch))
        done = np.array(tried)
        regrets.append(table.regret(done[table.works[done]]))
    wasted = int((~table.works[np.array(tried)]).sum())
    spent = (float(np.mean(seconds[1:])), float(np.mean(processor[1:])))
    return Run(table.name, policy, seed, tuple(regrets), wasted, *spent)


class _Peer:
    """A library in a process of its own. It begins with our first batch, and is told values of which more is better."""

    def __init__(self, link: Link, table: Table, seed: int) -> None:
        self._link, self._table, self._begun = link, table, False
        self._first = Study(table, seed, learns=False)
        columns = [column.name for column in table.columns]
        variant = str(len(table.objectives))
        link.start(variant=variant, noisy=False, seed=seed, columns=columns, values=table.cells())

    def ask(self, size: int) -> list[int]:
        if self._begun:
            return [int(row) for row in self._link.call("ask", q=size)]
        self._begun = True
        return self._first.ask(size)

    def tell(self, numbers: IndexArray) -> None:
        works, utilities = self._table.works[numbers], self._table.utilities(numbers)
        values = [row.tolist() if done else None for row, done in zip(utilities, works, strict=True)]
        self._link.call("tell", rows=numbers.tolist(), values=values)

    def processor(self) -> float:
        return self._link.processor


class _Random:
    def __init__(self, table: Table, seed: int) -> None:
        self._left = np.random.default_rng(seed).permutation(len(table.values)).tolist()

    def ask(self, size: int) -> list[int]:
        return [self._left.pop() for _ in range(min(size, len(self._left)))]

    def tell(self, numbers: IndexArray) -> None:
        """What was measured does not matter."""

    def processor(self) -> float:
        return process_time()


class Study:
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

    def processor(self) -> float:
        return process_time()

    def _features(self, _block: CandidateBlock) -> RawFeatures:
        return self._table.numbers, self._table.codes, {}
