"""Studies looked at after some results: everything that auto mode says then, beside what the table knows."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from app.arrays import BoolArray, FloatArray, IndexArray
from app.domain.predictions import NextBatch, RemainingGain
from app.engine import State, rng_at
from app.engine.auto import (
    AutoOptions,
    FittedModel,
    Gains,
    Observed,
    Predictive,
    contenders,
    corrected_share,
    draw_jointly,
    gains_over,
    leave_one_out,
    still_possible,
    track_record,
    value_distribution,
)
from app.modelling.outlook import NEGLIGIBLE, Standing, advice
from benchmarks.labs.policies import Auto, sign_of
from benchmarks.labs.protocol import Protocol
from benchmarks.labs.simulation import measure
from benchmarks.labs.tables import Table

MOMENTS = (10, *range(20, 61, 5))
"""Results after which a study is looked at: early, then after every batch from the first after which stopping may be
advised."""
SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Moment:
    """What auto mode said after n results, and what is true; gains as a share of the table's range."""

    table: str
    seed: int
    n: int
    covered: tuple[float, ...]
    """The share of unmeasured candidates inside their interval, for each of SHARES."""
    true_gain: float
    expected: float
    upper: float
    chance_measured: float
    is_measured: bool
    next_chance: float
    """That the next batch holds a better candidate than the recommended one."""
    next_better: bool
    possible: float
    """The share of the list that can still be the best."""
    best_possible: bool
    """Whether the best candidate is among these, or measured."""
    noisy: bool = False
    advice: str = ""
    """What the service would advise with its default bound: ask or stop."""
    negligible: float = 0.0
    """The gain that this bound calls negligible: a share of the range of the results so far."""


@dataclass(frozen=True, eq=False)
class Said:
    """The outlook of a moment, as the service computes it."""

    gains: Gains
    next_batch: Gains
    chance_measured: float
    possible: IndexArray


def study(table: Table, seed: int, noisy: bool = False) -> Iterable[Moment]:
    """A study in batches of five, looked at after MOMENTS results; with noise, nothing is said about it."""
    protocol, rng = Protocol(max(MOMENTS), 5, noisy), rng_at(seed, f"labs {table.name}", 0)
    table = table.permuted(rng.permutation(len(table.truth)))
    policy = Auto(table, protocol, seed, AutoOptions() if noisy else AutoOptions(noisy=False))
    numbers, values = np.zeros(0, dtype=np.int64), np.zeros(0)
    while len(numbers) <= protocol.T:
        observed = Observed.of(len(table.truth), numbers, values)
        picks = policy.ask(observed, protocol.q)
        if len(numbers) in MOMENTS:
            yield look(table, policy, observed, picks)
        if len(picks) == 0:
            break
        numbers = np.concatenate((numbers, picks))
        values = np.append(values, [measure(table, int(pick), protocol, rng) for pick in picks])


def look(table: Table, policy: Auto, observed: Observed, picks: IndexArray) -> Moment:
    """Everything that is said after these results, and before the next picks."""
    state, model = policy.state(observed)
    student = value_distribution(state, model, observed, policy.options)
    recommended, measured = policy.recommend(observed), observed.counts > 0
    said = outlook(state, model, observed, policy.options, recommended, np.unique(picks), policy.seed)
    truth = sign_of(table) * table.truth
    width, best = float(np.ptp(truth)), truth == truth.max()
    upper = said.gains.quantile(CONFIDENCE)
    left_out = leave_one_out(state.X, model, observed)
    standing = Standing(
        results=observed.size,
        pending=0,
        choices=len(picks),
        tolerance=NEGLIGIBLE * float(np.ptp(observed.values)),
        stated=False,
        unit="",
        skill=1.0 if left_out is None or measured.all() else left_out.skill,
    )
    remaining = RemainingGain(said.gains.expected_up_to(upper), upper)
    next_batch = NextBatch(said.next_batch.chance, said.next_batch.expected_up_to(upper))
    return Moment(
        table=table.name,
        seed=policy.seed,
        n=observed.size,
        covered=_covered(Predictive(student), model.objective.to_model(table.truth), ~measured),
        true_gain=float(truth.max() - truth[recommended]) / width,
        expected=remaining.expected / width,
        upper=upper / width,
        chance_measured=said.chance_measured,
        is_measured=bool(measured[best].any()),
        next_chance=said.next_batch.chance,
        next_better=bool((truth[picks] > truth[recommended]).any()),
        possible=len(said.possible) / len(truth),
        best_possible=bool(measured[best].any() or best[said.possible].any()),
        noisy=policy.protocol.noisy,
        advice=advice(standing, remaining, next_batch).do,
        negligible=standing.tolerance / width,
    )


def outlook(
    state: State,
    model: FittedModel,
    observed: Observed,
    options: AutoOptions,
    recommended: int,
    picks: IndexArray,
    seed: int,
) -> Said:
    """As `app.modelling.outlook` does, which has a study of the service."""
    student = value_distribution(state, model, observed, options)
    drawn = contenders(state, student, np.append(picks, recommended))
    draws = draw_jointly(state, student, drawn, seed, observed.size).values
    values, row = model.objective.sign * model.objective.to_user(draws), int(np.searchsorted(drawn, recommended))
    record = track_record(state.X, model, observed, options)
    gains = Gains.of(gains_over(values, np.arange(len(drawn)), row), record)
    return Said(
        gains=gains,
        next_batch=Gains.of(gains_over(values, np.searchsorted(drawn, picks), row), record),
        chance_measured=corrected_share(observed.counts[drawn[values.argmax(axis=0)]] > 0, record),
        possible=still_possible(state, student, recommended, gains.chance, 1 - CONFIDENCE),
    )


def _covered(predictive: Predictive, truth: FloatArray, unmeasured: BoolArray) -> tuple[float, ...]:
    off = np.abs(truth - predictive.location)[unmeasured]
    inside = [float((off <= predictive.half_width(share)[unmeasured]).mean()) for share in SHARES]
    return tuple(np.round(inside, 4).tolist())
