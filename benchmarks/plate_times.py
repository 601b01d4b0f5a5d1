"""How long the preview of a plate takes: `python -m benchmarks.plate_times [--sizes 8 24 96] [--objectives 2]`.

A generated study in auto mode: candidates with four numbers, 40 of them measured, eight temperatures and twelve
solvents. Processor time of one batch with its explanations and the prices of its terms.
"""

import argparse
from time import process_time

import numpy as np
from threadpoolctl import threadpool_limits

from app.arrays import IndexArray
from app.domain.batches import BatchSize, Inclusion
from app.domain.candidates import BlockArrays, CandidateBlock, Column
from app.domain.studies import Configuration, Direction, Objective
from app.modelling.ledger_state import LedgerState
from app.modelling.several_drafting import draft_batch
from app.modelling.study_model import StudyModel, advance_study
from app.modelling.terms import NO_TERMS, Grouping, Terms

YIELD, PRICE = Objective("yield", "%", Direction.MAXIMIZE), Objective("price", "EUR", Direction.MINIMIZE)
CONTROL = (Inclusion(3, 4),)


def study(rows: int, results: int, objectives: int) -> StudyModel:
    """A study in which some candidates were measured."""
    rng = np.random.default_rng(1)
    X = rng.random((rows, 4))
    truth = {"yield": np.sin(3 * X[:, 0]) + X[:, 1] - (X[:, 2] - 0.4) ** 2, "price": X[:, 0] + 0.2 * X[:, 1]}
    measured = rng.permutation(rows)[:results]
    configuration = Configuration(objectives=(YIELD, PRICE)[:objectives], seed=5, max_batch=200)
    first, *others = [quantity.name for quantity in configuration.quantities]
    ledger = LedgerState(
        configuration=configuration,
        columns=tuple(Column(name, "number", "feature") for name in "abcd"),
        blocks=(CandidateBlock(0, rows, BlockArrays("", "")),),
        candidates=measured.astype("<i4"),
        values=truth[first][measured],
        further={name: truth[name][measured] for name in others},
        counted=np.ones(results, dtype="|b1"),
    )
    return advance_study(None, ledger, lambda _: (X, np.zeros((rows, 0), dtype=np.int32), {}))


def requests(temperature: IndexArray, solvent: IndexArray) -> dict[str, Terms]:
    """What is asked for, by the words of the table."""
    six = (Grouping("solvent", solvent, 6),)
    return {
        "free": NO_TERMS,
        "a control": Terms(include=CONTROL),
        "at most 6 solvents": Terms(at_most=six),
        "12 per solvent": Terms(per=(Grouping("solvent", solvent, 12),)),
        "one temperature": Terms(same=temperature),
        "control, 6 solvents, one temperature": Terms(include=CONTROL, at_most=six, same=temperature),
        "6 solvents, one temperature": Terms(at_most=six, same=temperature),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[8, 24, 96])
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--results", type=int, default=40)
    parser.add_argument("--objectives", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(2)
    temperature, solvent = rng.integers(0, 8, options.rows), rng.integers(0, 12, options.rows)
    print(f"| s of processor time | {' | '.join(f'{size} wells' for size in options.sizes)} |")
    print("|---" * (1 + len(options.sizes)) + "|")
    with threadpool_limits(1):
        model = study(options.rows, options.results, options.objectives)
        for words, terms in requests(temperature, solvent).items():
            seconds = []
            for size in options.sizes:
                begun = process_time()
                draft_batch(model, BatchSize(size, size), terms)
                seconds.append(f"{process_time() - begun:.2f}")
            print(f"| {words} | {' | '.join(seconds)} |", flush=True)


if __name__ == "__main__":
    main()
