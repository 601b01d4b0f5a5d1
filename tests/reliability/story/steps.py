"""The steps of a story, as a state machine of Hypothesis: each goes to the servers and to the model."""

import json
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, ClassVar

from httpx2 import Response
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.api.lab import Lab
from tests.reliability.story.model import KEYS, LIST, SEVERAL, Model, Place, Suggested, Told

WORKERS = st.sampled_from(["w1", "w2", "w3"])
VALUES = st.sampled_from([0.0, 1.0, -1.5, 0.1, 1e300, 5e-324, -0.0])
CHOICE = st.integers(0, 10**6)
OF_THE_REQUEST = {
    "request_id",
    "recorded_at",
    "created_at",
    "seconds",
    "hash",
    "previous",
    "head",
    "actor",
    "actors",
    "build",
}
ONE_IN_SO_MANY = 3  # stories are of a study with two objectives, a constraint and costs
MOST_FORKS = 2  # of a story
_numbers = count()

Server = Sequence[Lab]  # processes on one database


class Story(RuleBasedStateMachine):
    """Set `servers` before it runs: the same step goes to each of them, and they must say the same."""

    servers: ClassVar[Sequence[Server]] = ()
    told: ClassVar[list[str]] = []  # how many stories there were

    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.study = f"story-{next(_numbers)}"
        self.several = False
        self.turn = 0
        self.forks = 0
        self.last: tuple[Callable[[Lab], Response], list[Response]] | None = None
        self.told.append(self.study)

    @initialize(kind=st.integers(1, ONE_IN_SO_MANY))
    def begin(self, kind: int) -> None:
        self.several = kind == ONE_IN_SO_MANY
        settings = {"costs": "y", **SEVERAL} if self.several else {}
        for processes in self.servers:
            Lab(processes[0].client, self.study).begin(LIST, repeats="allowed", **settings)

    def tell(self, send: Callable[[Lab], Response]) -> tuple[Told, Any]:
        """Send to a process of each server; what they say, which must be the same."""
        self.turn += 1
        answers = [send(Lab(processes[self.turn % len(processes)].client, self.study)) for processes in self.servers]
        self.last = send, answers
        plain = [(answer.status_code, _plain(answer.json())) for answer in answers]
        assert all(one == plain[0] for one in plain), f"they differ: {plain}"
        status, document = answers[0].status_code, answers[0].json()
        return (status, document["code"] if status >= 400 else None), document

    def write(self, send: Callable[[Lab, dict[str, str]], Response]) -> tuple[Told, Any]:
        """As `tell`, with an Idempotency-Key."""
        headers = {"Idempotency-Key": f"{self.study}-{self.turn}"}
        return self.tell(lambda lab: send(lab, headers))

    def measured(self, value: float) -> dict[str, Any]:
        """A value as it is reported: in some stories with the other quantities that a measurement gives."""
        return {"values": {"yield": value, "waste": value, "purity": -value}} if self.several else {"value": value}

    def place(self, choice: int) -> Place:
        return sorted(self.model.suggestions)[choice % len(self.model.suggestions)]

    @rule(worker=WORKERS, size=st.integers(1, 3))
    def ask(self, worker: str, size: int) -> None:
        model, known = self.model, self.model.open_batch(worker)
        (status, code), batch = self.write(lambda lab, headers: lab.ask(worker, headers, max_size=size))
        if known is not None:
            same((status, batch["number"]), (200, known))
        elif model.state != "active":
            same((status, code), (409, "study-not-active"))
        elif status == 409:
            same(code, "candidates-exhausted")
        else:
            same((status, batch["number"], batch["worker"]), (201, len(model.workers) + 1, worker))
            self._issue(batch, size)

    def _issue(self, batch: dict[str, Any], size: int) -> None:
        chosen = [Suggested(one["key"], one["replicates"]) for one in batch["suggestions"]]
        assert 1 <= sum(one.replicates for one in chosen) <= size
        assert not {one.key for one in chosen} & self.model.switched_off
        self.model.workers[batch["number"]] = batch["worker"]
        self.model.suggestions |= {(batch["number"], rank): one for rank, one in enumerate(chosen, start=1)}

    @precondition(lambda self: self.model.suggestions)
    @rule(choice=CHOICE, value=VALUES)
    def report(self, choice: int, value: float) -> None:
        batch, rank = place = self.place(choice)
        values = [value] * self.model.suggestions[place].replicates
        if len(values) > 1:
            return  # replicates are what tests/api/test_report.py is about
        body = {"suggestion": f"B{batch}-S{rank}", **self.measured(value)}
        same(self.write(lambda lab, headers: lab.send(body, headers))[0], self.model.report(place, value))

    @rule(key=st.sampled_from(KEYS), value=VALUES, new=st.booleans())
    def report_by_key(self, key: str, value: float, new: bool) -> None:
        """Equal values are one measurement, unless they are said to be new."""
        if any(one.key == key and one.replicates > 1 for one in self.model.suggestions.values()):
            return
        if not new and self.model.is_pending(key):
            return  # whether it is meant for the suggestion is what tests/api/test_wrong_candidate.py is about
        body, params = {"candidate": key, **self.measured(value)}, {"duplicates": "new"} if new else {}
        told = self.write(lambda lab, headers: lab.send(body, headers, **params))[0]
        same(told, self.model.report_by_key(key, value, new=new))

    @precondition(lambda self: self.model.suggestions)
    @rule(choice=CHOICE, retry=st.booleans())
    def fail(self, choice: int, retry: bool) -> None:
        batch, rank = place = self.place(choice)
        if self.model.suggestions[place].replicates > 1:
            return
        body = {"suggestion": f"B{batch}-S{rank}", "failed": {"reason": "broke", "retry": retry}}
        same(self.write(lambda lab, headers: lab.send(body, headers))[0], self.model.fail(place, retry))

    @precondition(lambda self: self.model.observations)
    @rule(choice=CHOICE, value=st.none() | VALUES, seen=st.sampled_from([None, 0, 1, 2, 3]))
    def correct(self, choice: int, value: float | None, seen: int | None) -> None:
        number = choice % len(self.model.observations) + 1
        version = "*" if seen is None else str(seen)
        told = self.tell(
            lambda lab: (
                lab.retract(number, version=version)
                if value is None
                else lab.send_correction(number, self.measured(value), version=version)
            )
        )
        same(told[0], self.model.correct(number, value, seen))

    @precondition(lambda self: self.model.workers)
    @rule(choice=CHOICE)
    def close(self, choice: int) -> None:
        number = choice % len(self.model.workers) + 1
        path = f"batches/{number}/close"
        told = self.write(lambda lab, headers: lab.client.post(f"{lab.path}/{path}", headers=headers))
        same(told[0], self.model.close(number))

    @rule(state=st.sampled_from(["paused", "active", "active", "active", "archived"]), really=st.integers(0, 9))
    def change(self, state: str, really: int) -> None:
        if state == "archived" and really:  # else most steps would be refused
            return
        same(self.tell(lambda lab: lab.change(state=state))[0], self.model.change(state))

    @rule(key=st.sampled_from(KEYS), available=st.booleans())
    def switch(self, key: str, available: bool) -> None:
        body = {"available": available} | ({} if available else {"reason": "broken"})
        path = f"candidates/{key}"
        told = self.tell(lambda lab: lab.client.patch(f"{lab.path}/{path}", json=body))
        same(told[0], self.model.switch(key, available))

    @precondition(lambda self: self.forks < MOST_FORKS)
    @rule()
    def fork(self) -> None:
        """It begins with the results that there are, without what is pending; another process finds it."""
        self.forks += 1
        name = f"{self.study}-fork-{self.forks}"
        for status in (201, 200):
            told = self.tell(lambda lab: lab.client.post(f"{lab.path}/fork", json={"name": name}))
            same(told[0], (status, None))
        _, page = self.tell(lambda lab: lab.client.get(f"/v1/studies/{name}/observations"))
        seen = [(one["key"], repr(one["value"]), one["version"], one["state"]) for one in page["observations"]]
        same(seen, [(one.key, repr(one.value), one.version, one.state) for one in self.model.observations])
        _, bench = self.tell(lambda lab: lab.client.get(f"/v1/studies/{name}/suggestions"))
        same(bench["suggestions"], [])
        _, verified = self.tell(lambda lab: lab.client.post(f"/v1/studies/{name}/verify"))
        assert verified["sound"]

    @precondition(lambda self: self.last is not None)
    @rule()
    def again(self) -> None:
        """The same write once more, to another process: the same bytes, if it has a key; a read anyhow."""
        assert self.last is not None
        send, answers = self.last
        if "Idempotency-Key" not in answers[0].request.headers or not answers[0].is_success:
            return
        self.tell(send)
        same([one.content for one in self.last[1]], [one.content for one in answers])

    @rule()
    def look(self) -> None:
        """Everything that can be read is what the model says."""
        model = self.model
        _, page = self.tell(lambda lab: lab.client.get(f"{lab.path}/observations"))
        seen = [(one["key"], repr(one["value"]), one["version"], one["state"]) for one in page["observations"]]
        same(seen, [(one.key, repr(one.value), one.version, one.state) for one in model.observations])
        _, bench = self.tell(lambda lab: lab.client.get(f"{lab.path}/suggestions"))
        waiting = [
            f"B{batch}-S{rank}" for (batch, rank), one in sorted(model.suggestions.items()) if one.state == "pending"
        ]
        same([one["suggestion"] for one in bench["suggestions"]], waiting)
        _, study = self.tell(lambda lab: lab.client.get(lab.path))
        same(study["state"], model.state)
        _, off = self.tell(lambda lab: lab.client.get(f"{lab.path}/candidates", params={"available": "false"}))
        same({one["key"] for one in off["candidates"]}, model.switched_off)

    def teardown(self) -> None:
        """The ledger is whole, and the last batch can be computed again by any process."""
        self.look()
        self.tell(lambda lab: lab.client.get(f"{lab.path}/summary"))
        _, verified = self.tell(lambda lab: lab.client.post(f"{lab.path}/verify"))
        assert verified["sound"]
        if self.model.workers:
            last = len(self.model.workers)
            _, replayed = self.tell(lambda lab: lab.client.post(f"{lab.path}/batches/{last}/replay"))
            assert replayed["equal"]


def same(told: object, wanted: object) -> None:
    assert told == wanted, f"told {told}, not {wanted};"


def _plain(document: Any) -> Any:
    """A document without what names its request, moment or server."""
    if isinstance(document, dict):
        return {name: _plain(value) for name, value in document.items() if name not in OF_THE_REQUEST}
    if isinstance(document, list):
        return [_plain(value) for value in document]
    return json.dumps(document)
