"""The model of a study: what the engine knows after a prefix of the ledger."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from app.arrays import Array
from app.domain.candidates import CandidateBlock, Column
from app.domain.errors import ComputationTooLong, Conflict
from app.domain.events import EarlierResults
from app.domain.studies import Configuration, Theory
from app.engine import (
    EngineSettings,
    Spread,
    State,
    TimeLimitReached,
    add_candidates,
    algorithm_named,
    measure,
    revise,
    spread_over,
    start,
    start_from,
    sweep_threads,
    time_limit,
)
from app.engine.auto import (
    Encoding,
    FittedModel,
    Layout,
    ObjectiveTransform,
    Observed,
    fit,
    learn_encoding,
    needs_refit,
    settings_for,
    sums_for,
    weights_for,
)
from app.engine.auto.encoding import Fingerprints
from app.engine.kernels import Gaussian
from app.modelling.borrowing import borrowed_features
from app.modelling.engine_settings import auto_options, direction_of, feature_column, theory_settings
from app.modelling.ledger_state import LedgerState

DEFAULT_ALGORITHM = "bbkb"
OVERHEAD = 32 * 1024  # bytes of a cached model beside its arrays, measured with studies of 200 candidates

BEYOND_THE_SCALE = "values beyond 1e9 scales clipped"
"""A rescue of theory mode: with it, nothing is guaranteed, and every batch says so."""

RawFeatures = tuple[Array, Array, Mapping[str, Array]]
"""The numbers and the codes of a block of candidates, and the fingerprints of its molecules by column."""
LoadFeatures = Callable[[CandidateBlock], RawFeatures]


@dataclass(frozen=True, eq=False)
class Model:
    """A ledger state and what follows from it: features, fit (auto mode) and posterior."""

    ledger: LedgerState
    encoding: Encoding
    objective: ObjectiveTransform
    state: State
    fit: FittedModel | None = None
    begun_at: int | None = None
    """The step at which the posterior was begun anew with this fit; None if results were taken in since."""
    is_outline: bool = False
    """Whether the state knows the features alone: what it knows of results follows from the fit (`whole`)."""

    @property
    def layout(self) -> Layout:
        """What each column of the features means; what earlier studies expect is at the end."""
        layout = self.encoding.layout
        borrowed = self.state.X.shape[1] - len(layout.roles)
        return layout.with_borrowed(borrowed) if borrowed else layout

    @cached_property
    def observed(self) -> Observed:
        ledger, counted = self.ledger, self.ledger.counted
        errors = ledger.own_errors[counted] if ledger.errors and ledger.configuration.theory is None else None
        return Observed.of(ledger.rows, ledger.candidates[counted], ledger.values[counted], errors)

    @property
    def shards(self) -> tuple[int, ...]:
        """The first candidate of each shard of the embedding; empty if it is one piece."""
        starts = self.state.embedding.starts
        return starts if len(starts) > 1 else ()

    def to_user(self, values: ArrayLike) -> Array:
        """Values in model units as the user's, within the limits of the objective."""
        limits, user = self.ledger.configuration.objective.limits, self.objective.to_user(values)
        return user if limits is None else np.clip(user, limits.low, limits.high)

    @property
    def nbytes(self) -> int:
        """What it takes in memory: its arrays, and what Python and the allocator add to those of a small study."""
        arrays = [value for value in vars(self.state).values() if isinstance(value, np.ndarray)]
        return sum(array.nbytes for array in arrays) + self.state.embedding.nbytes + self.ledger.nbytes + OVERHEAD


@contextmanager
def within(seconds: float, threads: int = 1, spread: Spread | None = None) -> Iterator[None]:
    """Refuse what is computed inside with `ComputationTooLong` if it takes longer.

    `threads` may share each sweep, and hosts hold the shards of long lists.
    """
    try:
        with time_limit(seconds), sweep_threads(threads), spread_over(spread):
            yield
    except TimeLimitReached as error:
        raise ComputationTooLong from error


def advance(base: Model | None, ledger: LedgerState, load: LoadFeatures) -> Model:
    """The model after `ledger`, from the model of an earlier prefix where nothing in between forbids it."""
    try:
        model = with_features(base, ledger, load)
        model = _with_clipped(_theory(base, model)) if ledger.configuration.theory else _auto(base, model, load)
    except ValueError as error:
        raise Conflict(f"The model does not fit the candidates: {error}.") from error
    return _with_pending(model)


