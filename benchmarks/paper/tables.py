"""The tables of the page, in Markdown: means ± the half of the 95 % interval, n repetitions."""

from collections.abc import Sequence
from typing import Any

from benchmarks.pages import markdown
from benchmarks.paper.cells import HORIZON, NAS, REGRESSION, SHORT, SWEEP, WITH_A_KERNEL
from benchmarks.paper.summary import Groups, figure, times_of
from benchmarks.paper.systems import SYSTEMS

TITLES = {
    "abalone": "Abalone",
    "cadata": "Cadata",
    "nas_bench_201_cifar10": "NAS-Bench-201",
    "nas_bench_macro_cifar10": "NAS-Bench-Macro",
    "enas_dag6_cifar10": "ENAS",
}


def all_tables(groups: Groups, theory: dict[str, Any]) -> dict[str, str]:
    """By the name that marks their place on the page."""
    tables = {f"{name} {steps}": regression(groups, name, steps) for name in REGRESSION for steps in (SHORT, HORIZON)}
    tables |= {f"search {initial}": search(groups, initial) for initial in (0, 2_000)}
    tables |= {f"sweep {name}": sweep(groups, name) for name in REGRESSION}
    tables |= {f"theory {name}": moments(theory[name]) for name in REGRESSION if name in theory}
    return tables


def regression(groups: Groups, name: str, steps: int) -> str:
    """Every system on one set; times as multiples of Global-BBKB's in the same repetition."""
    header = ["system", "σ", "n", "R/R unif", "simple regret", "batches", "dictionary", "CPU s", "× Global-BBKB"]
    base = groups.get((name, "bbkb", SYSTEMS["bbkb"].bandwidth(name), steps, 0), [])
    rows = []
    for key, system in SYSTEMS.items():
        records = groups.get((name, key, system.bandwidth(name), steps, 0))
        if records:
            times = times_of(records, base, "seconds")
            rows.append(
                [
                    system.label,
                    f"{system.bandwidth(name):g}" if key not in {"evolution", "uniform"} else "–",
                    str(len(records)),
                    f"{figure(records, 'regret_ratio'):.3f}",
                    f"{figure(records, 'simple_regret'):.3f}",
                    f"{figure(records, 'batches'):.0f}",
                    f"{figure(records, 'members'):.0f}",
                    f"{figure(records, 'seconds'):.2f}",
                    f"{times.mean:.1f}" if times else "–",
                ]
            )
    return markdown(header, rows)


def search(groups: Groups, initial: int) -> str:
    """Every searcher on the three tables of architectures."""
    header = ["set", "system", "n", "R/R unif", "simple regret", "batches", "dictionary", "CPU s", "total hours"]
    rows = [
        [
            TITLES[name],
            SYSTEMS[system].label,
            str(len(records)),
            f"{figure(records, 'regret_ratio'):.3f}",
            f"{figure(records, 'simple_regret'):.4f}",
            f"{figure(records, 'batches'):.0f}",
            f"{figure(records, 'members'):.0f}",
            f"{figure(records, 'seconds'):.1f}",
            f"{figure(records, 'hours'):.0f}",
        ]
        for (name, system, _, _, before), records in _in_order(groups)
        if name in NAS and before == initial
    ]
    return markdown(header, rows)


def _in_order(groups: Groups) -> list[Any]:
    """By set, then by system."""
    systems = list(SYSTEMS)
    return sorted(groups.items(), key=lambda item: (item[0][0], systems.index(item[0][1])))


def sweep(groups: Groups, name: str) -> str:
    """Regret ratio after 2,000 steps, one bandwidth for all; worst over best where all were run."""
    rows = []
    for system in WITH_A_KERNEL:
        records = [groups.get((name, system, bandwidth, SHORT, 0)) for bandwidth in reversed(SWEEP)]
        ratios = [figure(found, "regret_ratio") for found in records if found]
        if ratios:
            means = [ratio.mean for ratio in ratios]
            worst = f"{max(means) / min(means):.1f}" if all(records) else "–"
            cells = [f"{figure(found, 'regret_ratio'):.3f}" if found else "–" for found in records]
            rows.append([SYSTEMS[system].label, _numbers([ratio.n for ratio in ratios]), *cells, worst])
    return markdown(["system", "n", *(f"σ = {value:g}" for value in reversed(SWEEP)), "worst ÷ best"], rows)


def _numbers(n: Sequence[int]) -> str:
    """Such as 3 to 10."""
    return str(n[0]) if len(set(n)) == 1 else f"{min(n)} to {max(n)}"


def moments(found: dict[str, Any]) -> str:
    """Along one run of Global-BBKB, for each way to draw the dictionary."""
    header = [
        "dictionary",
        "t",
        "B",
        "m",
        "d_eff",
        "B/d_eff",
        "m/d_eff",
        "bound/m",
        "σ̃²/σ²",
        "covered",
        "batch of each rule",
    ]
    rows = [
        [
            draw,
            f"{m['t']:,}",
            str(m["batches"]),
            str(m["members"]),
            f"{m['effective_dimension']:.1f}",
            f"{m['batches'] / m['effective_dimension']:.2f}",
            f"{m['members'] / m['effective_dimension']:.2f}",
            f"{m['dictionary_bound'] / m['members']:.0e}",
            f"{m['lowest']:.3f} to {m['highest']:.3f}",
            f"{m['covered']:.1%}",
            " ≤ ".join(f"{size:,}" for size in m["sizes"]) or "–",
        ]
        for draw, moments in found.items()
        for m in moments[1::2]
    ]
    return markdown(header, rows)
