"""What is kept of a run, and what is made of several."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks.paper.records import keep, read_all, record
from benchmarks.paper.running import Trace
from benchmarks.paper.summary import (
    NoCurvesError,
    curve,
    figure,
    grouped,
    key_of,
    mean_of,
    published,
    times_of,
    with_published,
)
from tests.benchmarks.paper.small import cell, made, objective


def test_the_curves_are_those_of_the_choices() -> None:
    f = objective().problem.f
    trace = Trace([np.array([5, 9]), np.array([7])], [2, 3], [0.5, 3600.0])
    curves = record(cell("bbkb", steps=3), objective(), trace)["curves"]
    regret, mean = f.max() - f, f.max() - f.mean()
    assert curves["t"] == [1, 2, 3]
    picked = regret[[5, 9, 7]]
    np.testing.assert_allclose(curves["regret_ratio"], np.cumsum(picked) / [1, 2, 3] / mean, rtol=1e-4)
    np.testing.assert_allclose(curves["simple_regret"], np.minimum.accumulate(picked), rtol=1e-4)
    assert (curves["batch"], curves["batches"], curves["members"]) == ([2, 2, 1], [1, 1, 2], [2, 2, 3])
    np.testing.assert_allclose(curves["hours"], np.array([9, 9, 16]) + np.array([0.5, 0.5, 3600]) / 3600, rtol=1e-4)


def test_measurements_from_before_count_for_the_simple_regret_alone() -> None:
    f = objective().problem.f
    best = int(np.argmax(f))
    for before, pick in ((best, 5), (5, best)):
        trace = Trace([np.array([pick])], [1], [0.1], before=np.array([before]))
        figures = record(cell("bbkb", steps=1), objective(), trace)["figures"]
        assert figures["simple_regret"] == 0
        assert figures["regret_ratio"] == pytest.approx((1 - f[pick]) / (1 - f.mean()))


def test_the_same_seed_gives_the_same_run_and_another_another() -> None:
    one, again, other = (made(cell("bbkb", seed)) for seed in (0, 0, 1))
    assert one["curves"]["regret_ratio"] == again["curves"]["regret_ratio"] != other["curves"]["regret_ratio"]
    assert one["seed"] == 0
    assert "numpy" in one["build"]


def test_a_record_is_read_as_it_was_kept(tmp_path: Path) -> None:
    one = made(cell("uniform"))
    keep(one, tmp_path / "folder" / "one.json")
    assert read_all(tmp_path / "folder") == [one]


def test_the_interval_is_students() -> None:
    mean = mean_of([1.0, 2.0, 3.0])
    assert mean.half == pytest.approx(4.302653 / np.sqrt(3), rel=1e-6)
    assert f"{mean:.1f}" == "2.0 ± 2.5"
    assert f"{mean_of([2.0]):.1f}" == "2.0"


def test_times_are_compared_within_a_repetition() -> None:
    slow = [{"seed": seed, "figures": {"seconds": seconds}} for seed, seconds in ((0, 4.0), (1, 60.0), (2, 1.0))]
    fast = [{"seed": seed, "figures": {"seconds": seconds}} for seed, seconds in ((0, 2.0), (1, 20.0))]
    ratio = times_of(slow, fast, "seconds")
    assert ratio is not None
    assert (ratio.mean, ratio.n) == (2.5, 2)
    assert times_of(slow[2:], fast, "seconds") is None


def test_what_is_published_holds_every_run_and_the_mean_curves() -> None:
    groups = grouped([made(cell("uniform", seed)) for seed in (1, 0)])
    (curves,) = published(groups)["curves"]
    ((_, records),) = groups.items()
    assert [record["seed"] for record in records] == [0, 1]
    assert curves["n"] == 2
    assert curves["regret_ratio"][-1] == pytest.approx(figure(records, "regret_ratio").mean, rel=1e-3)
    assert len(json.loads(json.dumps(published(groups)))["runs"]) == 2


def test_records_fill_in_what_was_not_published_and_nothing_else() -> None:
    before = published(grouped([made(cell("uniform", 0)), made(cell("bbkb", 0))]))
    again = made(cell("uniform", 0)) | {"figures": {}}
    groups = grouped(with_published([again, made(cell("uniform", 1))], before))
    added = published(groups, json.loads(json.dumps(before)))
    assert [(run["cell"]["system"], run["seed"]) for run in added["runs"]] == [
        ("uniform", 0),
        ("uniform", 1),
        ("bbkb", 0),
    ]
    assert added["runs"][0] == before["runs"][0]
    assert added["curves"] == before["curves"]
    with pytest.raises(NoCurvesError):
        curve(groups[key_of(cell("uniform"))], "regret_ratio")
