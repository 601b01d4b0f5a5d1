"""Promise 31: a batch keeps the terms it was asked for, although others report, reserve, switch, ask and die."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import fsum
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from tests.api.lab import THEORY
from tests.reliability import bench, chaos, fleet
from tests.reliability.bench import CANDIDATES, THREE_QUANTITIES, Bench
from tests.reliability.fleet import Fleet
from tests.reliability.operations import Outcome
from tests.reliability.planting import planted_in_servers
from tests.reliability.promise import Budget, Count, Promise, on_each_database

DEATHS_PER_STUDY = 6
SERVERS, CLIENTS, REPLAYED = 2, 6, 3
PLACES = ("computed", "locked", "before-commit", "committed")
BUDGET = 60.0  # of a study; once less than `LEAST_LEFT` remains, there is as much again
LEAST_LEFT = 10.0
SETTINGS = {"budget": BUDGET, "max_batch": 12}
STUDIES: tuple[tuple[bool, dict[str, Any]], ...] = (
    (False, {"theory": THEORY}),
    (True, THREE_QUANTITIES),
    (True, {"theory": THEORY, **THREE_QUANTITIES}),
    (False, {}),
)
"""Whether a study has several quantities, and its settings: in theory mode and in auto mode."""
ROUNDING = 1e-9  # share of a budget by which sums of rounded numbers may exceed it

COLUMNS = {
    key: {"t": n % 17, "s": "abcdef"[n % 6], "price": (0.1, 2, 5, 10)[n % 4], "minutes": n % 60 + 1}
    for n, key in enumerate(CANDIDATES)
}
LIST = "key,t,s,price,minutes\n" + "".join(
    f"{key},{','.join(str(value) for value in row.values())}\n" for key, row in COLUMNS.items()
)
PRICES = [float(COLUMNS[key]["price"]) for key in CANDIDATES]

CONDITIONS = {
    "t >= 9": lambda row: row["t"] >= 9,
    "t < 12": lambda row: row["t"] < 12,
    "s in (a, b, e)": lambda row: row["s"] in "abe",
    "price <= 5": lambda row: row["price"] <= 5,
    "minutes > 10": lambda row: row["minutes"] > 10,
}


def _prove(budget: Budget, seed: int, address: str) -> Count:
    random, count, ready = Random(seed), Count(0), list[float]()
    with TemporaryDirectory() as folder, fleet.running(address, Path(folder), SERVERS) as servers:
        for number, deaths in enumerate(chaos.rounds(budget, DEATHS_PER_STUDY)):
            study = f"study-{number}"
            several, settings = STUDIES[(seed + number) % len(STUDIES)]
            _begin(servers, study, settings)
            with bench.at_work(servers, study, seed, CLIENTS, _work, several=several) as history:
                ready += [chaos.kill_one(servers, random, PLACES) for _ in deaths]
            chaos.renew(servers, servers.members[0])
            issued, broken = _ledger_checked(servers, study)
            asks = [one for one in history.operations if one.kind == "ask"]
            refused = sum(one.outcome is Outcome.FAIL for one in asks)
            told = {"asks refused": refused, "deaths": len(ready) - count.details.get("deaths", 0)}
            count += Count(issued, (*history.violations, *broken), told)
        count += Count(0, tuple(servers.bugs()))
    return count


def _begin(servers: Fleet, study: str, settings: dict[str, Any]) -> None:
    client, path = servers.lab.client, f"/v1/studies/{study}"
    assert client.put(path, json=SETTINGS | settings).status_code == 201
    params, headers = {"cost": "price", "duration": "minutes"}, {"Content-Type": "text/csv"}
    uploaded = client.put(f"{path}/candidates", content=LIST, params=params, headers=headers)
    assert uploaded.status_code == 201, uploaded.text


def _work(client: Bench) -> None:
    """One of the things that people do."""
    random = client.random
    kind = random.choices(("ask", "report", "switch", "reserve"), weights=(50, 35, 10, 5))[0]
    if kind == "ask":
        _ask(client)
    elif kind == "report":
        client.report()
    elif kind == "switch":
        body = {"available": random.random() < 0.7, "reason": "stock"}
        client._send("PATCH", f"candidates/{random.choice(CANDIDATES)}", body)
    else:
        _ask(client, reserved=True)


def _ask(client: Bench, *, reserved: bool = False) -> None:
    """Ask as a new worker, look whether the batch is what was asked for, and report it or give it up."""
    random, worker = client.random, f"bench-{client.number}-{next(client._numbers)}"
    request = _terms(random)
    if reserved:
        keys = random.sample(CANDIDATES, 2)
        client._send("POST", "reservations", {"worker": worker, "keys": keys})
        request["include"] = [{"key": key, "replicates": 1} for key in keys]
    asked = client.do("ask", "batches", {"worker": worker, "wait": 20, **request})
    if asked.outcome is Outcome.OK:
        client.history.violations += [f"{request}: {words}" for words in broken_terms(request, asked.answer)]
        if random.random() < 0.5:
            client._note_report(
                [
                    {"suggestion": one["suggestion"], "values": [client._value() for _ in range(one["replicates"])]}
                    for one in asked.answer["suggestions"]
                ]
            )
        client._send("POST", f"batches/{asked.answer['number']}/close", None)
    elif asked.answer.get("code") in ("terms-unmet", "invalid-input"):
        _raise_budget(client)


def _raise_budget(client: Bench) -> None:
    """Let a study whose budget is spent go on."""
    outcome, summary = client._send("GET", "summary", None)
    if outcome is Outcome.OK and summary["spending"]["left"] < LEAST_LEFT:
        spending = summary["spending"]
        more = {"budget": spending["spent"] + spending["committed"] + BUDGET}
        with suppress(httpx.TransportError):
            client.connection.patch(
                f"{client.random.choice(client.addresses)}/v1/studies/{client.study}",
                json=more,
                headers={"Authorization": f"Bearer {client.key}", "If-Match": "*"},
            )


def _terms(random: Random) -> dict[str, Any]:
    """Any of the terms, each with some chance."""
    drawn: dict[str, Any] = {"max_size": random.randint(1, 8)}
    terms = {
        "min_size": lambda: random.randint(1, drawn["max_size"]),
        "where": lambda: random.sample(sorted(CONDITIONS), random.randint(1, 2)),
        "exclude": lambda: random.sample(CANDIDATES, 5),
        "include": lambda: [{"key": random.choice(CANDIDATES), "replicates": random.randint(1, 2)}],
        "composition": lambda: _composition(random),
        "budget": lambda: random.choice((0.3, 4, 11.1, 30)),
        "time": lambda: random.choice((40, 90, 200)),
    }
    return drawn | {name: draw() for name, draw in terms.items() if random.random() < 0.35}


def _composition(random: Random) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "same": ["s"],
        "at_most": {"t": random.randint(1, 4)},
        "per": {"s": random.randint(1, 3)},
    }
    return {name: parts[name] for name in random.sample(sorted(parts), random.randint(1, 2))}


def broken_terms(request: Mapping[str, Any], batch: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with a batch, by the words of its request and the list that was uploaded."""
    times = Counter({one["key"]: one["replicates"] for one in batch["suggestions"]})
    included = {one["key"]: one["replicates"] for one in request.get("include", ())}
    keys = list(times.elements())
    rows = [COLUMNS[key] for key in keys]
    if not request.get("min_size", 1) <= len(keys) <= request["max_size"]:
        yield f"{len(keys)} measurements"
    for key in times.keys() - included.keys():
        yield from (f"{key} does not meet {c}" for c in request.get("where", ()) if not CONDITIONS[c](COLUMNS[key]))
    yield from (f"{key} is excluded" for key in times.keys() & set(request.get("exclude", ())))
    yield from (f"{key} is included {times[key]} times" for key in included if times[key] < included[key])
    for name, column in (("budget", "price"), ("time", "minutes")):
        total, most = fsum(row[column] for row in rows), request.get(name, float("inf"))
        if total > most * (1 + ROUNDING):
            yield f"{name} of {total}"
    composition = request.get("composition", {})
    for column in composition.get("same", ()):
        if len({row[column] for row in rows}) > 1:
            yield f"not the same {column}"
    for column, most in composition.get("at_most", {}).items():
        if len({row[column] for row in rows}) > most:
            yield f"more than {most} values of {column}"
    for column, most in composition.get("per", {}).items():
        if max(Counter(row[column] for row in rows).values()) > most:
            yield f"more than {most} with one {column}"


