"""A client at work: it reports, asks, corrects and reads, repeats itself when it hears nothing, and notes it all."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from random import Random
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any
from uuid import UUID

import httpx

from tests.api.lab import THEORY, Lab
from tests.reliability.fleet import Fleet
from tests.reliability.operations import History, Operation, Outcome

ATTEMPTS = 8
CANDIDATES = [f"K{number}" for number in range(300)]
LIST = "key,t,s,price\n" + "".join(f"{key},{n % 17},{'abc'[n % 3]},{1 + n % 4}\n" for n, key in enumerate(CANDIDATES))
FORKING_CLIENTS, FORKING_DEEDS = 2, (5, 30)  # so many clients fork, before these of their deeds
TRY_AGAIN, COMPUTING = (503, 507), 202


@dataclass
class Bench:
    number: int
    addresses: Sequence[str]
    key: str
    study: str
    random: Random
    history: History
    acknowledged: list[tuple[int, float]] = field(default_factory=list)  # observations by number, with their values
    least: int = 1  # attempts
    most: int = ATTEMPTS
    repeated: float = 0.0  # the share of what is done that is sent once more, to see the same bytes
    deeds: int = 0  # of this client so far
    several: bool = False  # the study measures three quantities: every value comes with two more
    connection: httpx.Client = field(default_factory=lambda: httpx.Client(timeout=30))

    def __post_init__(self) -> None:
        self._numbers = count()

    def work(self) -> None:
        """One of the things that people do."""
        self.deeds += 1
        if self.number <= FORKING_CLIENTS and self.deeds in FORKING_DEEDS:
            self.fork()
        doing = (self.report, self.ask, self.correct, self.look, self.blunder)
        self.random.choices(doing, weights=(55, 15, 10, 15, 5))[0]()

    def report(self) -> None:
        lines = [{"candidate": self.random.choice(CANDIDATES), "value": self._value()} for _ in range(self._few())]
        for line in lines:
            if self.random.random() < 0.3:
                line["ref"] = f"ref {line['value']}"
        self._note_report(lines)

    def blunder(self) -> None:
        """Report for a candidate that does not exist: refused, with no effect on what others report meanwhile."""
        lines = [{"candidate": key, "value": self._value()} for key in (self.random.choice(CANDIDATES), "nobody")]
        outcome, answer = self._send("POST", "observations?duplicates=new", {"observations": lines})
        if outcome is Outcome.OK:
            self.history.violations.append(f"an unknown candidate was taken: {answer}")

    def ask(self) -> None:
        """As a worker whom nobody met before, so that the batch was computed after this began; and report it."""
        worker = f"bench-{self.number}-{next(self._numbers)}"
        asked = self.do("ask", "batches", {"worker": worker, "max_size": 3, "wait": 20})
        if asked.outcome is Outcome.OK:
            suggestions = asked.answer["suggestions"]
            lines = [
                {"suggestion": one["suggestion"], "values": [self._value() for _ in range(one["replicates"])]}
                for one in suggestions
            ]
            self._note_report(lines)
            self._send("POST", f"batches/{asked.answer['number']}/close", None)

    def correct(self) -> None:
        if not self.acknowledged:
            return
        number, _ = self.random.choice(self.acknowledged)
        body = {"value": self._value(), "reason": "read again"}
        self.do("correct", f"observations/{number}/corrections", body, values=(body["value"],))

    def look(self) -> None:
        """Whatever was acknowledged is seen by every process."""
        self._send("GET", "summary", None)
        if self.acknowledged:
            number, value = self.random.choice(self.acknowledged)
            outcome, answer = self._send("GET", f"observations/{number}", None)
            if outcome is Outcome.OK and answer["observations"][0]["value"] != value:
                self.history.violations.append(f"observation {number} was {value}, is {answer['observations'][0]}")
            if outcome is Outcome.FAIL and answer:
                self.history.violations.append(f"observation {number} was acknowledged and is not seen: {answer}")

    def fork(self) -> None:
        """A few times in all: a fork copies the whole ledger while the others go on."""
        self.do("fork", "fork", {"name": f"{self.study}-fork-{self.number}-{self.deeds}"})

    def _note_report(self, lines: list[dict[str, Any]]) -> None:
        values = tuple(value for line in lines for value in line.get("values", [line.get("value")]))
        done = self.do(
            "report", "observations?duplicates=new", {"observations": lines}, values
        )  # the key alone guards it
        if done.outcome is Outcome.OK:
            numbers = [one["observation"] for one in done.answer["results"]]
            self.acknowledged += zip(numbers, values, strict=True)

    def do(self, kind: str, path: str, body: dict[str, Any], values: tuple[float, ...] = ()) -> Operation:
        began = monotonic()
        outcome, answer = self._send("POST", path, body)
        done = Operation(kind, values, began, monotonic(), outcome, answer, fork=body.get("name", ""))
        self.history.operations.append(done)
        return done

    def _send(self, method: str, path: str, body: dict[str, Any] | None) -> tuple[Outcome, dict[str, Any]]:
        """Try some times under one Idempotency-Key, at any server."""
        token, outcome = self.token(), Outcome.FAIL
        for _ in range(self.random.randint(self.least, self.most)):
            token = self.next_token(token)
            request = self._request(method, path, body, token)
            answer = self._try(request)
            if isinstance(answer, httpx.Response):
                if method == "POST" and self.random.random() < self.repeated:
                    self._compare(request, answer)
                return (Outcome.OK if answer.is_success else Outcome.FAIL), answer.json()
            outcome = Outcome.UNKNOWN if answer is Outcome.UNKNOWN else outcome
        return outcome, {}

    def _request(self, method: str, path: str, body: dict[str, Any] | None, token: str) -> httpx.Request:
        url = f"{self.random.choice(self.addresses)}/v1/studies/{self.study}/{path}"
        headers = {"Authorization": f"Bearer {self.key}", "Idempotency-Key": token, "If-Match": "*"}
        sent = with_three_quantities(body) if self.several and body else body
        return self.connection.build_request(method, url, json=sent, headers=headers)

    def _try(self, request: httpx.Request) -> httpx.Response | Outcome:
        """An answer that settles it; else whether it is surely not done, or nobody knows."""
        try:
            answer = self.connection.send(request)
        except httpx.ConnectError:
            sleep(0.02)
            return Outcome.FAIL
        except httpx.TransportError:
            return Outcome.UNKNOWN
        if answer.status_code < 500 and answer.status_code != COMPUTING:
            return answer
        self._judge(request, answer)
        sleep(0.05)
        surely_not = answer.status_code in TRY_AGAIN and answer.json()["code"] != "outcome-unknown"
        return Outcome.FAIL if surely_not else Outcome.UNKNOWN

    def _judge(self, request: httpx.Request, answer: httpx.Response) -> None:
        """Servers may say that they cannot now, and when to come again; nothing else."""
        if answer.status_code not in (*TRY_AGAIN, COMPUTING) or "Retry-After" not in answer.headers:
            words = f"{request.method} {request.url}: {answer.status_code} {answer.text[:500]}"
            self.history.violations.append(words)

    def _compare(self, request: httpx.Request, first: httpx.Response) -> None:
        """The same request again gets the same bytes."""
        with suppress(httpx.TransportError):
            again = self.connection.send(request)
            self.history.compared += 1
            if first.is_success and (again.status_code, again.content) != (first.status_code, first.content):
                words = f"{request.url} was answered {first.text[:500]}, and again {again.text[:500]}"
                self.history.violations.append(words)

    def token(self) -> str:
        return str(UUID(int=self.random.getrandbits(128)))

    def next_token(self, token: str) -> str:
        """For the next attempt: the same, or a retry would do it twice."""
        return token

    def _value(self) -> float:
        """One that nobody else reports."""
        return self.number + next(self._numbers) / 2**20

    def _few(self) -> int:
        return self.random.choice((1, 1, 2, 5))


THREE_QUANTITIES = {
    "objectives": [{"name": "yield", "direction": "maximize"}, {"name": "waste", "direction": "minimize"}],
    "constraints": [{"name": "purity", "at_least": 0.5}],
}


def three_quantities(value: float) -> dict[str, float]:
    """What a measurement of this yield gives."""
    return {"yield": value, "waste": value / 2, "purity": 1 - value}


def with_three_quantities(body: dict[str, Any]) -> dict[str, Any]:
    """A report or a correction in which every value is a yield, and comes with the other quantities."""
    if "observations" in body:
        return {"observations": [with_three_quantities(line) for line in body["observations"]]}
    plain = {name: member for name, member in body.items() if name not in ("value", "values")}
    if "value" in body:
        return {**plain, "values": three_quantities(body["value"])}
    if "values" in body:
        return {**plain, "replicates": [three_quantities(value) for value in body["values"]]}
    return body


def begin_study(fleet: Fleet, study: str, *, several: bool = False, **settings: Any) -> None:
    """By this process, which no bug is planted in; of one quantity, or of several with a constraint and costs."""
    lab = Lab(fleet.lab.client, study)
    if several:
        lab.begin(LIST, costs="price", theory=THEORY, **THREE_QUANTITIES, **settings)
    else:
        lab.begin(LIST, theory=THEORY, **settings)


@contextmanager
def at_work(
    fleet: Fleet,
    study: str,
    seed: int,
    clients: int,
    work: Callable[[Bench], None] = Bench.work,
    addresses: Sequence[str] | None = None,
    *,
    several: bool = False,
) -> Iterator[History]:
    """Clients that work until the block ends."""
    history, ended = History(), Event()

    def run(number: int) -> None:
        where = addresses or fleet.addresses
        random = Random(f"{seed} {study} {number}")
        bench = Bench(number + 1, where, fleet.key, study, random, history, several=several)
        try:
            while not ended.is_set():
                work(bench)
        except Exception as error:
            history.violations.append(f"a client broke: {error!r}")
            raise
        finally:
            bench.connection.close()

    threads = [Thread(target=run, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    try:
        yield history
    finally:
        ended.set()
        for thread in threads:
            thread.join()
