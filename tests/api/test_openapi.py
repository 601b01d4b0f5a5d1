"""The OpenAPI document is complete: every operation says what it does, takes, answers and refuses."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.conftest import on_sqlite

pytestmark = on_sqlite


@pytest.fixture
def document(anonymous: TestClient) -> dict[str, Any]:
    found: dict[str, Any] = anonymous.get("/openapi.json").json()
    return found


def each(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_every_operation_has_a_summary_a_tag_and_a_name_of_its_own(document: dict[str, Any]) -> None:
    assert [name for name, one in each(document) if not (one.get("summary") and one.get("tags"))] == []
    names = [one["operationId"] for _, one in each(document)]
    assert len(names) == len(set(names))


def test_the_document_tells_of_studies_first_and_of_each_noun_in_one_place(document: dict[str, Any]) -> None:
    tags = [one["tags"][0] for _, one in each(document)]
    told = [tag for tag, _ in groupby(tags)]
    assert told[:4] == ["studies", "candidates", "batches", "observations"]
    assert len(told) == len(set(told))


def test_every_operation_documents_success_and_problems(document: dict[str, Any]) -> None:
    for name, operation in each(document):
        statuses = {int(status) for status in operation["responses"]}
        assert {status for status in statuses if status < 300}, name
        wanted = {400, 401, 403, 404, 413, 421, 422, 500, 503} if "/v1/" in name else {421, 500}
        assert wanted <= statuses, name


def test_every_problem_is_documented_as_one(document: dict[str, Any]) -> None:
    for name, operation in each(document):
        for status, response in operation["responses"].items():
            if int(status) >= 400:
                assert list(response["content"]) == ["application/problem+json"], (name, status)
                assert response["description"].count("`") >= 2, (name, status)


def test_every_body_has_an_example(document: dict[str, Any]) -> None:
    def has_example(content: dict[str, Any]) -> bool:
        schema = content["schema"]
        if "$ref" in schema:
            schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
        fields = schema.get("properties", {}).values()
        return "examples" in content or any("examples" in field for field in fields)

    for name, operation in each(document):
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            assert has_example(content["application/json"]), name


def test_everything_under_v1_needs_a_key_and_nothing_else_does(document: dict[str, Any]) -> None:
    secured = {name for name, operation in each(document) if operation.get("security")}
    assert secured == {name for name, _ in each(document) if "/v1/" in name}


def test_every_field_of_a_request_is_described(document: dict[str, Any]) -> None:
    for schema in ("StudySettings", "KeyRequest"):
        fields = document["components"]["schemas"][schema]["properties"]
        assert [name for name, field in fields.items() if not field.get("description") and "enum" not in field] == []