def with_features(base: Model | None, ledger: LedgerState, load: LoadFeatures) -> Model:
    """The features of every candidate. The encoding is learnt from the first block and used for all later ones."""
    if base is not None and _continues(base.ledger, ledger):
        state = base.state
        for block in ledger.blocks[len(base.ledger.blocks) :]:
            raw = _by_slot(ledger.columns, load(block))
            first = state.X[: ledger.blocks[0].rows, : len(base.encoding.layout.roles)]
            state = add_candidates(
                state, _with_borrowed(ledger, base.encoding, first, base.encoding.apply(*raw), raw[2])
            )
        return Model(ledger, base.encoding, base.objective, state, base.fit)
    columns = [feature_column(column) for column in ledger.columns if column.role == "feature"]
    overrides = {name: dict(override) for name, override in ledger.configuration.columns.items()}
    numbers, codes, fingerprints = _by_slot(ledger.columns, load(ledger.blocks[0]))
    encoding = learn_encoding(columns, numbers, codes, overrides, fingerprints)
    features = [encoding.apply(*_by_slot(ledger.columns, load(block))) for block in ledger.blocks]
    X = features[0] if len(features) == 1 else np.concatenate(features)
    X = _with_borrowed(ledger, encoding, features[0], X, fingerprints)
    objective = ObjectiveTransform(direction_of(ledger.configuration))
    blank = _stored_as(EngineSettings(Gaussian(1.0), dictionary="none"), ledger.configuration)
    return Model(ledger, encoding, objective, start(X, blank.replace(shard=0)))


def _by_slot(columns: Sequence[Column], raw: RawFeatures) -> tuple[Array, Array, Mapping[int, Array]]:
    """The fingerprints by the position of their column among the codes, as the engine reads them."""
    numbers, codes, fingerprints = raw
    texts = [column.name for column in columns if column.role == "feature" and column.kind == "text"]
    return numbers, codes, {texts.index(name): counts for name, counts in fingerprints.items()}


def _continues(before: LedgerState, now: LedgerState) -> bool:
    """Whether the list begins with the candidates it had before, encoded the same way."""
    known = len(before.blocks)
    same_columns = before.configuration.columns == now.configuration.columns
    return now.blocks[:known] == before.blocks and same_columns and _borrows(before) == _borrows(now)


def _borrows(ledger: LedgerState) -> tuple[EarlierResults, ...]:
    """The results of earlier studies that the model heeds: a theory fixes all of it, so then there are none."""
    return ledger.borrowed if ledger.configuration.theory is None and ledger.configuration.is_plain else ()


def _with_borrowed(
    ledger: LedgerState, encoding: Encoding, first: Array, X: Array, fingerprints: Fingerprints
) -> Array:
    """The features X, with what earlier studies expect at the end."""
    borrowed = _borrows(ledger)
    if not borrowed:
        return X
    return np.hstack((X, borrowed_features(borrowed, ledger.columns, encoding, first, X, fingerprints)))


def _theory(base: Model | None, model: Model) -> Model:
    configuration = model.ledger.configuration
    theory = configuration.theory or Theory()
    settings = _stored_as(theory_settings(theory, configuration.algorithm, configuration.seed), configuration)
    objective = ObjectiveTransform(direction_of(configuration), theory.offset, theory.scale)
    if base is not None and base.state.settings == settings and base.objective == objective:
        return _with_results(base, model)
    step, sums = len(model.ledger.bases) + 1, _sums(model.observed, objective)
    return Model(model.ledger, model.encoding, objective, start_from(model.state.X, settings, *sums, step=step))


def _with_clipped(model: Model) -> Model:
    """The model, with the results counted that are too large for the scale of the study, as they are now."""
    clipped = model.objective.beyond(model.observed.values)
    others = {name: count for name, count in model.state.rescues.items() if name != BEYOND_THE_SCALE}
    rescues = others | ({BEYOND_THE_SCALE: clipped} if clipped else {})
    return replace(model, state=model.state.replace(rescues=rescues))


