"""Every loop ends: by its own bound, whatever the numbers are, and by the time limit of the computation."""

from threading import Thread

import numpy as np
import pytest

from app.engine import (
    Ask,
    EngineSettings,
    State,
    TimeLimitReached,
    choose,
    design,
    measure,
    start,
    start_from,
    time_limit,
)
from app.engine.auto import Layout, Observed, fit
from app.engine.kernels import Gaussian
from app.engine.stability import Rescues, inverse_cholesky
from app.engine.time_limit import check_time

X = np.random.default_rng(0).random((200, 2))


def unchecked(**values: float) -> EngineSettings:
    """Settings that the checks would refuse."""
    made = EngineSettings(Gaussian(0.5))
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


@pytest.mark.parametrize(
    "settings",
    [
        unchecked(lam=1e-310, xi=1e-155),
        unchecked(lam=1e-308),
        unchecked(delta=1e-320),
        unchecked(lam=np.inf, xi=np.inf),
        unchecked(lam=np.nan),
    ],
    ids=["tiny noise", "tiny lambda", "tiny delta", "infinite noise", "not a number"],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_batch_ends_even_with_settings_that_are_refused_elsewhere(settings: EngineSettings) -> None:
    ended: list[int] = []

    def live() -> None:
        state = start(X, settings)
        first = choose(state, Ask(max_size=4)).picks
        state = measure(state, first, X[first, 0])
        ended.append(len(choose(state, Ask(max_size=8)).picks))

    thread = Thread(target=live, daemon=True)
    thread.start()
    thread.join(60)
    assert ended


def test_a_matrix_that_is_no_matrix_of_numbers_ends_the_jitter() -> None:
    rescues = Rescues()
    factor = inverse_cholesky(np.full((3, 3), np.nan), rescues)
    assert np.isfinite(factor).all()
    assert rescues == {"factorisations replaced": 1}


@pytest.mark.parametrize(
    "settings",
    [{"lam": 1e-155}, {"lam": np.inf}, {"lam": np.nan}, {"xi": 1e61}, {"F": np.inf}, {"delta": 1e-320}, {"q_bar": 0.0}],
    ids=str,
)
def test_settings_outside_the_working_range_are_refused_by_name(settings: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=rf"{next(iter(settings))} must lie between \S+ and \S+"):
        EngineSettings(Gaussian(0.5), **settings)  # type: ignore[arg-type]


def _known() -> State:
    return start_from(X, EngineSettings(Gaussian(0.5), lam=0.1), np.ones(200, dtype=np.int64), X[:, 0])


@pytest.mark.parametrize("verb", ["choose", "design", "measure", "start", "fit"])
def test_every_verb_gives_up_when_its_time_is_over(verb: str) -> None:
    known = _known()
    verbs = {
        "choose": lambda: choose(known, Ask()),
        "design": lambda: design(known, Ask(max_size=3)),
        "measure": lambda: measure(known, [0], [1.0]),
        "start": lambda: start(X, known.settings),
        "fit": lambda: fit(X, Layout.of_numbers(2), Observed.of(200, [0, 1, 2], X[:3, 0]), "maximize"),
    }
    with time_limit(-1), pytest.raises(TimeLimitReached):
        verbs[verb]()
    verbs[verb]()


def test_an_inner_limit_never_extends_an_outer_one() -> None:
    with time_limit(-1), time_limit(1000), pytest.raises(TimeLimitReached):
        check_time()
    check_time()
