"""Promise 26: no client takes the time of the others: work has a deadline, ends when nobody waits, and is shared."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from app.domain.access import Role
from tests.reliability import fleet
from tests.reliability.attacks.watching import MOST_SECONDS, ROLES, Target, roles_that_may, target, watched
from tests.reliability.attacks.work import ATTACKS, WORK_SECONDS, begin
from tests.reliability.planting import planted_in_servers
from tests.reliability.promise import Budget, Count, Promise, on_each_database

SETTINGS = {
    "NEXTBATCH_MAX_REQUESTS_PER_SECOND": "0",
    "NEXTBATCH_WORK_SECONDS": str(WORK_SECONDS),
    "NEXTBATCH_WORK_BYTES": str(64 * 2**30),  # the threads are to be shared, whatever the budget of memory keeps out
}
Attack = Callable[[Target], list[str]]
BUGS = ("one key on every thread", "work for clients that left")


def _prove(budget: Budget, seed: int, address: str) -> Count:
    random, violations, figures, roles = Random(seed), list[str](), dict[str, float](), Counter[str]()
    pairs, cases = every_pair(seed), 0
    with TemporaryDirectory() as folder, fleet.running(address, Path(folder), 1, **SETTINGS) as servers:
        server = target(servers)
        begin(server)
        for case in budget:
            attack, role = pairs[case] if case < len(pairs) else random.choice(pairs)
            name = attack.__name__.replace("_", " ")
            with watched(server) as watch:
                violations += [f"{name}, {role}: {found}" for found in attack(server.sent_by(role))]
            roles[f"sent by {role}"] += 1
            lost = sum(seconds > MOST_SECONDS for seconds in watch.reports)
            violations += [f"{name}: {lost} of {len(watch.reports)} honest reports were lost"] if lost else []
            label = f"an honest report during {name} answered (p99)"
            figures[label] = max(figures.get(label, 0.0), min(watch.p99, 999))
            cases = case + 1
        violations += servers.bugs()
    return Count(cases, tuple(violations), dict(roles), figures | server.slowest)


def every_pair(turn: int) -> list[tuple[Attack, Role]]:
    """Every attack in every role that may send it: first each in one of them, then each in the next."""
    return [
        (attack, roles_that_may(scope, turn + number)[place])
        for place in range(len(ROLES))
        for number, (attack, scope) in enumerate(ATTACKS.items())
        if place < len(roles_that_may(scope))
    ]


PROMISE = Promise(
    number=26,
    words="One client cannot take the time",
    tested=(
        "One key sends more long work than there are threads, the longest filters, work beyond its deadline, and asks "
        "whose clients leave, each in every role that may: another key's long reads and reports are answered "
        "meanwhile, the deadline is kept, and nothing is computed for those who left."
    ),
    unit="attacks",
    full=400,
    prove=on_each_database(_prove),
    teeth={bug: partial(planted_in_servers, bug) for bug in BUGS},
    short=2,
    share=2.5,
)
