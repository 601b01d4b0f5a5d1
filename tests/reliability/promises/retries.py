"""Promise 3: however often a request is repeated, by a client or by the network, it has one effect and one answer."""

from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from unittest.mock import patch

from tests.reliability import bench, checking, fleet
from tests.reliability.bench import Bench
from tests.reliability.fleet import Fleet
from tests.reliability.planting import planted_in_servers
from tests.reliability.promise import Budget, Count, Promise, on_each_database
from tests.reliability.proxy import bad_network

SERVERS, CLIENTS, FAULTY, SECONDS_PER_STUDY = 2, 8, 0.3, 5


def _prove(budget: Budget, seed: int, address: str) -> Count:
    count = Count(0)
    with TemporaryDirectory() as folder, fleet.running(address, Path(folder), SERVERS) as servers:
        for number in budget:
            count += _one_study(servers, f"study-{number}", seed, several=(seed + number) % 2 == 1)
        return count + Count(0, tuple(servers.bugs()))


def _one_study(servers: Fleet, study: str, seed: int, *, several: bool) -> Count:
    bench.begin_study(servers, study, several=several)
    with bad_network(servers.addresses, FAULTY, seed) as (address, network):
        with bench.at_work(servers, study, seed, CLIENTS, _work, [address], several=several) as history:
            sleep(SECONDS_PER_STUDY)
        details = {"faults of the network": network.faults, "answers compared": history.compared}
    return Count(len(history.operations), tuple(checking.violations(servers, study, history)), details)


def _work(client: Bench) -> None:
    """Half of the answers are asked for again, and must be the same bytes."""
    client.repeated = 0.5
    client.work()


def _retry_without_key() -> AbstractContextManager[object]:
    return patch.object(Bench, "next_token", lambda client, _token: client.token())


PROMISE = Promise(
    number=3,
    words="A retry never doubles anything",
    tested=(
        f"A network that loses, cuts, delays or doubles {FAULTY:.0%} of what passes between {CLIENTS} clients and "
        f"{SERVERS} processes; operations are tried up to {bench.ATTEMPTS} times. One effect, and the same bytes again."
    ),
    unit="operations",
    full=100_000,
    prove=on_each_database(_prove),
    teeth={
        "retry without the key": _retry_without_key,
        "tokens are not unique": partial(planted_in_servers, "tokens are not unique"),
    },
    short=1,
    share=3,
)
