"""The demo runs by itself and finds one of the best candidates."""

from itertools import islice

import pytest
from typer.testing import CliRunner

from app.cli import command
from app.cli.demo.command import BENCH, _create_study, _run
from app.cli.demo.reaction import NOISE, Reaction
from app.cli.demo.server import temporary_server
from app.engine.auto import BENCH as FEWEST
from nextbatch import Client


def test_the_demo_runs_by_itself_and_ends_near_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NEXTBATCH_URL", "NEXTBATCH_KEY"):
        monkeypatch.delenv(name, raising=False)
    done = CliRunner().invoke(command, ["demo", "--budget", "25", "--pace", "0", "--no-hold"])
    assert done.exit_code == 0, done.output
    assert "In the simulation, RX-" in done.output
    assert "best so far" in done.output


def test_the_batches_of_the_demo_are_batches_and_its_yield_has_limits() -> None:
    budget = 33
    with temporary_server() as (address, key), Client(address, key) as client:
        study = _create_study(client, 1)
        _run(study, budget, pace=0, objectives=1)
        sizes = [batch.size for batch in study.batches()]
        assert sum(sizes) == budget
        assert min(sizes[:-1]) >= FEWEST
        assert max(sizes) <= BENCH
        assert study.details.configuration["limits"] == {"low": 0.0, "high": 100.0}


def test_the_demo_of_two_objectives_ends_with_a_front(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NEXTBATCH_URL", "NEXTBATCH_KEY"):
        monkeypatch.delenv(name, raising=False)
    done = CliRunner().invoke(command, ["demo", "--objectives", "2", "--budget", "12", "--pace", "0", "--no-hold"])
    assert done.exit_code == 0, done.output
    assert "On the front: RX-" in done.output
    assert " EUR" in done.output


def test_the_simulated_reactions_are_many_and_named_once() -> None:
    candidates = Reaction().candidates()
    assert len({candidate["key"] for candidate in candidates}) == len(candidates) == 2160


def test_a_simulated_measurement_is_noisy_but_repeatable() -> None:
    reaction = Reaction()
    best = reaction.best()
    values = [reaction.measure(best, repeat) for repeat in range(1, 201)]
    assert values == [reaction.measure(best, repeat) for repeat in range(1, 201)]
    assert abs(sum(values) / 200 - reaction.truth(best)) < 4 * NOISE / 200**0.5


def test_simulated_yields_are_per_cents_with_few_good_ones() -> None:
    reaction = Reaction()
    truths = sorted((reaction.truth(candidate) for candidate in reaction.candidates()), reverse=True)
    assert truths[-1] >= 0
    assert truths[0] <= 100
    assert sum(truth > 0.9 * truths[0] for truth in truths) < 50
    assert all(0 <= reaction.measure(candidate) <= 100 for candidate in islice(reaction.candidates(), 100))
