"""A batch chosen one candidate at a time: what is kept between two choices changes none of them, and saves the work."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engine import Ask, Choose, EngineSettings, Memory, Selection, State, choose, expect, measure, start
from app.engine.hallucination import Hallucination
from app.engine.kernels import Gaussian
from app.engine.several import Aim, Aims, QuantityPosterior, choose_for

A = 150


def state_of(seed: int, rule: str = "global", hallucination: str = "full", dictionary: str = "all") -> State:
    rng = np.random.default_rng(seed)
    X = rng.random((A, 3))
    options = EngineSettings(
        Gaussian(0.5),
        lam=0.05,
        xi=0.2,
        threshold=3.0,
        rule=rule,
        hallucination=hallucination,
        dictionary=dictionary,
        seed=seed,
    )
    measured = rng.choice(A, 12, replace=False)
    state = measure(start(X, options), measured, np.sin(4 * X[measured]).sum(axis=1))
    return expect(state, rng.choice(A, 2, replace=False), [1, 2])


def one_by_one(choose_part: Choose, state: State, size: int, memory: Memory | None) -> list[Selection]:
    """A growing batch of which every choice closes its own half of the list for the next one, and opens the other."""
    parts: list[Selection] = []
    for chosen_before in range(size):
        picks = [int(part.picks[0]) for part in parts]
        ahead = expect(state, picks) if picks else state
        open_ones = np.arange(A) % 2 != (picks[-1] % 2 if picks else 2)
        limit = (ahead.pending == 0).astype(np.int64)
        ask = Ask(3, 1, 1, alpha=0.4, limit=limit, chosen_before=chosen_before, memory=memory)
        parts.append(choose_part(ahead.replace(available=open_ones), ask))
    return parts


def same(kept: list[Selection], anew: list[Selection]) -> None:
    assert [part.picks.tolist() for part in kept] == [part.picks.tolist() for part in anew]
    for known, fresh in zip(kept, anew, strict=True):
        assert (known.ended, known.guaranteed, known.ratio_bound) == (fresh.ended, fresh.guaranteed, fresh.ratio_bound)
        assert known.ucb == pytest.approx(fresh.ucb, rel=1e-9)


@pytest.mark.parametrize("rule", ["global", "local", "exact", "product", "sequential"])
@given(seed=st.integers(0, 10_000), hallucination=st.sampled_from(["full", "projected"]))
@settings(deadline=None, max_examples=10)
def test_what_is_kept_changes_no_choice(rule: str, seed: int, hallucination: str) -> None:
    state = state_of(seed, rule, hallucination, "sampled" if hallucination == "projected" else "all")
    same(one_by_one(choose, state, 8, Memory()), one_by_one(choose, state, 8, None))


@given(seed=st.integers(0, 10_000), hallucination=st.sampled_from(["full", "projected"]))
@settings(deadline=None, max_examples=15)
def test_with_several_posteriors_it_changes_none_either(seed: int, hallucination: str) -> None:
    first, second = (state_of(number, hallucination=hallucination) for number in (seed, seed + 1))
    posteriors = [QuantityPosterior(first, 0.4), QuantityPosterior(second, 0.3)]
    aims = Aims((Aim(0), Aim(1))).scaled_by([first.mean, second.mean], first.measured)

    def choose_part(gate: State, ask: Ask) -> Selection:
        return choose_for(posteriors, aims, gate, ask)

    same(one_by_one(choose_part, first, 8, Memory()), one_by_one(choose_part, first, 8, None))


def test_every_choice_is_taken_in_once(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    take = Hallucination.take

    def counted(self: Hallucination, *arguments: object) -> None:
        taken.append(1)
        take(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Hallucination, "take", counted)
    parts = one_by_one(choose, state_of(1), 20, Memory())
    assert len(parts) == 20
    assert len(taken) == 2 + 19  # what was pending, and every choice but the last


def test_a_memory_that_counts_what_is_no_longer_pending_is_not_used() -> None:
    state, memory = state_of(2), Memory()
    ask = Ask(1, 1, 1, alpha=0.4, limit=(state.pending == 0).astype(np.int64))
    [first] = choose(state, replace(ask, memory=memory)).picks.tolist()
    choose(expect(state, [first]), replace(ask, memory=memory))
    assert choose(state, replace(ask, memory=memory)).picks.tolist() == [first]
