"""The engine against the paper's literal form: the same steps, in the same process, in one run."""

import tracemalloc
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.experiment import Experiment, Trace, run_engine, run_literal
from benchmarks.machine import least_seconds, measured_rates
from benchmarks.phases import stopwatch


def compare(experiment: Experiment, *, with_literal: bool = True) -> tuple[dict[str, Any], list[Trace]]:
    """All figures of one comparison, and the traces of the engine and (if run) of the literal form.

    The literal form is given the engine's dictionaries, so that both do the same work: it must make the same choices.
    """
    with stopwatch() as phases:
        engine = run_engine(experiment)
    figures = {
        "set": experiment.problem.name,
        "rule": experiment.settings.rule,
        "horizon": experiment.horizon,
        "exploration": experiment.exploration,
        "resparsify": experiment.settings.resparsify,
        "seconds": engine.seconds[-1],
        "batches": len(engine.batches),
        "dictionary": engine.sizes[-1],
        "regret_ratio": experiment.regret_ratio(engine.batches),
        "peak_memory": peak_memory(experiment),
        "phases": {name: round(seconds, 4) for name, seconds in phases.items()},
        "limit": _limit(experiment, engine, phases["measure"]),
    }
    if not with_literal:
        return figures, [engine]
    literal = run_literal(experiment, engine.dictionaries)
    return figures | _against(engine, literal), [engine, literal]


def peak_memory(experiment: Experiment) -> int:
    """Bytes the engine holds at most, on top of the features, in a run of its own."""
    tracemalloc.start()
    run_engine(experiment)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _limit(experiment: Experiment, trace: Trace, spent: float) -> dict[str, float]:
    """The least time the sweeps could take on this machine, as a share of what was spent in `measure`."""
    A = len(experiment.problem.f)
    rates = measured_rates(A, max(trace.sizes))
    least = least_seconds(trace, A, rates)
    return asdict(rates) | {"least_seconds": least, "spent_seconds": spent, "fraction": least / spent}


def _against(engine: Trace, literal: Trace) -> dict[str, Any]:
    """The literal run beside the engine's."""
    return {
        "literal_seconds": literal.seconds[-1],
        "speedup_over_literal": literal.seconds[-1] / engine.seconds[-1],
        "literal_batches": len(literal.batches),
        "same_choices": same_choices(engine, literal),
    }


def same_choices(one: Trace, other: Trace) -> int:
    """How many measurements, from the first on, the two runs have in common; the horizon when they never part."""
    a, b = np.concatenate(one.batches), np.concatenate(other.batches)
    differ = np.flatnonzero(a != b)
    return int(differ[0]) if len(differ) else len(a)
