"""What the engine knows after a prefix of the ledger."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from app.domain.errors import Conflict
from app.domain.studies import Configuration, Direction, Theory
from app.engine import Settings, State, add_candidates, measure, member, revise, start, start_from
from app.engine.auto import (
    Encoding,
    FeatureColumn,
    Fit,
    Objective,
    Observed,
    Options,
    begin,
    fit,
    learn_encoding,
    needs_refit,
    settings_for,
)
from app.engine.kernels import Gaussian, build
from app.services.tally import Tally
from app.storage.candidates import Block

DEFAULT = "bbkb"

Array = NDArray[Any]
Load = Callable[[Block], tuple[Array, Array]]
"""Numbers and codes of a block of candidates."""


@dataclass(frozen=True, eq=False)
class Model:
    """A tally and what follows from it: features, fit (auto mode), posterior."""

    tally: Tally
    encoding: Encoding
    objective: Objective
    state: State
    fit: Fit | None = None

    @cached_property
    def observed(self) -> Observed:
        return observed_of(self.tally)

    @property
    def nbytes(self) -> int:
        arrays = [value for value in vars(self.state).values() if isinstance(value, np.ndarray)]
        return sum(array.nbytes for array in arrays) + self.state.Z.nbytes


def advance(base: Model | None, tally: Tally, load: Load) -> Model:
    """The model of `tally`, from that of an earlier prefix if nothing in between forbids it."""
    try:
        model = _features(base, tally, load)
        model = _theory(base, model) if tally.configuration.theory else _auto(base, model)
    except ValueError as error:
        raise Conflict(f"The model does not fit the candidates: {error}.") from error
    return _handed_out(model)


def options_of(tally: Tally) -> Options:
    """Auto mode's options for the study's goal, repeats policy and noise."""
    wanted = tally.configuration
    options = Options.of(wanted.goal, noisy=False if wanted.noise == "none" else None)
    if wanted.repeats == "auto":
        return options
    most = {"allowed": None, "never": 1}
    return replace(options, repeats=wanted.repeats if isinstance(wanted.repeats, int) else most[wanted.repeats])


def observed_of(tally: Tally) -> Observed:
    return Observed.of(tally.rows, tally.candidates[tally.alive], tally.values[tally.alive])


def theory_settings(theory: Theory, algorithm: str, seed: int) -> Settings:
    """The engine's settings of a study in theory mode; ValueError for what cannot be."""
    scale = theory.scale
    noise = theory.noise / scale
    lam = theory.regularization if theory.regularization is not None else noise**2
    wanted = Settings(
        kernel=build(theory.kernel),
        lam=lam,
        xi=noise,
        F=theory.norm / scale,
        delta=theory.delta,
        threshold=theory.threshold,
        q_bar=theory.q_bar,
        confidence=theory.confidence,
        seed=seed,
    )
    settings = member(algorithm).settings(wanted)
    return settings.but(rule=theory.rule) if theory.rule else settings


def _features(base: Model | None, tally: Tally, load: Load) -> Model:
    """The features of every candidate; the encoding is learnt from the first block and holds for those added later."""
    if base is not None and _continues(base.tally, tally):
        state = base.state
        for block in tally.blocks[len(base.tally.blocks) :]:
            state = add_candidates(state, base.encoding.apply(*load(block)))
        return Model(tally, base.encoding, base.objective, state, base.fit)
    columns = [FeatureColumn(c.name, c.kind, c.levels) for c in tally.columns if c.role == "feature"]
    encoding = learn_encoding(columns, *load(tally.blocks[0]), tally.configuration.columns)
    X = np.concatenate([encoding.apply(*load(block)) for block in tally.blocks])
    objective = Objective(_direction(tally.configuration))
    return Model(tally, encoding, objective, start(X, Settings(Gaussian(1.0), dictionary="none")))


