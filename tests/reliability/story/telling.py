"""Stories told for as long as the budget lasts."""

from collections.abc import Sequence

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.reliability.promise import Budget, Count
from tests.reliability.story.steps import Server, Story

STORIES, STEPS = 5, 50  # at a time; in each


def tell(budget: Budget, first_seed: int, servers: Sequence[Server]) -> Count:
    """Stories told to some servers; each round has another seed."""
    stories: list[str] = []
    violations = []
    for number in budget:
        machine = seed(first_seed + number)(type("Told", (Story,), {"servers": servers, "told": stories}))
        try:
            run_state_machine_as_test(machine, settings=_settings())  # type: ignore[no-untyped-call]
        except AssertionError as error:
            notes = " ".join(getattr(error, "__notes__", ()))
            violations.append(f"seed {first_seed + number}: {error} {notes}")
    return Count(len(stories), tuple(violations), {"steps at most": len(stories) * STEPS})


def _settings() -> settings:
    return settings(
        max_examples=STORIES,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )
