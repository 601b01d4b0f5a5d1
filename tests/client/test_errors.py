"""Every refusal is one exception of one tree, with all that the server said."""

import pickle
import traceback

import httpx
import pytest

from nextbatch import (
    Client,
    Conflict,
    Finding,
    Forbidden,
    InvalidInput,
    NextbatchError,
    NotFound,
    Problem,
    ServerBug,
    StillComputing,
    Unauthenticated,
    Unavailable,
)
from nextbatch.errors import problem_of
from tests.live import Live


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidInput),
        (401, Unauthenticated),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (410, NotFound),
        (412, Conflict),
        (413, InvalidInput),
        (422, InvalidInput),
        (428, Conflict),
        (429, Unavailable),
        (500, ServerBug),
        (503, Unavailable),
        (507, Unavailable),
    ],
)
def test_a_status_becomes_its_exception(status: int, kind: type[Problem]) -> None:
    problem = problem_of(httpx.Response(status, text="<html>a proxy's page</html>"))
    assert type(problem) is kind
    assert isinstance(problem, NextbatchError)
    assert problem.code == f"http-{status}"


def test_an_exception_carries_what_the_server_said() -> None:
    document = {
        "code": "invalid-input",
        "detail": "The payload breaks a rule; see errors.",
        "request_id": "abc",
        "errors": [{"code": "missing", "message": "Say why.", "pointer": "/reason"}] * 12,
        "total": 12,
    }
    problem = problem_of(httpx.Response(422, json=document))
    assert (problem.code, problem.request_id, problem.facts) == ("invalid-input", "abc", {"total": 12})
    assert problem.errors[0].pointer == "/reason"
    assert "\n  reason: Say why." in str(problem)
    assert "2 more" in str(problem)
    assert str(pickle.loads(pickle.dumps(problem))) == str(problem)  # noqa: S301


def test_a_traceback_says_what_to_call_in_python() -> None:
    exists = problem_of(httpx.Response(409, json={"code": "study-exists", "detail": "A study of this name exists."}))
    assert "study.change(…)" in "".join(traceback.format_exception(exists))
    assert "study.change" not in str(exists)
    assert pickle.loads(pickle.dumps(exists)).__notes__ == exists.__notes__  # noqa: S301


def test_a_wrong_key_and_a_missing_one_are_unauthenticated(server: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEXTBATCH_KEY", raising=False)
    for key in ("nb_000000000000_wrong", None):
        with Client(server.url, key) as client, pytest.raises(Unauthenticated):
            client.studies()


def test_a_role_that_may_not_is_forbidden(server: Live) -> None:
    with Client(server.url, server.key) as admin:
        admin.create_study("granted")
        dashboard = admin.create_key("wall", "dashboard", studies=["granted"]).key
    with Client(server.url, dashboard) as client, pytest.raises(Forbidden) as refused:
        client.study("granted").ask()
    assert refused.value.facts["scope"] == "ask"


def test_url_and_key_come_from_the_environment(server: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    with Client() as client:
        assert client.me().role == "admin"
        assert server.url in repr(client)


def test_an_ask_gives_up_waiting_when_told_to(server: Live) -> None:
    def compute(request: httpx.Request) -> httpx.Response:
        return httpx.Response(202 if request.method == "POST" else 200, json=STUDY)

    with Client(server.url, transport=httpx.MockTransport(compute)) as client, pytest.raises(StillComputing):
        client.study("slow").ask(wait=0.0)


STUDY = {
    "name": "slow",
    "state": "active",
    "version": 1,
    "created_at": "2026-01-01T00:00:00Z",
    "configuration": {},
    "candidates": 0,
    "columns": [],
    "something": "that a newer server says",
}


@pytest.mark.parametrize(
    ("pointer", "shown"),
    [
        ("/max_batch", "max_batch"),
        ("/objectives/0/name", "objectives[0].name"),
        ("/values/a~1b", "values.a/b"),
        ("path study", "path study"),
    ],
)
def test_a_place_is_shown_as_python_writes_it(pointer: str, shown: str) -> None:
    assert str(Finding("c", "Wrong.", pointer=pointer)) == f"{shown}: Wrong."
