"""Promise 25: no request takes the memory, alone or with seven others, and honest reports are answered meanwhile."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import sleep

import httpx

from app.domain.access import SCOPES, Role
from tests.databases import Databases
from tests.reliability import fleet
from tests.reliability.attacks.memory import AT_ONCE, LIMITS, MOST_TOGETHER, Attack, prepare
from tests.reliability.attacks.watching import MOST_SECONDS, ROLES, Target, Watch, roles_that_may, target, watched
from tests.reliability.fleet import Fleet
from tests.reliability.planting import planted_in_servers
from tests.reliability.promise import Budget, Count, Promise

ATTACKS = tuple(LIMITS)
SETTINGS = {
    "NEXTBATCH_MAX_REQUESTS_PER_SECOND": "0",
    "NEXTBATCH_COMPUTE_WORKERS": "1",  # as `nextbatch serve` has it on two cores
}
QUIET_SECONDS = 2
DENIED = 403
UNREAD = (400, 401, 413)  # too large, beyond the limits of JSON, or without a key: refused before roles count


@dataclass(frozen=True)
class Case:
    """An attack, by a key of some role, so many times at once."""

    attack: Attack
    role: Role
    times: int = 1

    @property
    def name(self) -> str:
        return f"{self.attack.__name__.replace('_', ' ')}{f', {self.times} at once' if self.times > 1 else ''}"

    @property
    def most(self) -> int:
        """MiB"""
        return LIMITS[self.attack][0] if self.times == 1 else MOST_TOGETHER

    @property
    def is_allowed(self) -> bool:
        """Whether the role gets beyond the check of its key."""
        return LIMITS[self.attack][1] in SCOPES[self.role]


def every_case() -> list[Case]:
    """Every attack in every role: first each in one that may send it, in the end those that are to be denied.

    After the first round comes one in which each is sent several times at once.
    """
    turns = []
    for turn, (attack, (_, scope)) in enumerate(LIMITS.items()):
        able = roles_that_may(scope, turn)
        turns.append([Case(attack, role) for role in [*able, *(role for role in ROLES if role not in able)]])
    first, *rest = zip(*turns, strict=True)
    at_once = [replace(case, times=AT_ONCE) for case in first]
    return [*first, *at_once, *(case for cases in rest for case in cases)]


def _prove(budget: Budget, seed: int, databases: Databases) -> Count:
    """Each attack once in every role, on a server for this attack; then any of them, eight at a time."""
    random, violations, figures, roles = Random(seed), list[str](), dict[str, int](), Counter[str]()
    singles, servers, tried = every_case(), dict[Attack, _Attacked](), 0
    with ExitStack() as stack:
        for number in budget:
            attack = random.choice(ATTACKS)
            several = Case(attack, random.choice(roles_that_may(LIMITS[attack][1])), AT_ONCE)
            case = singles[number] if number < len(singles) else several
            if case.attack not in servers:
                servers[case.attack] = stack.enter_context(_attackable(databases))
            watch, statuses = servers[case.attack].attack(case)
            _raise(figures, f"MiB of {case.most:,} at the most: {case.name}", watch.peak)
            _raise(figures, f"ms p99 of an honest report during {case.name}", round(1000 * min(watch.p99, 999)))
            violations += [f"{case.name}, {case.role}: {found}" for found in _wrong(watch, case, statuses)]
            roles[f"sent by {case.role}"] += 1
            tried = number + 1
    return Count(tried, tuple(violations), {**roles, **figures})


def _raise(figures: dict[str, int], name: str, value: int) -> None:
    figures[name] = max(figures.get(name, 0), value)


@dataclass
class _Attacked:
    """A server that is attacked in one way, in one role after the other."""

    servers: Fleet
    server: Target
    is_prepared: bool = False

    def attack(self, case: Case) -> tuple[Watch, list[int]]:
        server = self.server.sent_by(case.role)
        with watched(server) as watch:
            self._prepare(case.attack)
            with ThreadPoolExecutor(case.times) as pool:
                statuses = list(pool.map(lambda _: _status(server, case.attack), range(case.times)))
            sleep(QUIET_SECONDS)
        return watch, statuses + ([500] if self.servers.bugs() else [])

    def _prepare(self, attack: Attack) -> None:
        if not self.is_prepared:
            with self.server.admin() as admin:
                prepare(attack, admin)
            self.is_prepared = True


@contextmanager
def _attackable(databases: Databases) -> Iterator[_Attacked]:
    with (
        databases.fresh("sqlite") as address,
        TemporaryDirectory() as folder,
        fleet.running(address, Path(folder), 1, **SETTINGS) as servers,
    ):
        yield _Attacked(servers, target(servers))


def _status(server: Target, attack: Attack) -> int:
    """0 if there was no answer."""
    with server.client() as client:
        try:
            return attack(client).status_code
        except httpx.TransportError:
            return 0


def _wrong(watch: Watch, case: Case, statuses: list[int]) -> list[str]:
    lost = sum(seconds > MOST_SECONDS for seconds in watch.reports)
    found = [f"{lost} of {len(watch.reports)} honest reports were lost or took too long"] if lost else []
    found += [f"{watch.peak} MiB, of {case.most} allowed"] if watch.peak > case.most else []
    denied = [status for status in statuses if (status == DENIED) == case.is_allowed and status not in UNREAD]
    found += [f"answered {status}, although the role may {'' if case.is_allowed else 'not '}do it" for status in denied]
    return found + [f"answered {status}" for status in statuses if status in (0, 500)]


PROMISE = Promise(
    number=25,
    words="One request cannot take the memory",
    tested=(
        "Bodies, sheets, archives, descriptions, pages and columns that are small to send and large to expand, each "
        "once by a key of every role (which is denied if its role may not) and then eight at a time: server "
        "and compute worker stay within the limit beside it, with the default settings, and honest reports are taken."
    ),
    unit="attacks",
    full=200,
    prove=_prove,
    teeth={
        "values that nobody counts": partial(planted_in_servers, "values that nobody counts"),
        "arrays that nobody measures": partial(planted_in_servers, "arrays that nobody measures"),
    },
    short=4,  # the third and the fourth attack are those that the planted bugs open
    share=4,
)
