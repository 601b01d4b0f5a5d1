"""The whole loop in one call, by either client."""

import asyncio
import io
import threading
from typing import Any

import pytest

from nextbatch import AsyncClient, ObjectiveFailed, Progress
from tests.live import Live


def warm(suggestion: Any) -> float:
    return float(suggestion["temperature"]) / 100


def test_a_run_spends_its_budget_and_finds_the_best(study: Any) -> None:
    seen: list[Progress] = []
    summary = study.run(warm, budget=4, workers=2, batch_size=3, progress=seen.append)
    assert summary.counts.observations == 4
    assert [progress.done for progress in seen][-1] == 4
    assert max(progress.best for progress in seen) == seen[-1].best


def test_the_same_run_again_does_nothing_more(study: Any) -> None:
    study.run(warm, budget=3)
    assert study.run(warm, budget=3).counts.observations == 3
    assert study.run(warm, budget=4).counts.observations == 4


class Crash(BaseException):
    """As the machine would: nothing is reported."""


def test_a_run_that_crashed_takes_up_its_open_batch(study: Any) -> None:
    def crash(suggestion: Any) -> float:
        raise Crash

    with pytest.raises(Crash):
        study.run(crash, budget=4)
    (open_batch,) = study.batches(state="open")
    assert study.run(warm, budget=4).counts.observations == 4
    assert study.batch(open_batch.number).state == "closed"


def test_an_objective_that_raises_or_gives_nan_is_a_failed_measurement(study: Any) -> None:
    def moody(suggestion: Any) -> float:
        if suggestion["solvent"] == "THF":
            raise OSError("pump stuck")
        return float("nan") if suggestion["temperature"] < 80 else 0.5

    study.run(moody, budget=4, batch_size=4)
    reasons = " ".join(event.payload for event in study.history() if event.type == "measurements-failed")
    assert "OSError: pump stuck" in reasons or "returned nan" in reasons
    assert all(candidate.available for candidate in study.candidates())


def test_an_objective_that_always_fails_ends_the_run(study: Any) -> None:
    with pytest.raises(ObjectiveFailed, match="3 times in a row: ZeroDivisionError"):
        study.run(lambda _: 1 / 0, budget=50, max_failures=3)


def test_a_run_ends_when_nothing_is_left_to_measure(study: Any) -> None:
    study.change(repeats="never")
    assert study.run(warm, budget=50).counts.measured == 4


def test_evaluations_run_at_the_same_time(study: Any) -> None:
    together = threading.Barrier(2, timeout=30)

    def meet(suggestion: Any) -> float:
        together.wait()
        return 0.5

    assert study.run(meet, budget=2, workers=2).counts.observations == 2


def test_a_coroutine_can_be_the_objective(server: Live, study: Any) -> None:
    async def measure(suggestion: Any) -> float:
        await asyncio.sleep(0)
        return 0.5

    async def run() -> int:
        async with AsyncClient(server.url, server.key) as client:
            found = await client.study(study.name)
            return (await found.run(measure, budget=3, workers=3)).counts.observations

    assert asyncio.run(run()) == 3


def test_a_terminal_shows_a_line_of_progress(study: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr("sys.stderr", terminal)
    study.run(warm, budget=2, progress=True)
    assert "2/2  best" in terminal.getvalue()
