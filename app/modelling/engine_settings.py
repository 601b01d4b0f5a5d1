"""What a study's configuration means to the engine, and whether the engine can work with it at all."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from app.arrays import Array
from app.domain.candidates import Column
from app.domain.errors import Finding, Invalid, InvalidCandidates
from app.domain.limits import configuration_findings
from app.domain.quantities import quantity_findings
from app.domain.studies import Configuration, Direction, Theory
from app.engine import ALGORITHMS as ENGINE_ALGORITHMS
from app.engine import EngineSettings, algorithm_named
from app.engine.auto import AutoOptions, FeatureColumn, most_levels, table_warnings
from app.engine.kernels import build
from app.engine.settings import WORKING_RANGES

ALGORITHMS: tuple[str, ...] = tuple(sorted(ENGINE_ALGORITHMS))
FOR_ONE_QUANTITY = frozenset({"epsilon-greedy", "evolution", "thompson"})
"""Baselines that know nothing of a second quantity, of a target, or of measurements that fail."""

NOISE = math.sqrt(WORKING_RANGES["lam"][0])
"""The least noise in model units: its square is λ unless the study states another."""

SCALES = (1e-100, 1e100)
OFFSETS = (-1e150, 1e150)

MOST_KERNELS = 100
"""So many kernels, each within the others, take a few milliseconds of each thousand candidates."""


def check_configuration(configuration: Configuration) -> None:
    """Refuse a configuration outside its limits, or one that the engine cannot work with, before anything is stored."""
    findings = configuration_findings(configuration) + quantity_findings(configuration)
    if findings:
        raise Invalid(findings)
    if configuration.algorithm not in ENGINE_ALGORITHMS:
        raise Invalid([Finding("algorithm", f"Use one of: {', '.join(ALGORITHMS)}.", pointer="/algorithm")])
    if configuration.algorithm in FOR_ONE_QUANTITY and not configuration.is_plain:
        message = "This algorithm needs one objective to maximise or minimise, and no constraints. Use bbkb."
        raise Invalid([Finding("algorithm", message, pointer="/algorithm")])
    if configuration.min_batch > configuration.max_batch:
        raise Invalid([Finding("sizes", "`min_batch` is larger than `max_batch`.", pointer="/min_batch")])
    if configuration.theory is None:
        return
    _check_theory("/theory", configuration.theory, configuration)
    for kind in ("objectives", "constraints"):
        for number, quantity in enumerate(getattr(configuration, kind)):
            if quantity.theory is not None:
                _check_theory(f"/{kind}/{number}/theory", quantity.theory, configuration)


def _check_theory(place: str, theory: Theory, configuration: Configuration) -> None:
    _check_ranges(place, theory)
    try:
        theory_settings(theory, configuration.algorithm, configuration.seed)
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        message = f"This is not a model: {_reason(error)}."
        raise Invalid([Finding("theory", message, pointer=place)]) from error


def _check_ranges(place: str, theory: Theory) -> None:
    """Refuse numbers with which the engine could not compute, each by its own name and with its range."""
    findings = [
        Finding("range", f"{what} must lie between {lowest:g} and {highest:g}.", pointer=f"{place}/{name}")
        for name, what, value, (lowest, highest) in _ranges(theory)
        if value is not None and not lowest <= value <= highest
    ]
    if sum(1 for _ in _kernels(theory.kernel)) > MOST_KERNELS:
        message = f"A kernel may consist of at most {MOST_KERNELS} kernels."
        findings.append(Finding("range", message, pointer="/theory/kernel"))
    if findings:
        raise Invalid(findings)


def _ranges(theory: Theory) -> Iterator[tuple[str, str, float | None, tuple[float, float]]]:
    """Each setting, how to call it, what it becomes in the engine, and the range in which the engine works."""
    yield "scale", "`scale`", theory.scale, SCALES
    yield "offset", "`offset`", theory.offset, OFFSETS
    yield "noise", "`noise` divided by `scale`", theory.noise / theory.scale, (NOISE, WORKING_RANGES["xi"][1])
    yield "norm", "`norm` divided by `scale`", theory.norm / theory.scale, WORKING_RANGES["F"]
    yield "regularization", "`regularization`", theory.regularization, WORKING_RANGES["lam"]
    yield "delta", "`delta`", theory.delta, WORKING_RANGES["delta"]
    yield "threshold", "`threshold`", theory.threshold, WORKING_RANGES["threshold"]
    yield "q_bar", "`q_bar`", theory.q_bar, WORKING_RANGES["q_bar"]
    for name, value in _kernel_numbers(theory.kernel):
        yield "kernel", f"`{name}`", value, SCALES


def _kernels(description: Any) -> Iterator[Mapping[str, Any]]:
    """The description of a kernel, and those of all kernels that it consists of."""
    if isinstance(description, Mapping):
        yield description
        for member in description.values():
            for value in member if isinstance(member, Sequence) else (member,):
                yield from _kernels(value)


def _kernel_numbers(description: Any) -> Iterator[tuple[str, float]]:
    """Every positive number of a kernel's description that is not the number of a column, with its name."""
    for kernel in _kernels(description):
        for name, member in kernel.items():
            for value in member if isinstance(member, Sequence) else (member,):
                if isinstance(value, int | float) and name != "columns" and value > 0:
                    yield name, float(value)


