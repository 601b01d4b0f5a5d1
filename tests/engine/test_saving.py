"""Replay: the same calls give the same bits, through, or saved and loaded between any two of them."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.arrays import FloatArray
from app.engine import Ask, State, add_candidates, choose, expect, load, measure, revise, save, start
from app.engine.saving import ARRAYS, SCALARS
from tests.engine.problems import Lab, lab, labs, switched_off


def through_storage(state: State) -> State:
    """As the service stores it: JSON, and the raw bytes of arrays."""
    saved = save(state)
    arrays = {name: value for name, value in saved.items() if isinstance(value, np.ndarray)}
    plain = json.loads(json.dumps({name: value for name, value in saved.items() if name not in arrays}))
    raw = {name: (value.tobytes(), value.dtype.str, value.shape) for name, value in arrays.items()}
    back = {name: np.frombuffer(data, dtype).reshape(shape) for name, (data, dtype, shape) in raw.items()}
    return load({**plain, **back}, state.X)


def bits(state: State) -> list[bytes]:
    return [getattr(state, name).tobytes() for name in [*ARRAYS, "Z"]] + [
        repr(getattr(state, n)).encode() for n in SCALARS
    ]


def life(made: Lab, extra: FloatArray, stored: bool) -> list[list[bytes]]:
    """A study in which everything happens once."""
    again = through_storage if stored else (lambda state: state)
    state, history, t = start(made.X, made.settings), [], 0
    for number in range(1, 9):
        state = again(state)
        batch = choose(state, Ask(number, min_size=2, max_size=5))
        state = again(expect(state, batch.picks))
        state = again(measure(state, batch.picks, made.values(batch.picks, t)))
        t += len(batch.picks)
        if number == 3:
            state = add_candidates(state, extra)
        if number == 5:
            state = switched_off(state, [0])
        if number == 6:
            state = revise(state, state.counts, state.sums * 0.5)
        history.append([*bits(state), batch.picks.tobytes(), batch.ucb.tobytes()])
        made = Lab(state.X, np.resize(made.f, len(state.X)), made.noise, made.settings)
    return history


@given(labs(), st.sampled_from(["global", "local", "exact", "product"]), st.sampled_from(["lazy", "strict"]))
@settings(max_examples=20, deadline=None)
def test_replay_is_bit_for_bit_through_storage_or_not(made: Lab, rule: str, resparsify: str) -> None:
    made = Lab(made.X, made.f, made.noise, made.settings.replace(rule=rule, resparsify=resparsify))
    extra = np.random.default_rng(1).random((4, 2))
    plain = life(made, extra, stored=False)
    assert plain == life(made, extra, stored=False)
    assert plain == life(made, extra, stored=True)


def test_no_verb_changes_the_state_it_was_given() -> None:
    state, _ = lab(resparsify="lazy").run([0, 1], 30)
    before = bits(state)
    batch = choose(state, Ask(min_size=5))
    up = measure(state, batch.picks, np.ones(len(batch.picks)))
    down = measure(state, batch.picks, -np.ones(len(batch.picks)))
    expect(state, [1])
    revise(state, state.counts, state.sums)
    assert bits(state) == before
    assert (measure(state, batch.picks, np.ones(len(batch.picks))).mean == up.mean).all()
    assert not (up.mean == down.mean).all()


def test_other_formats_and_other_features_are_refused() -> None:
    state = lab().begin([0])
    with pytest.raises(ValueError, match="format"):
        load({**save(state), "format": 0}, state.X)
    with pytest.raises(ValueError, match="rows of features"):
        load(save(state), state.X[1:])


def test_settings_survive_json() -> None:
    made = lab(q_bar=None, rule="exact")
    assert type(made.settings).build(json.loads(json.dumps(made.settings.describe()))) == made.settings
