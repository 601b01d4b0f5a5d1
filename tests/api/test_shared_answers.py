"""Read models for many who poll: computed once for each state, 304 without the model, only for those who may see."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from time import sleep
from typing import Any

import pytest

from app.api import shared_answers
from app.api.routes import reading
from app.api.schemas.shape import Shape
from app.api.shared_answers import SharedAnswer, SharedAnswers, StudyLooks
from app.domain.access import Actor
from app.domain.errors import Unauthenticated
from app.services.resources import Resources
from app.services.transactions import ReadTransactions
from app.services.use_cases.access import authenticate, revoke_key
from tests.api.conftest import problem
from tests.api.lab import Lab
from tests.api.test_keys import bearer, make
from tests.conftest import OPERATOR

SHARED = ("summary", "certificate", "front", "trace", "diagnostics", "candidates?posterior=true&sort=-mean")


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The studies that were summarised, as it happens; each takes a moment."""
    seen: list[str] = []
    summarise = reading.summarise

    def noted(resources: Resources, tx: ReadTransactions, study: str, as_of: int | None) -> Any:
        seen.append(study)
        sleep(0.1)
        return summarise(resources, tx, study, as_of)

    monkeypatch.setattr(reading, "summarise", noted)
    return seen


def no_model(*_arguments: object) -> None:
    raise AssertionError("the model was asked")


@pytest.mark.parametrize("path", SHARED)
def test_who_knows_the_state_gets_304_without_the_model(
    lab: Lab, resources: Resources, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    lab.begin().work(2)
    address = f"{lab.path}/{path}"
    first = lab.client.get(address)
    for name in ("insight", "front", "predictions"):
        monkeypatch.setattr(type(resources.compute), name, no_model)
    again = lab.client.get(address, headers={"If-None-Match": first.headers["ETag"]})
    assert (first.status_code, again.status_code, again.content) == (200, 304, b"")
    same = lab.client.get(address)
    assert (same.content, same.headers["ETag"]) == (first.content, first.headers["ETag"])


def test_a_state_is_computed_once_for_all_keys_and_anew_after_a_report(lab: Lab, computed: list[str]) -> None:
    lab.begin().report(candidate="MeOH-40", value=0.2)
    keys = [make(lab.client, role="dashboard", studies=[lab.study])["key"] for _ in range(3)]
    bodies = {lab.client.get(f"{lab.path}/summary", headers=bearer(key)).content for key in keys}
    assert (len(bodies), computed) == (1, [lab.study])
    lab.report(candidate="MeOH-50", value=0.3)
    after = lab.client.get(f"{lab.path}/summary").json()
    assert (after["counts"]["observations"], computed) == (2, [lab.study] * 2)


def test_requests_at_the_same_time_share_one_computation(lab: Lab, computed: list[str]) -> None:
    lab.begin().report(candidate="MeOH-40", value=0.2)
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: lab.client.get(f"{lab.path}/summary"), range(6)))
    assert {answer.status_code for answer in answers} == {200}
    assert computed == [lab.study]


def test_other_parameters_are_another_answer(lab: Lab) -> None:
    lab.begin().report(candidate="MeOH-40", value=0.2)
    lab.report(candidate="MeOH-50", value=0.3)
    now, before = (lab.client.get(f"{lab.path}/summary{query}").json() for query in ("", "?as_of=3"))
    assert (now["counts"]["observations"], before["counts"]["observations"]) == (2, 1)
    pages = [lab.client.get(f"{lab.path}/candidates?limit={limit}").json()["candidates"] for limit in (2, 5)]
    assert [len(page) for page in pages] == [2, 5]


def test_a_shared_answer_is_for_those_alone_who_may_see_the_study(lab: Lab) -> None:
    lab.begin()
    first = lab.client.get(f"{lab.path}/summary")
    stranger = make(lab.client, role="dashboard")
    known = {"If-None-Match": first.headers["ETag"]}
    for headers in ({}, known):
        problem(
            lab.client.get(f"{lab.path}/summary", headers=bearer(stranger["key"]) | headers), 404, "study-not-found"
        )
    member = make(lab.client, role="dashboard", studies=[lab.study])
    assert lab.client.get(f"{lab.path}/summary", headers=bearer(member["key"])).status_code == 200
    lab.client.post(f"/v1/keys/{member['id']}/revocation")
    for headers in ({}, known):
        problem(lab.client.get(f"{lab.path}/summary", headers=bearer(member["key"]) | headers), 401, "unauthenticated")


def test_a_revoked_key_learns_nothing_from_a_look_that_its_earlier_request_began(
    lab: Lab, resources: Resources
) -> None:
    """Both wait for the same look; the first was looked up before the key was revoked."""
    lab.begin()
    plaintext_key = make(lab.client, role="dashboard", studies=[lab.study])["key"]
    with resources.database.read() as connection:
        key = authenticate(connection, plaintext_key)
    with resources.database.write() as connection:
        revoke_key(connection, OPERATOR, key.id)
    looks = StudyLooks()

    async def both() -> list[Any]:
        waiting = [
            looks.find(ReadTransactions(resources.database, Actor(key, "r", remembered=remembered)), lab.study)
            for remembered in (False, True)
        ]
        return await asyncio.gather(*waiting, return_exceptions=True)

    assert [type(answer) for answer in asyncio.run(both())] == [Unauthenticated, Unauthenticated]


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_answers, "MOST_BYTES", 100)
    monkeypatch.setattr(shared_answers, "MOST_BYTES_OF_ONE", 60)
    answers = SharedAnswers()
    for number in range(5):
        answers._keep(f"/{number}", SharedAnswer("e", b"x" * 40))
        answers.find("/0", "e")
    answers._keep("/large", SharedAnswer("e", b"x" * 61))
    assert set(answers._answers) == {"/0", "/4"}
    answers._keep("/0", SharedAnswer("f", b"x" * 10))
    assert (answers.find("/0", "e"), answers.find("/0", "f"), answers._size) == (None, b"x" * 10, 50)


def test_if_computing_fails_the_next_reader_tries_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.begin()
    shape: Callable[..., Shape] = reading.summary_out
    monkeypatch.setattr(reading, "summary_out", no_model)
    assert lab.client.get(f"{lab.path}/summary").status_code == 500
    monkeypatch.setattr(reading, "summary_out", shape)
    assert lab.client.get(f"{lab.path}/summary").status_code == 200


def test_another_version_of_the_server_answers_anew(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab.begin()
    address = f"{lab.path}/summary"
    known = {"If-None-Match": lab.client.get(address).headers["ETag"]}
    assert lab.client.get(address, headers=known).status_code == 304
    monkeypatch.setattr(shared_answers, "PROGRAM", "another version")
    assert lab.client.get(address, headers=known).status_code == 200
