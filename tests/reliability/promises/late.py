"""Promise 9: a real measurement is kept however late it comes: its batch closed, it given up, the study paused."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from random import Random
from typing import Any
from unittest.mock import patch

from app.services.use_cases import report
from app.services.use_cases.report_matching import ReportMatcher
from tests.api.lab import Lab, truth
from tests.reliability import lab
from tests.reliability.promise import Budget, Count, Promise, on_each_database

RESULTS_PER_STUDY = 12


def _prove(budget: Budget, seed: int, address: str) -> Count:
    random, violations, results = Random(seed), [], 0
    with lab.opened(address) as opened:
        for number in budget:
            one = Lab(opened.client, f"study-{number}").begin(repeats=3)
            for words in _late_results(one, random):
                violations += [words] if words else []
                results += 1
    return Count(results, tuple(violations))


def _late_results(one: Lab, random: Random) -> Iterator[str | None]:
    """Batches whose suggestions are given up in every way, and then measured nevertheless."""
    known = 0
    while known < RESULTS_PER_STUDY:
        batch = one.batch(f"bench-{known}", max_size=3)
        _give_up(one, batch, random)
        state = random.choice(("active", "paused", "archived"))
        if state != "active":
            _must(one.change(state=state), 200)
        for suggestion in batch["suggestions"]:
            known += 1
            yield _lost(one, suggestion, random)
        if state == "archived":
            return
        if state == "paused":
            _must(one.change(state="active"), 200)


def _give_up(one: Lab, batch: dict[str, Any], random: Random) -> None:
    if random.random() < 0.4:
        _must(one.client.post(f"{one.path}/batches/{batch['number']}/close"), 200)
        return
    for suggestion in batch["suggestions"]:
        how = random.choice(
            (
                {"failed": {"reason": "broke", "retry": random.random() < 0.5}},
                {"abandoned": {"reason": "no time"}},
                None,
            )
        )
        if how is not None:
            _must(one.report(suggestion=suggestion["suggestion"], **how), 201)


def _lost(one: Lab, suggestion: dict[str, Any], random: Random) -> str | None:
    """What was wrong with a late report, if anything: it must be taken, shown, and counted where it belongs."""
    values = [truth(suggestion["key"]) + random.random() for _ in range(suggestion["replicates"])]
    place = {"suggestion": suggestion["suggestion"]}
    told = one.report(**place, values=values)
    if told.status_code != 201:
        return f"a late result is answered {told.status_code} {told.text}"
    kept = {row["observation"]: row for row in one.observations()}
    for value, placed in zip(values, told.json()["results"], strict=True):
        row = kept.get(placed["observation"])
        if row is None or (row["value"], row["suggestion"]) != (value, suggestion["suggestion"]):
            return f"a late result {value} of {suggestion['suggestion']} is kept as {row}"
    return None


def _must(answer: Any, status: int) -> None:
    assert answer.status_code == status, answer.text


def _refused_when_not_active() -> AbstractContextManager[object]:
    """Only an active study takes results."""
    refuse = ReportMatcher.refuse_if_any_is_wrong

    def refuse_more(matcher: ReportMatcher, **options: bool) -> None:
        matcher._study.must_be_active()
        refuse(matcher, **options)

    return patch.object(ReportMatcher, "refuse_if_any_is_wrong", refuse_more)


def _counted_elsewhere() -> AbstractContextManager[object]:
    """A late result is kept, but not for its suggestion."""
    observation = report._observation
    return patch.object(
        report, "_observation", lambda *match: replace(observation(*match), suggestion=None, replicate=None)
    )


PROMISE = Promise(
    number=9,
    words="A late result is kept",
    tested=(
        "Suggestions are failed, abandoned or closed, the study is paused or archived, and then they are measured: "
        "every value is taken, and kept for its suggestion."
    ),
    unit="results",
    full=10_000,
    prove=on_each_database(_prove),
    teeth={
        "only active studies take results": _refused_when_not_active,
        "late results are kept elsewhere": _counted_elsewhere,
    },
    short=2,
    parallel=True,
    share=1,
)
