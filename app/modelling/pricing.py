"""What each term of a request costs: how much less the batch is expected to find because of it.

A batch finds as much as its best member exceeds the best measured candidate, on average over joint draws:

    gain(B) = E max(0, max_{x∈B} f(x) − f(x*))        price = gain(batch without the term) − gain(batch)

All batches are judged by the same draws, so that a term that changes nothing costs exactly nothing. A sum of optimistic
values would count five candidates that share one chance as five chances, and was up to a hundred times what the term
really cost (docs/benchmarks/plates.md).

A study of several objectives has no single unit. There the price is a share of the hypervolume: of what the measured
front and the batch without the term are expected to dominate together, the part that is lost.
"""

from collections.abc import Callable, Sequence

import numpy as np

from app.arrays import Array, BoolArray, FloatArray, IndexArray
from app.domain.studies import Objective
from app.engine import Selection
from app.engine.auto import StudentT, draw_jointly, expected_up_to, gains_over, integrated
from app.engine.settings import rng_at
from app.engine.several import sphere_weights
from app.modelling.aiming import Aiming
from app.modelling.model import Model
from app.modelling.terms import Terms

CERTAIN = 0.99
"""Gains count up to this quantile: where skew was taken out by a logarithm, the mean of all gains need not exist."""

DIRECTIONS = 64
"""Random directions over which a hypervolume is averaged."""

GAUSSIAN = 1e9
"""Degrees of freedom at which a Student t is a normal distribution."""


def prices_of(
    batch: Selection, terms: Terms, choose: Callable[[Terms], Selection], cost: Callable[[Sequence[IndexArray]], Array]
) -> dict[str, float]:
    """The price of each term. `cost` says what every batch loses against the first, which has all terms."""
    free = {name: choose(terms.without(name)) for name in terms.names}
    if not free:
        return {}
    losses = cost([batch.picks, *(selection.picks for selection in free.values())])
    return {name: max(0.0, float(loss)) for name, loss in zip(free, losses, strict=True)}


def extra_gains(model: Model, batches: Sequence[IndexArray]) -> Array:
    """(batches − 1,) how much more than the first each of the other batches is expected to find, in the user's unit."""
    state = model.state
    best = int(state.measured[np.argmax(state.mean[state.measured])])
    numbers = _drawn_ones(batches, best)
    draws = _draws(model, numbers, len(state.measured))
    gains = expected_gains(model.objective.sign * model.to_user(draws), numbers, batches, best)
    return np.asarray(gains[1:] - gains[0])


def extra_gains_if_valid(aiming: Aiming, batches: Sequence[IndexArray]) -> Array:
    """The same for one objective with constraints or failures: what fails or is not good enough finds nothing."""
    [objective], step = aiming.objectives, int(aiming.counts.sum())
    model = aiming.known[objective.name]
    measured = np.flatnonzero(aiming.counts)
    expected = _utility(model, objective, model.state.mean)
    good = measured[aiming.meets_constraints()[measured]]
    best = int(good[np.argmax(expected[good])] if len(good) else measured[np.argmin(expected[measured])])
    numbers = _drawn_ones(batches, best)
    drawn = [_draws(quantity, numbers, step, position) for position, quantity in enumerate(aiming.known.values())]
    valid = _are_valid(aiming, drawn, numbers, step)
    valid[np.searchsorted(numbers, best)] = True
    values = np.where(valid, _utility(model, objective, drawn[aiming.aims.aims[0].posterior]), -np.inf)
    gains = expected_gains(values, numbers, batches, best)
    return np.asarray(gains[1:] - gains[0])


