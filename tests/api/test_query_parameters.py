"""A query parameter that an operation does not have is refused, on every operation: a typing error must not store."""

from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient

from tests.api.conftest import problem
from tests.api.lab import Lab
from tests.api.operations import SAMPLES, operations
from tests.conftest import on_sqlite


@pytest.mark.parametrize("name", SAMPLES)
@on_sqlite
def test_an_unknown_query_parameter_is_refused(admin: TestClient, scene: Callable[..., str], name: str) -> None:
    [operation] = [known for known in operations(admin.app) if known.name == name]  # type: ignore[arg-type]
    key_id = scene("s", results=operation.needs_results)
    refused = problem(operation.send(admin, "s", key_id, params={"dryrunn": "true"}), 422, "invalid-input")
    assert [finding["code"] for finding in refused["errors"]] == ["unknown-parameter"]


@on_sqlite
def test_the_live_stream_refuses_unknown_parameters_too(lab: Lab) -> None:
    problem(lab.begin().client.get(f"{lab.path}/events/live", params={"form": 3}), 422, "invalid-input")


@on_sqlite
def test_a_misspelled_dry_run_stores_nothing_and_the_answer_names_the_right_word(lab: Lab) -> None:
    answer = lab.begin().send({"candidate": "THF-20", "value": 1.0}, duplicates="new", dryrun=True, zzz=1)
    misspelt, unknown = [finding["message"] for finding in problem(answer, 422, "invalid-input")["errors"]]
    assert misspelt == "Query parameter 2 is none of this operation's. Did you mean `dry_run`?"
    assert "Query parameter 3 is none of this operation's. Use one of: `corrections`, `dry_run`," in unknown
    assert lab.observations() == []


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
@on_sqlite
def test_probes_may_add_parameters_of_their_own(admin: TestClient, path: str) -> None:
    """Nothing depends on them, and load balancers add some against caches: docs/operations.md says so."""
    assert admin.get(path, params={"probe": "7f3a"}).status_code == 200
