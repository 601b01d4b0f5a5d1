"""Whatever happens on the way, one effect each."""

from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from nextbatch import Client, Conflict, Retries, Unavailable, Unreachable
from tests.live import Live

Fault = Callable[[httpx.HTTPTransport, httpx.Request], httpx.Response]
AT_ONCE = Retries(count=3, first_pause=0.0)


class Faulty(httpx.HTTPTransport):
    """Lets one thing after the other go wrong, then nothing more; keeps what was sent."""

    def __init__(self, *faults: Fault) -> None:
        super().__init__()
        self._faults: Iterator[Fault] = iter(faults)
        self.sent: list[httpx.Request] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        fault = next(self._faults, None)
        return super().handle_request(request) if fault is None else fault(self, request)


def passes(transport: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
    return httpx.HTTPTransport.handle_request(transport, request)


def answer_lost(transport: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
    passes(transport, request).read()
    raise httpx.ReadTimeout("the answer did not come", request=request)


def reset(transport: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
    raise httpx.ReadError("connection reset", request=request)


def refused(transport: httpx.HTTPTransport, request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("connection refused", request=request)


def answering(status: int, **headers: str) -> Fault:
    spelled = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda _, request: httpx.Response(status, headers=spelled, request=request)


@pytest.mark.parametrize(
    "fault",
    [answer_lost, reset, refused, answering(429), answering(502), answering(503, retry_after="0"), answering(504)],
)
def test_a_report_has_one_effect_whatever_is_lost(server: Live, study: Any, fault: Fault) -> None:
    transport = Faulty(passes, fault, fault)
    with Client(server.url, server.key, transport=transport, retries=AT_ONCE) as client:
        reported = client.study(study.name).report({"key": "A1", "value": 0.5})
    assert reported.results[0].status == "recorded"
    assert len(study.observations()) == 1
    assert len({request.headers["idempotency-key"] for request in transport.sent[1:]}) == 1
    assert len(transport.sent) == 4


def test_an_ask_whose_answer_is_lost_issues_one_batch(server: Live, study: Any) -> None:
    with Client(server.url, server.key, transport=Faulty(passes, answer_lost), retries=AT_ONCE) as client:
        batch = client.study(study.name).ask(worker="bench-1", max_size=2)
    assert [details.number for details in study.batches()] == [batch.number]


def test_a_conflict_is_never_tried_again(server: Live, study: Any) -> None:
    study.pause()
    transport = Faulty()
    with Client(server.url, server.key, transport=transport, retries=AT_ONCE) as client:
        found = client.study(study.name)
        with pytest.raises(Conflict):
            found.ask()
    assert len(transport.sent) == 2


def test_what_stays_broken_is_said_in_the_end() -> None:
    nobody = Client("http://127.0.0.1:9", transport=Faulty(*[refused] * 9), retries=AT_ONCE)
    with nobody, pytest.raises(Unreachable, match="connection refused"):
        nobody.studies()
    busy = Client("http://127.0.0.1:9", transport=Faulty(*[answering(503)] * 9), retries=AT_ONCE)
    with busy, pytest.raises(Unavailable) as given_up:
        busy.studies()
    assert given_up.value.code == "http-503"


@pytest.mark.parametrize(("retry_after", "said"), [("2", ["answered 503; trying again in 2 s"]), ("0", [])])
def test_a_wait_that_a_person_notices_is_announced(
    server: Live, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, retry_after: str, said: list[str]
) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    transport = Faulty(answering(503, retry_after=retry_after))
    with Client(server.url, server.key, retries=AT_ONCE, transport=transport) as client:
        client.studies()
    own = [record.getMessage() for record in caplog.records if record.name == "nextbatch"]
    assert [words.removeprefix(f"{server.url} ") for words in own] == said


@pytest.mark.parametrize("ending", ["", "/", "/v1", "/v1/"])
def test_an_address_may_end_in_the_version(server: Live, ending: str) -> None:
    with Client(server.url + ending, server.key) as client:
        assert client.me().role == "admin"


def test_a_wrong_address_is_not_tried_again() -> None:
    with Client("ftp://127.0.0.1", retries=Retries(first_pause=1e6)) as client, pytest.raises(Unreachable):
        client.studies()


def test_pauses_double_with_jitter_up_to_the_longest() -> None:
    pauses = list(Retries(count=6, first_pause=1.0, longest_pause=8.0).pauses())
    for pause, most in zip(pauses, [1, 2, 4, 8, 8, 8], strict=True):
        assert most / 2 <= pause <= most


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [("7", 7.0), ("100000", 60.0), ("", 0.0), ("soon", 0.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0)],
)
def test_retry_after_is_a_number_or_a_date_within_limits(asked: str, seconds: float) -> None:
    assert Retries().retry_after(httpx.Response(503, headers={"Retry-After": asked})) == seconds


class Computing(httpx.HTTPTransport):
    """Answers the first asks with 202."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.left = times

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST" and self.left:
            self.left -= 1
            return httpx.Response(202, json={"status": "computing"}, request=request)
        return super().handle_request(request)


def test_a_batch_that_is_still_computed_is_waited_for(server: Live, study: Any) -> None:
    with Client(server.url, server.key, transport=Computing(2)) as client:
        assert client.study(study.name).ask(max_size=1).number == 1
