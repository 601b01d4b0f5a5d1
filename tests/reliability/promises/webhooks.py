"""Promise 33: every event that a webhook subscribes to arrives at least once, in order, signed, and nowhere else."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

from sqlalchemy import Connection

from app.storage.database import open_database
from app.webhooks import rows
from tests.reliability import bench, chaos, fleet
from tests.reliability.bench import Bench
from tests.reliability.fleet import Fleet, NeverReady
from tests.reliability.operations import History, Outcome
from tests.reliability.planting import HURRIED_WEBHOOKS, planted_in_servers
from tests.reliability.promise import Budget, Count, Promise, on_each_database
from tests.reliability.receivers import Arrival, BadReceiver, receiving
from tests.webhooks.receiver import is_signed

SERVERS, CLIENTS, DEATHS_PER_STUDY = 2, 2, 6
PLACES = ("before-commit", "committed", "delivery-claimed", "delivery-sent")
TOLERANCE = 300.0  # seconds by which the time of a message may be off, as Standard Webhooks suggests
PATIENCE = 60.0  # seconds in which all that is left is delivered, once the receivers are honest
SUBSCRIPTIONS = (("batch.issued", "results.reported", "study.finished"), ("results.reported",), ("batch.issued",))
TYPES = {
    "batch-issued": "batch.issued",
    "observations-reported": "results.reported",
    "measurements-failed": "results.reported",
}


@dataclass(frozen=True)
class Subscriber:
    number: int
    path: str
    types: Sequence[str]
    secret: str


@dataclass(frozen=True)
class Stage:
    """A server of several processes, a receiver that it may tell, and a trap that it may not."""

    servers: Fleet
    receiver: BadReceiver
    trap: BadReceiver
    settings: Mapping[str, str]
    random: Random


def _prove(budget: Budget, seed: int, address: str) -> Count:
    """A case is a delivery that was accepted."""
    random, count = Random(seed), Count(0)
    with (
        TemporaryDirectory() as folder,
        receiving(random) as trap,
        receiving(random, trap.url) as receiver,
        fleet.running(address, Path(folder), SERVERS, **_settings(folder, receiver)) as servers,
    ):
        stage = Stage(servers, receiver, trap, _settings(folder, receiver), random)
        for number, deaths in enumerate(chaos.rounds(budget, DEATHS_PER_STUDY)):
            try:
                count += _one_study(stage, f"study-{number}", deaths)
            except NeverReady as stuck:
                return count + Count(0, (str(stuck),))
        count += Count(0, tuple(servers.bugs()))
    return count


def _settings(folder: str, receiver: BadReceiver) -> dict[str, str]:
    """The processes of one server: one data folder, and so one signing key."""
    data = str(Path(folder) / "data")
    return {"NEXTBATCH_DATA": data, "NEXTBATCH_WEBHOOK_TARGETS": f"{receiver.url}/hooks", HURRIED_WEBHOOKS: "yes"}


def _one_study(stage: Stage, study: str, deaths: Iterable[int]) -> Count:
    servers, receiver = stage.servers, stage.receiver
    bench.begin_study(servers, study)
    receiver.honest, receiver.arrivals[:] = False, []
    subscribers, violations = _subscribe(stage, study)
    with bench.at_work(servers, study, stage.random.randrange(10**6), CLIENTS, _work) as history:
        died = sum(_kill_one(stage) for _ in deaths)
    violations += [*history.violations, *_settle(stage, study)]
    told, arrivals = list(_told(servers, study)), list(receiver.arrivals)
    violations += _unknown(history, told)
    for subscriber in subscribers:
        expected = [event for event in told if event["type"] in subscriber.types]
        mine = [arrival for arrival in arrivals if arrival.path == subscriber.path]
        violations += [f"webhook {subscriber.number}: {words}" for words in _wrong(subscriber, expected, mine)]
    violations += [f"a target that is not allowed was told: {arrival.path}" for arrival in stage.trap.arrivals]
    accepted = sum(arrival.accepted for arrival in arrivals)
    return Count(accepted, tuple(violations), {"attempts": len(arrivals), "events": len(told), "deaths": died})


def _settle(stage: Stage, study: str) -> list[str]:
    """Let everybody be honest and the study end; what is not delivered even so."""
    for member in stage.servers.members:
        chaos.renew(stage.servers, member, **stage.settings)
    stage.receiver.honest = True
    with stage.servers.client() as client:
        client.patch(f"/studies/{study}", json={"state": "archived"}, headers={"If-Match": "*"}).raise_for_status()
    return _wait_until_delivered(stage.servers, study)


def _subscribe(stage: Stage, study: str) -> tuple[list[Subscriber], list[str]]:
    """Webhooks to the receiver; one whose row is then led elsewhere; and addresses that must be refused."""
    subscribers, taken = list[Subscriber](), list[str]()
    receiver, trap = stage.receiver, stage.trap
    with stage.servers.client() as client:
        for types in (*SUBSCRIPTIONS, SUBSCRIPTIONS[0]):
            path = f"/hooks/{study}/{len(subscribers) + 1}"
            made = client.post(f"/studies/{study}/webhooks", json={"url": receiver.url + path, "events": types})
            assert made.status_code == 201, made.text
            subscribers.append(Subscriber(made.json()["webhook"], path, types, made.json()["secret"]))
        for url in (f"{trap.url}/hooks/x", f"{receiver.url}/hooks/../x", f"{receiver.url}/hookshop"):
            refused = client.post(f"/studies/{study}/webhooks", json={"url": url})
            taken += [] if refused.status_code == 422 else [f"{url} was taken"]
    with _writing(stage.servers) as connection:
        stray = _webhooks(connection, study)[len(SUBSCRIPTIONS)]
        rows.change(connection, stray, url=f"{trap.url}/hooks/stray")
    return subscribers[: len(SUBSCRIPTIONS)], taken


def _kill_one(stage: Stage) -> int:
    """Let a process die, often between the steps of a delivery, and start another in its place."""
    sleep(stage.random.uniform(0.1, 0.4))
    member = stage.random.choice(stage.servers.members)
    chaos.let_die(member, stage.random)
    stage.servers.start(member, **stage.settings, **chaos.armed(stage.random, PLACES))
    member.wait_until_ready()
    return 1


def _work(client: Bench) -> None:
    """Not so fast that receivers who hang are told of the last event only long after it."""
    client.work()
    sleep(0.2)


def _wait_until_delivered(servers: Fleet, study: str) -> list[str]:
    """Until the server itself says that nothing is left to tell; what it still had to tell when patience ended."""
    end = monotonic() + PATIENCE
    while monotonic() < end:
        with _writing(servers) as connection:
            left = _left(connection, study)
        if not left:
            return []
        sleep(0.05)
    return left


def _left(connection: Connection, study: str) -> list[str]:
    newest = {name: seq for _, name, seq in rows.living(connection)}
    left = []
    for webhook in _webhooks(connection, study)[: len(SUBSCRIPTIONS)]:
        pending = rows.deliveries(connection, webhook.study_id, webhook.number, rows.PENDING, 0, 1)
        if pending or webhook.seen < newest.get(study, 0):
            left.append(f"webhook {webhook.number} looked at {webhook.seen} of {newest.get(study)}, waiting: {pending}")
    return left


def _webhooks(connection: Connection, study: str) -> list[rows.Webhook]:
    mine = [webhook for webhook, name, _ in rows.living(connection) if name == study]
    return sorted(mine, key=lambda webhook: webhook.number)


@contextmanager
def _writing(servers: Fleet) -> Iterator[Connection]:
    """By this process, which no bug is planted in."""
    database = open_database(servers.database, connections=2)
    try:
        with database.write() as connection:
            yield connection
    finally:
        database.dispose()


def _told(servers: Fleet, study: str) -> Iterator[dict[str, Any]]:
    """What the ledger says that subscribers are to be told, in its order."""
    after: int | None = 0
    with servers.client() as client:
        while after is not None:
            page = client.get(f"/studies/{study}/events", params={"after": after, "limit": 1000}).json()
            for event in page["events"]:
                payload = json.loads(event["payload"])
                kind = "study.finished" if payload.get("state") == "archived" else TYPES.get(event["type"])
                if kind:
                    yield {"type": kind, "event": event["seq"], "about": _about(payload)}
            after = page["next"]


def _about(payload: dict[str, Any]) -> tuple[str, Any]:
    """One member of the message that the event decides."""
    if "number" in payload:
        return "batch", payload["number"]
    if "observations" in payload:
        return "results", len(payload["observations"])
    return ("failed", len(payload["failures"])) if "failures" in payload else ("rule", "archived")


def _unknown(history: History, told: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Whatever was acknowledged is among what is to be told."""
    known = {event["about"][1] for event in told if event["type"] == "batch.issued"}
    done = [one for one in history.operations if one.outcome is Outcome.OK]
    missing = {one.answer["number"] for one in done if one.kind == "ask"} - known
    results = sum(event["about"][1] for event in told if event["about"][0] == "results")
    acknowledged = sum(len(one.values) for one in done if one.kind == "report")
    if missing or results < acknowledged:
        yield f"acknowledged, and not in the ledger: batches {missing}, or some of {acknowledged} results ({results})"