@dataclass
class Walk:
    """What is spent, committed, reserved and switched off, event by event, by rules that share no code with the app."""

    budget: float = 0.0
    spent: float = 0.0
    pending: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)  # id → candidate, measurements
    reserved: dict[int, str] = field(default_factory=dict)  # candidate → worker
    off: set[int] = field(default_factory=set)
    issued: int = 0

    def step(self, kind: str, payload: Mapping[str, Any]) -> Iterator[str]:
        if "configuration" in payload:
            self.budget = payload["configuration"]["budget"]
        elif kind == "candidates-switched":
            numbers = {one["candidate"] for one in payload["candidates"]}
            self.off = self.off - numbers if payload["available"] else self.off | numbers
        elif kind == "candidates-reserved":
            self.reserved |= {one["candidate"]: payload["worker"] for one in payload["candidates"]}
        elif kind == "batch-issued":
            yield from self._issue(payload)
        elif kind == "observations-reported":
            for one in payload["observations"]:
                self._report(one["candidate"], tuple(one.get("suggestion") or ()))
        elif kind == "measurements-abandoned":
            for one in payload["abandoned"]:
                self.pending.pop(tuple(one["suggestion"]), None)

    def _issue(self, batch: Mapping[str, Any]) -> Iterator[str]:
        number, worker = batch["number"], batch["request"]["worker"]
        self.issued += 1
        for rank, one in enumerate(batch["suggestions"], 1):
            candidate = one["candidate"]
            if candidate in self.off:
                yield f"batch {number}: {CANDIDATES[candidate]} is switched off"
            if self.reserved.get(candidate, worker) != worker:
                yield f"batch {number}: {CANDIDATES[candidate]} is reserved by another worker"
            self.reserved.pop(candidate, None)
            self.pending[number, rank] = candidate, one["replicates"]
        committed = [PRICES[candidate] * times for candidate, times in self.pending.values()]
        total = fsum([self.spent, *committed, *(PRICES[candidate] for candidate in self.reserved)])
        if total > self.budget * (1 + ROUNDING) + ROUNDING:
            yield f"batch {number}: {total} spent and committed, of {self.budget}"

    def _report(self, candidate: int, suggestion: tuple[int, ...]) -> None:
        self.spent += PRICES[candidate]
        self.reserved.pop(candidate, None)
        if suggestion in self.pending:
            batch, rank = suggestion
            number, times = self.pending.pop((batch, rank))
            if times > 1:
                self.pending[batch, rank] = number, times - 1


