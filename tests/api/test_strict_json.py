"""JSON is read strictly, and what is refused says where and why, never what."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.api.conftest import Upload, problem
from tests.conftest import on_sqlite

pytestmark = on_sqlite  # refused before any database is asked

JSON = {"Content-Type": "application/json"}
SECRET = "xyzzy-was-sent"  # noqa: S105

UNREADABLE = {
    "not JSON": (b'{"unit": ', "malformed-json"),
    "nothing after all": (b"nope", "malformed-json"),
    "invalid UTF-8": (b'{"unit": "\xff"}', "malformed-json"),
    "a byte order mark": (b"\xef\xbb\xbf{}", "malformed-json"),
    "an endless number": (b'{"seed": ' + b"9" * 5000 + b"}", "malformed-json"),
    "too deep": (b'{"unit": ' + b"[" * 33 + b"1" + b"]" * 33 + b"}", "json-limits"),
    "far too deep": (b"[" * 100_000, "json-limits"),
    "a member twice": (b'{"unit": "a", "unit": "b"}', "duplicate-member"),
    "a member twice, further in": (b'{"unit": {"a": 1, "a": 2}}', "duplicate-member"),
}

REFUSED: dict[str, tuple[bytes, str | None]] = {
    "NaN": (b'{"seed": NaN}', None),
    "Infinity": (b'{"seed": -Infinity}', None),
    "a number beyond the finite": (b'{"seed": 1e400}', "/seed"),
    "NUL in a text": (b'{"unit": "\\u0000"}', None),
    "NUL in a name": (b'{"\\u0000": 1}', None),
    "a lone surrogate": (b'{"unit": "\\ud800"}', None),
    "an unknown member": (b'{"unit": "a", "size": 1}', "/size"),
    "a text for a number": (b'{"seed": "1"}', "/seed"),
    "a boolean for a number": (b'{"seed": true}', "/seed"),
    "a fraction for a whole number": (b'{"seed": 1.5}', "/seed"),
    "a number for a text": (b'{"unit": 1}', "/unit"),
    "null for a text": (b'{"unit": null}', "/unit"),
    "no such choice": (b'{"direction": "sideways"}', "/direction"),
    "too large": (b'{"seed": 9223372036854775808}', "/seed"),
    "negative": (b'{"seed": -1}', "/seed"),
    "a line break in a line": (b'{"unit": "a\\nb"}', "/unit"),
    "a list": (b"[]", ""),
    "null": (b"null", ""),
    "nothing": (b"", ""),
}


@pytest.mark.parametrize(("body", "code"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_what_cannot_be_read_is_a_400(admin: TestClient, body: bytes, code: str) -> None:
    problem(admin.put("/v1/studies/s", content=body, headers=JSON), 400, code)
    assert admin.get("/v1/studies/s").status_code == 404


@pytest.mark.parametrize(("body", "pointer"), REFUSED.values(), ids=REFUSED.keys())
def test_what_breaks_a_rule_is_a_422_that_says_where(admin: TestClient, body: bytes, pointer: str | None) -> None:
    document = problem(admin.put("/v1/studies/s", content=body, headers=JSON), 422, "invalid-input")
    assert [error.get("pointer") for error in document["errors"]] == [pointer]
    assert all(error["message"] for error in document["errors"])
    assert admin.get("/v1/studies/s").status_code == 404


@pytest.mark.parametrize(("body", "code"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_candidates_in_json_are_read_as_strictly(study: str, upload: Upload, body: bytes, code: str) -> None:
    problem(upload(body, "application/json"), 400, code)


def test_32_levels_are_not_too_deep(admin: TestClient) -> None:
    body = b'{"unit": ' + b"[" * 31 + b"1" + b"]" * 31 + b"}"
    problem(admin.put("/v1/studies/s", content=body, headers=JSON), 422, "invalid-input")


@pytest.mark.parametrize(
    "body",
    [
        {"direction": SECRET},
        {"unit": [SECRET]},
        {"seed": SECRET},
        {"unit": SECRET * 100},
        {"unit": f"{SECRET}\n"},
        SECRET,
        [SECRET],
    ],
)
def test_nothing_that_was_sent_is_repeated(admin: TestClient, body: Any) -> None:
    answer = admin.put("/v1/studies/s", json=body)
    assert answer.status_code == 422
    assert SECRET not in answer.text


def test_nothing_that_was_sent_in_an_address_or_a_header_is_repeated(admin: TestClient, filled: str) -> None:
    answers = [
        admin.get(f"/v1/studies/{SECRET}"),
        admin.put(f"/v1/studies/@{SECRET}", json={}),
        admin.get(f"/v1/{SECRET}"),
        admin.get(f"/v1/studies?after={SECRET}"),
        admin.get(f"/v1/studies?state={SECRET}"),
        admin.get(f"/v1/studies/s/candidates?sort={SECRET}"),
        admin.get(f"/v1/studies/s/candidates?where={SECRET}=1"),
        admin.get(f"/v1/studies/s/candidates?where=temperature={SECRET}"),
        admin.get(f"/v1/studies/s/candidates?where=dry={SECRET}"),
        admin.get(f"/v1/studies/s/candidates/{SECRET}"),
        admin.post(f"/v1/keys/{SECRET}/revocation"),
        admin.get("/v1/studies", headers={"Authorization": f"Bearer {SECRET}"}),
        admin.patch("/v1/studies/s", json={}, headers={"If-Match": SECRET}),
        admin.put("/v1/studies/t", json={}, headers={"Idempotency-Key": f"{SECRET} "}),
        admin.put("/v1/studies/s/candidates", content=SECRET, headers={"Content-Type": SECRET}),
        admin.post("/v1/keys", json={"name": "x", "role": SECRET}),
        admin.post("/v1/keys", json={"name": "x", "role": "client", "studies": [SECRET]}),
        admin.post("/v1/keys", json={"name": "x", "role": "client", "expires_at": SECRET}),
        admin.get("/v1/studies", headers={"Host": SECRET}),
    ]
    assert [answer.status_code for answer in answers if answer.status_code < 400] == []
    assert [answer.url for answer in answers if SECRET in answer.text] == []


@pytest.mark.parametrize(
    ("content", "media_type"),
    [
        (f"key,t\nA1,{SECRET},1\nA2,1\n", "text/csv"),
        (f"key,t\nA1,1\n{SECRET},1\n{SECRET},1\n", "text/csv"),
        (f'{{"candidates": [{{"t": ["{SECRET}"]}}, {{"t": 1}}]}}', "application/json"),
        (f'{{"parameters": {{"t": "{SECRET}"}}}}', "application/json"),
        (f"\x93NUMPY{SECRET}", "application/x-npy"),
        (f"PAR1{SECRET}PAR1", "application/vnd.apache.parquet"),
        (f"ARROW1{SECRET}ARROW1", "application/vnd.apache.arrow.file"),
    ],
)
def test_no_cell_of_an_upload_is_repeated(study: str, upload: Upload, content: str, media_type: str) -> None:
    answer = upload(content, media_type)
    problem(answer, 422, "invalid-candidates")
    assert SECRET not in answer.text
