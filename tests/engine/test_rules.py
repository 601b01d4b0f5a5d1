"""Each rule bounds the true ratios, and a sharper rule never makes a smaller batch."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine import Ask, EngineSettings, State, choose, expect, spectrum, start
from app.engine.kernels import Gaussian
from app.engine.rules import ExactRule, LocalRule, rule_of
from app.engine.shortlist import Shortlist
from app.engine.stability import Rescues
from app.engine.sweep import covariance_rows
from tests.engine import oracle
from tests.engine.problems import Lab, lab, labs


def true_ratios(state: State, batch: list[int]) -> float:
    s = state.settings
    K, S = s.kernel.matrix(state.X, state.X), state.S.tolist()
    rows = np.repeat(np.arange(len(state.X)), state.counts).tolist()
    projected = oracle.projected_ratio(K, S, rows, batch, s.lam)
    return float(max(projected.max(), oracle.unprojected_ratio(K, S, rows, batch, s.lam).max()))


def bound_of(state: State, batch: list[int]) -> float:
    """The rule's bound after a batch, whatever it thinks of it."""
    rescues = Rescues()
    rule = rule_of(state, rescues)
    shortlist = Shortlist(state, 1.0, np.full(len(state.X), 1000), rescues)
    for number in batch:
        pick = shortlist.look_at(number)
        rule.add(pick, 1)
        shortlist.hallucinate(number, 1)
    return rule.bound_if(shortlist.look_at(batch[0]), 0)


@pytest.mark.parametrize(
    ("rule", "name"), [("global", "lemma_1"), ("local", "lemma_3"), ("exact", "exact"), ("product", "proposition_1")]
)
@given(made=labs(), seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_lemmas_1_and_3_and_the_exact_rule_bound_the_true_ratio(rule: str, name: str, made: Lab, seed: int) -> None:
    made = Lab(
        made.X,
        made.f,
        made.noise,
        made.settings.replace(rule=rule, dictionary="all" if rule == "product" else "sampled"),
    )
    state = made.begin([0, 1, 2])
    batch = np.random.default_rng(seed).integers(0, len(made.X), 6).tolist()
    if rule == "product":
        batch = [number for number in batch if number in (0, 1, 2)] or [0]
    assert bound_of(state, batch) >= true_ratios(state, batch) * (1 - 1e-6)


@given(made=labs(rule="exact", threshold=1.0), seed=st.integers(0, 1000))
@settings(max_examples=25, deadline=None)
def test_the_exact_rule_is_the_true_ratio_itself_once_the_lemmas_fail(made: Lab, seed: int) -> None:
    state = made.begin([0, 1, 2])
    batch = np.random.default_rng(seed).integers(0, len(made.X), 6).tolist()
    if state.leverage[batch].min() > 1e-3:
        assert bound_of(state, batch) == pytest.approx(true_ratios(state, batch), rel=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_batches_of_global_are_at_most_those_of_local_and_those_of_exact(seed: int) -> None:
    state, _ = lab(seed, lam=0.5).run([0, 1], 60)
    sizes = [
        len(choose(state.replace(settings=state.settings.replace(rule=rule)), Ask(alpha=1.0)).picks)
        for rule in ("global", "local", "exact")
    ]
    assert sizes == sorted(sizes)


def test_the_sharper_rules_are_worth_their_price() -> None:
    state, _ = lab(1, A=100, lam=0.5, confidence="tight", inclusion="independent").run([0, 1], 100)
    sizes = [
        len(choose(state.replace(settings=state.settings.replace(rule=rule)), Ask(alpha=3.0)).picks)
        for rule in ("global", "local", "exact")
    ]
    assert sizes[0] < sizes[1] < sizes[2]


@pytest.mark.parametrize("rule", ["global", "local", "exact", "product", "sequential"])
def test_a_threshold_of_1_gives_batches_of_one(rule: str) -> None:
    _, batches = lab(rule=rule, threshold=1.0).run([0, 1], 12)
    assert [len(batch) for batch in batches[1:]] == [1] * 10


def test_the_covariance_rows_are_those_of_the_posterior() -> None:
    made = lab()
    state, _ = made.run([0, 1], 40)
    rows = np.repeat(np.arange(40), state.counts).tolist()
    full, projected = covariance_rows(state, np.array([3, 17]), Rescues())
    expected = oracle.nystrom_posterior(made.K, state.S.tolist(), rows, np.zeros(len(rows)), made.settings.lam).cov
    np.testing.assert_allclose(full, expected[[3, 17]], atol=1e-8)
    inner = oracle.projected_cov(made.K, state.S.tolist(), rows, made.settings.lam)
    np.testing.assert_allclose(projected, inner[[3, 17]], atol=1e-8)


@pytest.mark.parametrize("kind", [LocalRule, ExactRule])
def test_runs_and_single_choices_give_the_same_bound(kind: type) -> None:
    state, _ = lab(lam=0.5).run([0, 1], 40)
    pick = Shortlist(state, 1.0, np.full(40, 1000), Rescues()).look_at(7)
    together, singly = kind(state, Rescues()), kind(state, Rescues())
    together.add(pick, 9)
    for _ in range(9):
        singly.bound_if(pick, 1)
        singly.add(pick, 1)
    assert together.bound_if(pick, 3) == pytest.approx(singly.bound_if(pick, 3), rel=1e-9)


@pytest.mark.parametrize("kind", [LocalRule, ExactRule])
@given(seed=st.integers(0, 1000))
@settings(max_examples=20, deadline=None)
def test_rows_fetched_ahead_change_no_bound(kind: type, seed: int) -> None:
    rng = np.random.default_rng(seed)
    state, _ = lab(lam=0.5).run([0, 1], 40)
    shortlist = Shortlist(state, 1.0, np.full(40, 1000), Rescues())
    ahead, alone = kind(state, Rescues(), lambda n: rng.integers(0, 40, n)), kind(state, Rescues())
    for number in rng.integers(0, 40, 12).tolist():
        pick = shortlist.look_at(number)
        assert ahead.bound_if(pick, 2) == pytest.approx(alone.bound_if(pick, 2), rel=1e-9)
        ahead.add(pick, 1)
        alone.add(pick, 1)


@pytest.mark.parametrize("rule", ["local", "exact"])
def test_a_rule_needs_no_dictionary(rule: str) -> None:
    state = start(lab().X, lab(rule=rule).settings)
    assert len(choose(state, Ask(min_size=3, max_size=3, alpha=1.0)).picks) == 3


@pytest.mark.parametrize("most_distinct", [0, 128])
def test_the_exact_rule_meets_leverages_beside_which_a_measurement_is_lost(
    most_distinct: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With leverages of 1e30, C_BB + 1/n of equal candidates is singular to the last digit."""
    monkeypatch.setattr(spectrum, "MOST_DISTINCT", most_distinct)
    settings = EngineSettings(Gaussian(1.0), lam=1e-30, rule="exact", threshold=1e9, hallucination="full")
    state = expect(start(np.zeros((6, 1)), settings), np.arange(4))
    batch = choose(state, Ask(min_size=5, max_size=8))
    assert len(batch.picks) >= 5
    assert np.isfinite(batch.ratio_bound)