def lost_shares(aiming: Aiming, batches: Sequence[IndexArray]) -> Array:
    """(batches − 1,) of the hypervolume expected with each of the other batches, the share that the first lacks."""
    numbers, step = _drawn_ones(batches), int(aiming.counts.sum())
    drawn = [_draws(quantity, numbers, step, position) for position, quantity in enumerate(aiming.known.values())]
    valid = _are_valid(aiming, drawn, numbers, step)
    measured = np.flatnonzero((aiming.counts > 0) & aiming.meets_constraints())
    front = _scaled(aiming, [mean[measured] for mean in aiming.means])
    members, rows = _scaled(aiming, drawn), [np.searchsorted(numbers, batch) for batch in batches]
    volumes = np.zeros(len(batches))
    for w in sphere_weights(aiming.models.ledger.configuration.seed, step, DIRECTIONS, len(front)):
        reached = _scores(front, w).max(initial=0.0)
        scores = np.where(valid, _scores(members, w), 0.0)
        volumes += [np.maximum(scores[batch].max(axis=0), reached).mean() for batch in rows]
    return np.asarray(1 - volumes[0] / np.maximum(volumes[1:], max(volumes[0], np.finfo(float).tiny)))


def expected_gains(values: Array, numbers: IndexArray, batches: Sequence[IndexArray], best: int) -> Array:
    """What each batch is expected to find beyond the candidate `best`; `values` (p, draws) are those of `numbers`."""
    row = int(np.searchsorted(numbers, best))
    gains = [gains_over(values, np.searchsorted(numbers, batch), row) for batch in batches]
    upper = max(float(np.quantile(gain, CERTAIN)) for gain in gains)
    return np.array([expected_up_to(upper, gain) for gain in gains])


def student_of(model: Model) -> StudentT:
    """The posterior from which values are drawn: in theory mode that of the process which the study states."""
    if model.fit is not None:
        return integrated(model.state, model.fit, model.observed)
    state = model.state
    nothing, none = np.zeros(len(state.mean)), np.zeros(len(state.mean), dtype=bool)
    return StudentT(state.mean, state.variance, nothing, 1.0, GAUSSIAN, nothing, none)


def _drawn_ones(batches: Sequence[IndexArray], *others: int) -> IndexArray:
    return np.unique(np.concatenate([*batches, np.array(others, dtype=np.int64)])).astype(np.int64)


def _draws(model: Model, numbers: IndexArray, step: int, position: int = 0) -> FloatArray:
    """(p, draws) values in model units; quantities at other positions have draws of their own."""
    seed = model.ledger.configuration.seed + position
    return draw_jointly(model.state, student_of(model), numbers, seed, step).values


def _utility(model: Model, objective: Objective, values: FloatArray) -> Array:
    """How good values in model units are, in the user's unit."""
    user = model.to_user(values)
    return model.objective.sign * user if objective.target is None else -np.abs(user - objective.target)


def _scaled(aiming: Aiming, values: Sequence[FloatArray]) -> list[FloatArray]:
    """The utilities of an array for each posterior, an array for each objective, in units of the front."""
    aims = aiming.aims
    return [
        (aim.utility(values[aim.posterior]) - origin) / scale
        for aim, origin, scale in zip(aims.aims, aims.origin, aims.scale, strict=True)
    ]


def _scores(utilities: Sequence[FloatArray], w: FloatArray) -> FloatArray:
    """s_w of the scaled utilities, one array per objective: `scalarising` has the identity."""
    lowest = np.min([np.maximum(utility, 0.0) / share for utility, share in zip(utilities, w, strict=True)], axis=0)
    return np.asarray(lowest ** len(w))


def _are_valid(aiming: Aiming, drawn: Sequence[FloatArray], numbers: IndexArray, step: int) -> BoolArray:
    """(p, draws) whether a measurement gives a value, and meets the constraints."""
    valid: BoolArray = np.ones(drawn[0].shape, dtype=bool)
    for bound in aiming.bounds:
        valid &= bound.holds(drawn[bound.posterior])
    if aiming.success is not None:
        lot = rng_at(aiming.models.ledger.configuration.seed, "success", step).random(valid.shape)
        valid &= lot < aiming.success[numbers][:, None]
    return valid
