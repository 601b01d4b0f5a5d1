"""One table of problems: complete against the domain's refusals, documented, and nothing in it is out of reach."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.api import problems
from app.domain import errors
from app.domain.errors import Finding, Refusal

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "problems.md"
NOT_OF_THE_DOMAIN = {"method-not-allowed", "internal-error"}


def refusals(above: type[Refusal] = Refusal) -> Iterator[type[Refusal]]:
    yield above
    for below in above.__subclasses__():
        yield from refusals(below)


def test_every_refusal_has_a_status_and_every_status_a_refusal() -> None:
    assert problems.STATUSES.keys() - NOT_OF_THE_DOMAIN == {refusal.code for refusal in refusals()}


def test_every_refusal_of_the_domain_has_a_code_of_its_own() -> None:
    codes = [refusal.code for refusal in refusals() if refusal.__module__ == errors.__name__]
    assert sorted(codes) == sorted(set(codes))


def test_every_problem_is_documented_with_its_status() -> None:
    lines = re.findall(r"^\| `([a-z0-9-]+)` \| (\d{3}) \|", DOCUMENTATION.read_text(), re.MULTILINE)
    assert {code: int(status) for code, status in lines} == problems.STATUSES


def test_every_problem_is_in_the_openapi_document(anonymous: TestClient) -> None:
    document = anonymous.get("/openapi.json").text
    # `refused` is the root of the tree and never raised itself; a wrong method has no operation to stand at.
    unreachable = {"refused", "method-not-allowed"}
    assert {code for code in problems.STATUSES if f"`{code}`" not in document} == unreachable


@pytest.mark.parametrize("refusal", [one for one in refusals() if one.__module__ == errors.__name__])
def test_every_refusal_becomes_a_problem_document(refusal: type[Refusal]) -> None:
    error = refusal([Finding("code", "message")]) if issubclass(refusal, errors.Invalid) else refusal()
    response = problems.refusal(error, "request")
    assert response.status_code == problems.STATUSES[refusal.code]
    assert response.media_type == "application/problem+json"
    assert ("Retry-After" in response.headers) == issubclass(refusal, errors.Unavailable)


def test_a_bad_upload_names_a_hundred_mistakes_and_their_total() -> None:
    findings = [Finding("bad-number", "not a number", row=row) for row in range(250)]
    response = problems.refusal(errors.InvalidCandidates(findings), "request")
    assert response.body.count(b"bad-number") == 100
    assert b'"total": 250' in response.body
