"""Which runs there are, the most telling first."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import product

from benchmarks.paper.systems import SYSTEMS, VARIANTS

HORIZON = 10_000
"""T of the paper; δ = 1/T in every run, also in those that stop earlier."""
SHORT = 2_000
"""Where the paper's times end."""
REPETITIONS = 10
REGRESSION = ("abalone", "cadata")
NAS = ("nas_bench_201_cifar10", "nas_bench_macro_cifar10", "enas_dag6_cifar10")
SEARCH_BANDWIDTHS = {0: 100.0, 2_000: 125.0}
"""Of the appendix, by the number of measurements from before."""
SWEEP = (17.5, 15.0, 12.5, 10.0, 7.5, 5.0)
STOP_EARLY = ("gp-ucb", "epsilon-greedy")
"""No batches, and a model that grows with every step."""
WITH_A_KERNEL = tuple(name for name in SYSTEMS if name not in {"evolution", "uniform", *VARIANTS})
SEARCHERS = (
    "bbkb",
    "bbkb-local",
    "bbkb-exact",
    "bbkb-sharp",
    "bbkb-local-sharp",
    "bkb",
    "gp-bucb",
    "thompson",
    "evolution",
    "uniform",
)


@dataclass(frozen=True)
class Cell:
    """One run."""

    set: str
    system: str
    bandwidth: float
    steps: int
    repetition: int
    initial: int = 0
    """Random measurements from before (the paper's T_init)."""

    @property
    def name(self) -> str:
        """As a file is called."""
        return "-".join(f"{value:g}" if isinstance(value, float) else str(value) for value in asdict(self).values())


def short(repetition: int) -> Iterator[Cell]:
    """Section 5, Abalone and Cadata: every system for the first 2,000 steps."""
    for name, system in product(REGRESSION, SYSTEMS):
        yield Cell(name, system, SYSTEMS[system].bandwidth(name), SHORT, repetition)


def long(repetition: int) -> Iterator[Cell]:
    """The same to the horizon, but for those whose cost per step goes on growing."""
    for name, system in product(REGRESSION, SYSTEMS):
        if system not in STOP_EARLY:
            yield Cell(name, system, SYSTEMS[system].bandwidth(name), HORIZON, repetition)


def search(repetition: int) -> Iterator[Cell]:
    """Section 5, architectures: 2,000 measurements without and after 2,000 random ones."""
    for (initial, bandwidth), name, system in product(SEARCH_BANDWIDTHS.items(), NAS, SEARCHERS):
        yield Cell(name, system, bandwidth, SHORT, repetition, initial)


def sweep(repetition: int) -> Iterator[Cell]:
    """Appendix: one bandwidth for all systems."""
    for name, bandwidth, system in product(REGRESSION, SWEEP, WITH_A_KERNEL):
        yield Cell(name, system, bandwidth, SHORT, repetition)


STAGES: dict[str, Callable[[int], Iterator[Cell]]] = {
    "short": short,
    "long": long,
    "search": search,
    "sweep": sweep,
}


def everything(stages: Iterable[str] = STAGES, repetitions: int = REPETITIONS) -> Iterator[Cell]:
    """Repetition by repetition."""
    for repetition, stage in product(range(repetitions), stages):
        yield from STAGES[stage](repetition)
