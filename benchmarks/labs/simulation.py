"""One simulated study: a policy asks, the table answers."""

import time

import numpy as np

from app.engine import rng_at
from app.engine.auto import Observed
from benchmarks.labs.policies import MakePolicy
from benchmarks.labs.protocol import Protocol
from benchmarks.labs.records import Record
from benchmarks.labs.tables import Table


def simulate(table: Table, protocol: Protocol, seed: int, name: str, make: MakePolicy) -> Record:
    """The study with this seed: it orders the candidates, draws the noise and seeds the policy."""
    rng = rng_at(seed, f"labs {table.name}", 0)
    table = table.permuted(rng.permutation(len(table.truth)))
    A, T = len(table.truth), min(protocol.T, len(table.truth))
    policy = make(table, protocol, seed)
    numbers: list[int] = []
    values: list[float] = []
    spent: list[tuple[float, float]] = []
    while len(values) < T:
        begun = time.perf_counter(), policy.processor()
        picks = policy.ask(Observed.of(A, numbers, values), min(protocol.q, T - len(values)))[: T - len(values)]
        spent.append((time.perf_counter() - begun[0], policy.processor() - begun[1]))
        if len(picks) == 0:
            spent.pop()
            break
        numbers += picks.tolist()
        values += [measure(table, int(pick), protocol, rng) for pick in picks]
    recommended = policy.recommend(Observed.of(A, numbers, values))
    return Record.of(table, protocol, seed, name, np.array(numbers), values, recommended, spent)


def measure(table: Table, number: int, protocol: Protocol, rng: np.random.Generator) -> float:
    """The candidate's value; with noise, one of its replicates."""
    if protocol.noisy and table.replicates is not None:
        return float(rng.choice(table.replicates[number]))
    return float(table.truth[number])