def _continues(before: Tally, now: Tally) -> bool:
    """Whether the same candidates, read the same way, are the first ones now."""
    known = len(before.blocks)
    return now.blocks[:known] == before.blocks and before.configuration.columns == now.configuration.columns


def _theory(base: Model | None, model: Model) -> Model:
    configuration = model.tally.configuration
    theory = configuration.theory or Theory()
    settings = theory_settings(theory, configuration.algorithm, configuration.seed)
    objective = Objective(_direction(configuration), theory.offset, theory.scale)
    if base is not None and base.state.settings == settings and base.objective == objective:
        return _taught(base, model)
    step, sums = len(model.tally.issued) + 1, _sums(model.observed, objective)
    return Model(model.tally, model.encoding, objective, start_from(model.state.X, settings, *sums, step=step))


def _auto(base: Model | None, model: Model) -> Model:
    """Fit anew while that is cheap, later when the data grew by a share; in between measurements are just taken in."""
    configuration, observed = model.tally.configuration, model.observed
    if not observed.size:
        return model
    previous = base.fit if base is not None and _same_task(base.tally.configuration, configuration) else None
    if base is not None and previous is not None and _still_fits(previous, base.tally, model):
        return _taught(base, model)
    fitted = fit(model.state.X, model.encoding.layout, observed, _direction(configuration), previous)
    state = _begin(model, fitted, step=len(model.tally.issued) + 1)
    return Model(model.tally, model.encoding, fitted.objective, state, fitted)


def _begin(model: Model, fitted: Fit, step: int) -> State:
    """The state of everything measured; an algorithm other than the default insists on settings of its own."""
    configuration, X, options = model.tally.configuration, model.state.X, options_of(model.tally)
    if configuration.algorithm == DEFAULT:
        return begin(X, fitted, model.observed, options, configuration.seed, step)
    settings = member(configuration.algorithm).settings(settings_for(fitted, options, configuration.seed))
    return start_from(X, settings, *_sums(model.observed, fitted.objective), step=step)


def _still_fits(previous: Fit, before: Tally, model: Model) -> bool:
    return not (needs_refit(previous, model.observed) or _altered(before, model.tally))


def _same_task(before: Configuration, now: Configuration) -> bool:
    """Whether what was fitted before still speaks of the same thing."""
    return all(
        getattr(before, name) == getattr(now, name)
        for name in ("direction", "algorithm", "goal", "repeats", "noise", "seed", "theory", "columns")
    )


def _direction(configuration: Configuration) -> Literal["maximize", "minimize"]:
    return "maximize" if configuration.direction is Direction.MAXIMIZE else "minimize"


def _taught(base: Model, model: Model) -> Model:
    """The posterior with what came since `base`; from scratch if something earlier was changed."""
    tally, state, known = model.tally, model.state, len(base.tally.values)
    new = tally.alive[known:]
    if _altered(base.tally, tally):
        state = revise(state, *_sums(model.observed, base.objective))
    elif new.any():
        values = base.objective.to_model(tally.values[known:][new])
        state = measure(state, tally.candidates[known:][new], values, expected=False)
    return Model(tally, model.encoding, base.objective, state, base.fit)


def _altered(before: Tally, now: Tally) -> bool:
    known = len(before.values)
    return not (
        np.array_equal(before.alive, now.alive[:known]) and before.values.tobytes() == now.values[:known].tobytes()
    )


def _sums(observed: Observed, objective: Objective) -> tuple[Array, Array]:
    return observed.counts, observed.sums(objective.to_model(observed.values))


def _handed_out(model: Model) -> Model:
    """Pending measurements and switched-off candidates, as they are at this moment."""
    tally = model.tally
    pending = np.zeros(tally.rows, dtype=np.int64)
    for one in tally.pending.values():
        pending[one.candidate] += one.left
    available = np.ones(tally.rows, dtype=bool)
    available[list(tally.unavailable)] = False
    state = model.state.but(pending=pending, available=available)
    return Model(tally, model.encoding, model.objective, state, model.fit)