def _auto(base: Model | None, model: Model, load: LoadFeatures) -> Model:
    """Fit anew while that is cheap, later when the data have grown by a share; otherwise only take the results in."""
    configuration, observed = model.ledger.configuration, model.observed
    previous = _previous_fit(base, model.ledger)
    goes_on = base is not None and previous is not None and _still_fits(previous, base.ledger, model)
    if base is not None and base.is_outline and (goes_on or not observed.size):
        return advance(whole(base), model.ledger, load)
    if not observed.size:
        return model
    if base is not None and goes_on:
        return _with_results(base, model)
    noise = auto_options(configuration).noise
    bounds = model.ledger.bounds
    fitted = fit(model.state.X, model.layout, observed, direction_of(configuration), previous, noise, bounds)
    return _begun(model, fitted, step=len(model.ledger.bases) + 1)


def _previous_fit(base: Model | None, ledger: LedgerState) -> FittedModel | None:
    """The fit of an earlier prefix, unless a setting that it depends on has changed."""
    configuration = ledger.configuration
    if base is None or base.ledger.configuration.model_settings != configuration.model_settings:
        return None
    same = _borrows(base.ledger) == _borrows(ledger) and base.ledger.bounds == ledger.bounds
    return base.fit if same else None


def whole(model: Model) -> Model:
    """The model that `advance` made when it fitted anew, from its outline; any other model as it is."""
    if not model.is_outline or model.fit is None or model.begun_at is None:
        return model
    return _with_pending(_begun(model, model.fit, model.begun_at))


def _begun(model: Model, fitted: FittedModel, step: int) -> Model:
    """The posterior of everything measured. An algorithm other than the default has settings of its own."""
    configuration, X = model.ledger.configuration, model.state.X
    settings = settings_for(fitted, auto_options(configuration), configuration.seed, len(X))
    if configuration.algorithm != DEFAULT_ALGORITHM:
        settings = algorithm_named(configuration.algorithm).settings(settings)
    settings = _stored_as(settings, configuration)
    weights = weights_for(fitted, model.observed)
    state = start_from(X, settings, *sums_for(fitted, model.observed), step=step, weights=weights)
    return Model(model.ledger, model.encoding, fitted.objective, state, fitted, begun_at=step)


def _stored_as(settings: EngineSettings, configuration: Configuration) -> EngineSettings:
    """With the study's own division and precision of the large arrays."""
    return settings.replace(shard=configuration.shard or 0, precision=configuration.precision or "float64")


def _still_fits(previous: FittedModel, before: LedgerState, model: Model) -> bool:
    return not (needs_refit(previous, model.observed) or _altered(before, model.ledger))


def _with_results(base: Model, model: Model) -> Model:
    """The posterior with the results since `base`; computed from scratch if an earlier result has changed."""
    ledger, state, known = model.ledger, model.state, len(base.ledger.values)
    new = ledger.counted[known:]
    if base.fit is not None and (model.observed.errors is not None or state.weights is not None):
        weights = weights_for(base.fit, model.observed)
        if new.any() or _altered(base.ledger, ledger):
            state = revise(state, *sums_for(base.fit, model.observed), weights)
    elif _altered(base.ledger, ledger):
        state = revise(state, *_sums(model.observed, base.objective))
    elif new.any():
        values = base.objective.to_model(ledger.values[known:][new])
        state = measure(state, ledger.candidates[known:][new], values, expected=False)
    same = state is base.state and ledger.rows == base.ledger.rows
    return Model(ledger, model.encoding, base.objective, state, base.fit, base.begun_at if same else None)


def _altered(before: LedgerState, now: LedgerState) -> bool:
    known = len(before.values)
    same_values = (
        np.array_equal(before.counted, now.counted[:known]) and before.values.tobytes() == now.values[:known].tobytes()
    )
    if not (before.errors or now.errors):
        return not same_values
    return not (same_values and np.array_equal(before.own_errors, now.own_errors[:known], equal_nan=True))


def _sums(observed: Observed, objective: ObjectiveTransform) -> tuple[Array, Array]:
    return observed.counts, observed.sums(objective.to_model(observed.values))


def _with_pending(model: Model) -> Model:
    """The model with the pending measurements and the switched-off candidates of this moment.

    A reserved candidate is pending. Asks leave it out (`Terms.reserved`); it may still be the recommended one.
    """
    ledger = model.ledger
    pending = np.zeros(ledger.rows, dtype=np.int64)
    for suggestion in ledger.pending.values():
        pending[suggestion.candidate] += suggestion.remaining
    available = np.ones(ledger.rows, dtype=bool)
    available[list(ledger.unavailable)] = False
    for candidate in ledger.reserved:
        pending[candidate] += 1
    state = model.state.replace(pending=pending, available=available)
    return replace(model, state=state)