def theory_settings(theory: Theory, algorithm: str, seed: int) -> EngineSettings:
    """The engine's settings in theory mode; raises ValueError for a model that cannot exist."""
    noise = theory.noise / theory.scale
    lam = theory.regularization if theory.regularization is not None else noise**2
    settings = algorithm_named(algorithm).settings(
        EngineSettings(
            kernel=build(dict(theory.kernel)),
            lam=lam,
            xi=noise,
            F=theory.norm / theory.scale,
            delta=theory.delta,
            threshold=theory.threshold,
            q_bar=theory.q_bar,
            confidence=theory.confidence,
            seed=seed,
        )
    )
    return settings.replace(rule=theory.rule) if theory.rule else settings


def auto_options(configuration: Configuration) -> AutoOptions:
    """Auto mode's options for the study's goal, repeats policy and noise."""
    noise, repeats = configuration.noise, configuration.repeats
    options = AutoOptions.of(
        configuration.goal,
        noisy=False if noise == "none" else None,
        noise=None if isinstance(noise, str) else noise,
    )
    if repeats == "auto":
        return options
    limits = {"allowed": None, "never": 1}
    return replace(options, repeats=repeats if isinstance(repeats, int) else limits[repeats])


def direction_of(configuration: Configuration) -> Literal["maximize", "minimize"]:
    """What the model of the study's first quantity calls good; near a target, larger is as good as smaller."""
    return "minimize" if configuration.objective.direction is Direction.MINIMIZE else "maximize"


def model_warnings(columns: Sequence[Column], numbers: Array, codes: Array) -> tuple[Finding, ...]:
    """What the model can make little use of in a table of candidates."""
    features = [feature_column(replace(column, fingerprint=None)) for column in columns if column.role == "feature"]
    molecules = {column.name for column in columns if column.fingerprint is not None}
    return tuple(
        Finding(warning.code, warning.message, column=warning.column)
        for warning in table_warnings(features, numbers, codes)
        if warning.column not in molecules
    )


def check_features(columns: Sequence[Column], first_rows: int, rows: int, most: int) -> None:
    """Refuse candidates of which the model would make more than `most` numbers: a text has one for each level."""
    features = _most_features(columns, first_rows)
    if rows * features > most:
        message = (
            f"The model would make {features:,} features of each of {rows:,} candidates, and this server takes at most"
            f" {most:,} in all. Leave out rows, or declare texts with many values as attributes."
        )
        raise InvalidCandidates([Finding("too-many-features", message)])


def _most_features(columns: Sequence[Column], first_rows: int) -> int:
    """How many features the model makes of each candidate at most, if it learns from a first block of so many."""
    texts = [column for column in columns if column.role == "feature" and column.kind == "text"]
    others = sum(column.role == "feature" for column in columns) - len(texts)
    return others + sum(
        column.fingerprint.counts if column.fingerprint else min(len(column.levels), most_levels(first_rows))
        for column in texts
    )


def feature_column(column: Column) -> FeatureColumn:
    return FeatureColumn(column.name, column.kind, column.levels, column.fingerprint is not None)


def _reason(error: Exception) -> str:
    """What is wrong, without repeating what was sent."""
    if isinstance(error, ValueError):
        return str(error)
    return "the description of the kernel is incomplete or has wrong members"