def _wrong(subscriber: Subscriber, expected: Sequence[dict[str, Any]], arrivals: Sequence[Arrival]) -> Iterator[str]:
    """What was lost, came out of order, is not signed, or says something else."""
    order, by_number = [event["event"] for event in expected], {event["event"]: event for event in expected}
    accepted, ids = list[int](), dict[int, str]()
    for arrival in arrivals:
        event, message = arrival.event, arrival.message
        wanted = by_number.get(event)
        if not is_signed(subscriber.secret, dict(arrival.headers), arrival.body):
            yield f"event {event} is not signed"
        if abs(arrival.moment - int(arrival.headers["webhook-timestamp"])) > TOLERANCE:
            yield f"event {event} has another time"
        if wanted is None or message["type"] != wanted["type"]:
            yield f"{message} was told, and nobody subscribed to it"
        elif message["data"].get(wanted["about"][0]) != wanted["about"][1]:
            yield f"{message} was told of {wanted}"
        if ids.setdefault(event, arrival.headers["webhook-id"]) != arrival.headers["webhook-id"]:
            yield f"event {event} came under two ids"
        if event not in accepted and event in by_number and order[: len(accepted)] != order[: order.index(event)]:
            yield f"event {event} came when {order[len(accepted)]} had not been accepted"
        if arrival.accepted and event not in accepted:
            accepted.append(event)
    if len(set(ids.values())) < len(ids):
        yield "several events have one id"
    if lost := sorted(set(order) - set(accepted)):
        yield f"{len(lost)} of {len(order)} events never arrived: {lost[:10]}"


BUGS = (
    "any answer is a delivery",
    "messages that count as delivered before they are sent",
    "redirects that are followed",
    "a signature of the body alone",
)

PROMISE = Promise(
    number=33,
    words="A webhook is delivered at least once, in order, signed",
    tested=(
        f"{CLIENTS} clients at {SERVERS} processes that die, also between the steps of a delivery; receivers that "
        "refuse, redirect, hang, cut, stammer a head or a body without end, and talk gibberish. Every event of the "
        "ledger that a webhook subscribes to is accepted there, each after those before it, under one id, with a valid "
        "signature (Standard Webhooks); a target that is not allowed hears nothing, whatever redirects and rows say."
    ),
    unit="deliveries",
    full=10_000,
    prove=on_each_database(_prove),
    teeth={bug: partial(planted_in_servers, bug) for bug in BUGS},
    short=3,
    bite=4,
    share=2,
)
