"""The batch's covariances with itself bracket the bounds over all candidates, so the rules decide as without them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine import Ask, State, choose
from app.engine.rules import ExactRule, LazyRule, LocalRule, Rule
from app.engine.shortlist import Shortlist
from app.engine.spectrum import BatchSpectrum
from app.engine.stability import Rescues
from tests.engine import oracle
from tests.engine.problems import Lab, lab, labs

ROUNDING = 1 + 1e-6


def batch_of(made: Lab, seed: int) -> tuple[State, list[int]]:
    return made.begin([0, 1, 2]), np.random.default_rng(seed).integers(0, len(made.X), 6).tolist()


def spectrum_of(state: State, batch: list[int]) -> BatchSpectrum:
    spectrum = BatchSpectrum(state, Rescues())
    for number in batch[:-1]:
        spectrum.add(number, 1)
    return spectrum


def reliable(state: State) -> bool:
    return bool(state.leverage.min() > 1e-6)


@given(made=labs(), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_lemma_3_lies_between_the_batch_and_the_largest_eigenvalue(made: Lab, seed: int) -> None:
    state, batch = batch_of(made, seed)
    spectrum, rows = spectrum_of(state, batch), np.repeat(np.arange(len(state.X)), state.counts).tolist()
    if reliable(state):
        bounds = oracle.local_bound(made.K, state.S.tolist(), rows, batch, state.settings.lam)
        assert spectrum.lemma_3_if(batch[-1], 1) == pytest.approx(bounds[batch].max(), rel=1e-6)
        assert bounds.max() <= spectrum.highest_if(batch[-1], 1) * ROUNDING
        assert spectrum.highest_if(batch[-1], 1) <= spectrum.bordered_if(batch[-1], 1) * ROUNDING
        assert spectrum.bordered_if(batch[-1], 1) <= oracle.global_bound(state.leverage, batch) * ROUNDING


@given(made=labs(), seed=st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_the_true_ratio_lies_between_the_batch_and_the_largest_eigenvalue(made: Lab, seed: int) -> None:
    state, batch = batch_of(made, seed)
    spectrum, rows = spectrum_of(state, batch), np.repeat(np.arange(len(state.X)), state.counts).tolist()
    if reliable(state):
        S, lam = state.S.tolist(), state.settings.lam
        projected = oracle.projected_ratio(made.K, S, rows, batch, lam)
        ratios = np.maximum(projected, oracle.unprojected_ratio(made.K, S, rows, batch, lam))
        assert spectrum.ratio_if(batch[-1], 1) == pytest.approx(ratios[batch].max(), rel=1e-5)
        assert ratios.max() <= spectrum.highest_if(batch[-1], 1) * ROUNDING


@given(made=labs(), seed=st.integers(0, 1000), n=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_a_factorisation_tells_on_which_side_of_a_number_the_largest_eigenvalue_is(
    made: Lab, seed: int, n: int
) -> None:
    state, batch = batch_of(made, seed)
    spectrum = spectrum_of(state, batch)
    highest = spectrum.highest_if(batch[-1], n)
    assert spectrum.is_at_most_if(batch[-1], n, 1 + (highest - 1) * ROUNDING)
    assert not spectrum.is_at_most_if(batch[-1], n, 1 + (highest - 1) / ROUNDING)


def test_the_bound_of_a_batch_never_falls_below_its_largest_eigenvalue() -> None:
    """Also where a bound that leaves room was looked at before, and where it had been beyond the threshold."""
    state = lab(2, rule="local", threshold=1.5).begin([0, 1, 2])
    rule = LocalRule(state, Rescues())
    shortlist = Shortlist(state, 1.0, np.full(len(state.X), 1000), Rescues())
    for number in np.random.default_rng(0).integers(0, len(state.X), 30).tolist():
        pick = shortlist.look_at(number)
        exact = rule._spectrum.highest_if(number, 1) if rule._catch_up_spectrum() else np.inf
        if rule._spectrum_holds(number, 1):
            assert exact <= state.settings.threshold * ROUNDING
        rule.add(pick, 1)
        assert rule._catch_up_spectrum()
        assert rule._spectrum.highest >= exact / ROUNDING


def test_a_batch_beyond_the_threshold_leaves_no_room() -> None:
    """A loose bound on the batch so far must not let in a candidate that breaks the rule."""
    state = lab(2, rule="local", threshold=1.5).begin([0, 1, 2])
    rule = LocalRule(state, Rescues())
    rule._spectrum.add(0, 1)
    rule._spectrum._highest = 99.0
    beyond = [number for number in range(len(state.X)) if rule._spectrum.highest_if(number, 50) > 1.5 * ROUNDING]
    assert beyond
    assert not any(rule._spectrum_holds(number, 50) for number in beyond)


@pytest.mark.parametrize("kind", [LocalRule, ExactRule])
@given(made=labs(), seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_a_rule_decides_as_its_sharp_bound_does(kind: type[LazyRule], made: Lab, seed: int) -> None:
    state, rng = made.begin([0, 1, 2]), np.random.default_rng(seed)
    screened, sharp = kind(state, Rescues()), kind(state, Rescues())
    shortlist = Shortlist(state, 1.0, np.full(len(state.X), 1000), Rescues())
    for number in rng.integers(0, len(state.X), 10).tolist():
        pick, n = shortlist.look_at(number), int(rng.integers(1, 4))
        bound = sharp.bound_if(pick, n)
        if abs(bound - state.settings.threshold) > 1e-6 * bound:
            assert screened.allows(pick, n) == sharp.holds(bound)
        known = screened.known_bound(pick, n)
        assert screened.holds(known) == screened.allows(pick, n)
        screened.add(pick, n)
        sharp.add(pick, n)


@pytest.mark.parametrize("rule", ["local", "exact"])
def test_most_batches_need_no_sweep(rule: str) -> None:
    made = lab(3, A=80, rule=rule, lam=0.5, resparsify="lazy")
    state, _ = made.run([0, 1], 60)
    looked = 0
    for seed in range(10):
        rescues = Rescues()
        tried = LocalRule(state, rescues) if rule == "local" else ExactRule(state, rescues)
        shortlist = Shortlist(state, 1.0, np.full(80, 1000), rescues)
        for number in np.random.default_rng(seed).integers(0, 80, 30).tolist():
            pick = shortlist.look_at(number)
            if not tried.allows(pick, 1):
                break
            tried.add(pick, 1)
        looked += "_drift" in tried.__dict__
    assert looked < 10


@pytest.mark.parametrize("rule", ["local", "exact"])
def test_a_batch_of_more_distinct_candidates_than_the_spectrum_holds_ends_as_it_should(
    rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, _ = lab(4, A=60, lam=2.0, rule=rule).run([0, 1], 40)
    limit = np.ones(60, dtype=np.int64)
    expected = choose(state, Ask(alpha=1.0, limit=limit))
    monkeypatch.setattr("app.engine.spectrum.MOST_DISTINCT", 3)
    assert len(expected.picks) > 3
    assert choose(state, Ask(alpha=1.0, limit=limit)).picks.tolist() == expected.picks.tolist()


@pytest.mark.parametrize("rule", ["local", "exact"])
def test_a_batch_is_that_of_the_sharp_bound_alone(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    states = [lab(seed, A=60, lam=0.5, rule=rule, resparsify="lazy").run([0, 1], 50)[0] for seed in range(4)]
    batches = [choose(state, Ask(alpha=2.0)).picks.tolist() for state in states]
    monkeypatch.setattr(LazyRule, "allows", Rule.allows)
    assert batches == [choose(state, Ask(alpha=2.0)).picks.tolist() for state in states]
