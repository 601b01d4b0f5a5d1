"""Webhooks: what happens in a study is told to a listed address, signed, in order, and at least once."""

from collections.abc import Callable
from datetime import UTC, datetime
from threading import Thread
from time import time
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.webhooks import dispatcher as dispatching
from app.webhooks.dispatcher import Dispatcher
from tests.api.conftest import problem
from tests.api.lab import Lab
from tests.webhooks.receiver import Receiver, is_signed


def add(lab: Lab, receiver: Receiver, **more: Any) -> dict[str, Any]:
    made = lab.client.post(f"{lab.path}/webhooks", json={"url": f"{receiver.url}/hooks/lab", **more})
    assert made.status_code == 201, made.text
    webhook: dict[str, Any] = made.json()
    return webhook


def deliveries(lab: Lab, **params: Any) -> list[dict[str, Any]]:
    page: list[dict[str, Any]] = lab.client.get(f"{lab.path}/webhooks/1/deliveries", params=params).json()["deliveries"]
    return page


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody pauses after a failed attempt, and notices are looked for all the time."""
    monkeypatch.setattr(dispatching, "PAUSES", (0.0,))
    monkeypatch.setattr(dispatching, "CHECK_SECONDS", -1.0)


def test_what_happens_is_told_with_a_signature(lab: Lab, receiver: Receiver, dispatcher: Dispatcher) -> None:
    webhook = add(lab.begin(), receiver)
    batch = lab.batch(worker="bench-2", max_size=3)
    lab.measure(batch)
    lab.report(candidate="DMF-20", failed={"reason": "broken flask"})
    dispatcher.look()

    issued, reported, failed = receiver.messages
    assert issued["type"] == "batch.issued"
    names = ("study", "batch", "worker", "size")
    assert [issued["data"][name] for name in names] == ["s", 1, "bench-2", 3]
    assert (reported["type"], reported["data"]["results"], reported["data"]["batches"]) == ("results.reported", 3, [1])
    assert (failed["type"], failed["data"]["failed"]) == ("results.reported", 1)
    for path, headers, body in receiver.got:
        assert path == "/hooks/lab"
        assert is_signed(webhook["secret"], headers, body)
        assert abs(time() - int(headers["webhook-timestamp"])) < 60
        assert "authorization" not in headers
    assert len(set(receiver.ids)) == 3
    assert [(sent["state"], sent["status"], sent["attempts"]) for sent in deliveries(lab)] == [
        ("delivered", 204, 1)
    ] * 3
    assert [sent["message"] for sent in deliveries(lab)] == receiver.ids


def test_no_measured_value_leaves_with_a_message(lab: Lab, receiver: Receiver, dispatcher: Dispatcher) -> None:
    add(lab.begin(), receiver)
    lab.report(candidate="DMF-20", value=31.4159, note="secret recipe", measured_by="Ada")
    dispatcher.look()
    (_, _, body), *_ = receiver.got
    assert not any(word in body.decode() for word in ("31.4159", "secret recipe", "Ada", "DMF-20"))


def test_only_what_was_asked_for_and_happens_later_is_told(
    lab: Lab, receiver: Receiver, dispatcher: Dispatcher
) -> None:
    lab.begin().work(1)
    add(lab, receiver, events=["results.reported"])
    lab.work(1)
    dispatcher.look()
    assert [kind for kind, _ in receiver.told()] == ["results.reported"]


@pytest.mark.usefixtures("impatient")
def test_a_message_is_tried_again_and_the_next_one_waits_for_it(
    lab: Lab, receiver: Receiver, dispatcher: Dispatcher
) -> None:
    add(lab.begin(), receiver)
    lab.work(2)
    receiver.answers = [500, 301, 400]
    dispatcher.look()
    waiting = deliveries(lab)[0]
    assert (waiting["state"], waiting["status"], waiting["attempts"]) == ("pending", 500, 1)
    for _ in range(3):
        dispatcher.look()
    assert [path for path, _, _ in receiver.got] == ["/hooks/lab"] * 7  # no redirect is followed
    assert len(set(receiver.ids[:4])) == 1
    events = [event for _, event in receiver.told()]
    assert events == sorted(events)
    assert {sent["state"] for sent in deliveries(lab)} == {"delivered"}
    assert deliveries(lab)[0]["attempts"] == 4


def test_pauses_grow_until_a_message_is_given_up(
    lab: Lab, receiver: Receiver, dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(lab.begin(), receiver, events=["batch.issued"])
    lab.batch()
    receiver.answers = [503] * 30
    monkeypatch.setattr(dispatching, "now", lambda: "9999")  # every pause is over
    pauses = []
    for _ in range(8):
        dispatcher.look()
        (sent,) = deliveries(lab)
        pauses.append((datetime.fromisoformat(sent["due_at"]) - datetime.now(UTC)).total_seconds())
    assert pauses[:7] == sorted(pauses[:7])
    assert (pauses[0] < 6, pauses[6] > 30_000, sent["state"], sent["attempts"]) == (True, True, "pending", 8)
    monkeypatch.setitem(dispatcher._resources.settings.__dict__, "webhook_hours", 1.0)
    dispatcher.look()
    assert deliveries(lab)[0]["state"] == "given-up"


def test_a_message_anchors_the_ledger_with_the_hash_of_its_event(
    lab: Lab, receiver: Receiver, dispatcher: Dispatcher
) -> None:
    add(lab.begin(), receiver)
    lab.measure(lab.batch(max_size=2))
    dispatcher.look()
    hashes = {event["seq"]: event["hash"] for event in lab.events()}
    assert [message["data"]["head"] for message in receiver.messages] == [hashes[3], hashes[4]]
    anchored = [message["data"]["event"] for message in receiver.messages]
    assert anchored == [3, 4]


def test_a_target_that_is_gone_is_told_nothing_more(lab: Lab, receiver: Receiver, dispatcher: Dispatcher) -> None:
    add(lab.begin(), receiver)
    lab.batch()
    receiver.answers = [410]
    dispatcher.look()
    lab.report(candidate="DMF-20", value=1.0)
    dispatcher.look()
    assert len(receiver.got) == 1
    assert lab.client.get(f"{lab.path}/webhooks/1").json()["ended_at"]


@pytest.mark.usefixtures("impatient")
def test_an_overdue_batch_and_the_end_of_a_study_are_told_once(
    lab: Lab, receiver: Receiver, dispatcher: Dispatcher
) -> None:
    add(lab.begin(overdue_hours=1e-6, stop={"observations": 1}), receiver, events=["batch.overdue", "study.finished"])
    lab.batch(worker="late", max_size=2)
    lab.report(candidate="MeOH-90", value=1.0)
    for _ in range(3):
        dispatcher.look()
    lab.change(state="archived")
    dispatcher.look()
    told = {message["type"]: message["data"] for message in receiver.messages}
    assert [message["type"] for message in receiver.messages] == ["batch.overdue", "study.finished", "study.finished"]
    assert (told["batch.overdue"]["batch"], told["batch.overdue"]["worker"]) == (1, "late")
    assert [message["data"].get("rule") for message in receiver.messages] == [None, "observations", "archived"]


def test_a_new_secret_signs_beside_the_old_one_for_a_while(
    lab: Lab, receiver: Receiver, dispatcher: Dispatcher
) -> None:
    old = add(lab.begin(), receiver)["secret"]
    secrets = f"{lab.path}/webhooks/1/secret"
    new = lab.client.post(secrets, json={}).json()["secret"]
    lab.batch()
    dispatcher.look()
    newest = lab.client.post(secrets, json={"overlap_hours": 0}).json()["secret"]
    lab.report(candidate="DMF-20", value=1.0)
    dispatcher.look()
    (_, *first), (_, *second) = receiver.got
    assert [is_signed(secret, *first) for secret in (old, new, newest)] == [True, True, False]
    assert [is_signed(secret, *second) for secret in (old, new, newest)] == [False, False, True]


def test_of_several_processes_one_sends_a_message(
    lab: Lab, receiver: Receiver, new_dispatcher: Callable[[], Dispatcher]
) -> None:
    add(lab.begin(), receiver)
    lab.work(5)
    threads = [Thread(target=new_dispatcher().look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    new_dispatcher().look()
    assert len(receiver.ids) == len(set(receiver.ids)) == 10
    assert [event for _, event in receiver.told()] == sorted(event for _, event in receiver.told())


@pytest.mark.parametrize(
    "url",
    [
        "{receiver}/elsewhere",
        "{receiver}/hooks/../elsewhere",
        "{receiver}/hooks/%2e%2e/elsewhere",
        "{receiver}/hookshop",
        "https://example.org/hooks",
        "http://127.0.0.1/hooks",
        "http://user:word@127.0.0.1/hooks",
        "file:///etc/passwd",
        "gopher://127.0.0.1/hooks",
        "http://[::1/hooks",
    ],
)
def test_an_address_that_is_not_listed_is_refused(lab: Lab, receiver: Receiver, url: str) -> None:
    lab.begin()
    refused = lab.client.post(f"{lab.path}/webhooks", json={"url": url.format(receiver=receiver.url)})
    document = problem(refused, 422, "invalid-input")
    assert (document["errors"][0]["code"], document["errors"][0]["pointer"]) == ("target-not-allowed", "/url")
    assert lab.client.get(f"{lab.path}/webhooks").json() == {"webhooks": []}


def test_who_manages_webhooks_is_in_the_audit_log(admin: TestClient, lab: Lab, receiver: Receiver) -> None:
    add(lab.begin(), receiver)
    lab.client.post(f"{lab.path}/webhooks/1/secret", json={})
    assert lab.client.delete(f"{lab.path}/webhooks/1").status_code == 204
    problem(lab.client.get(f"{lab.path}/webhooks/1"), 404, "not-found")
    actions = [entry["action"] for entry in admin.get("/v1/audit").json()["entries"]]
    assert actions[-3:] == ["webhook-created", "webhook-resigned", "webhook-removed"]