def _ledger_checked(servers: Fleet, study: str) -> tuple[int, list[str]]:
    """How many batches were issued, and what the ledger shows to be wrong with them."""
    walk, broken, after = Walk(), list[str](), 0
    with servers.client() as client:
        while after is not None:
            page = client.get(f"/studies/{study}/events", params={"after": after, "limit": 1000}).json()
            for event in page["events"]:
                broken += walk.step(event["type"], json.loads(event["payload"]))
            after = page["next"]
        for number in range(max(1, walk.issued - REPLAYED + 1), walk.issued + 1):
            replayed = client.post(f"/studies/{study}/batches/{number}/replay").json()
            broken += [] if replayed.get("equal") else [f"batch {number} replays otherwise: {replayed}"]
    return walk.issued, [f"{study}: {words}" for words in broken]


PROMISE = Promise(
    number=31,
    words="A batch keeps its constraints",
    tested=(
        f"{CLIENTS} clients at {SERVERS} processes ask with random conditions, inclusions, exclusions, compositions, "
        "budgets and times, while others report, reserve, switch candidates off and raise the study's budget, and "
        "processes die; in theory and auto mode, with one objective, and with two and a constraint. Every batch is "
        "what its request says; the ledger, walked through by other code, never shows a batch that the study's budget "
        "did not pay for, or with a candidate that was off or reserved."
    ),
    unit="batches",
    full=10_000,
    prove=on_each_database(_prove),
    teeth={
        bug: partial(planted_in_servers, bug)
        for bug in ("budgets that results have spent", "conditions that nobody heeds")
    },
    short=3,
    share=1.5,
)
