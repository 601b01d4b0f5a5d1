"""Whatever is sent, the answer is documented and clean: no 5xx, no undocumented status, no error of another shape."""

from collections.abc import Iterator
from contextlib import suppress

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.python import asgi
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.api.conftest import CSV
from tests.api.operations import STREAMS

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
BINARY = (
    "text/csv",
    "application/x-npy",
    "application/vnd.apache.parquet",
    "application/vnd.apache.arrow.file",
    "application/zip",
)
FILES = st.binary(max_size=100) | st.sampled_from([CSV.encode(), b"key,t\n\xff,1\n", b"\x93NUMPY\x01\x00", b"PAR1"])
EXAMPLES = 12

for media_type in BINARY:
    schemathesis.openapi.media_type(media_type, FILES)


@pytest.fixture
def every_operation(admin: TestClient, filled: str) -> Iterator[APIOperation]:
    schema = schemathesis.openapi.from_dict(admin.app.openapi())
    schema.app = admin.app
    every = (found.ok() for found in schema.get_all_operations())
    return (operation for operation in every if operation.label not in STREAMS)


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_any_request_gets_a_documented_answer(
    admin: TestClient, every_operation: Iterator[APIOperation], mode: GenerationMode
) -> None:
    tried = 0
    signed = {"Authorization": admin.headers["Authorization"]}
    client = asgi.ASGIClient(admin.app)
    for operation in every_operation:

        @seed(0)
        @settings(
            max_examples=EXAMPLES,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            database=None,
        )
        @given(case=operation.as_strategy(generation_mode=mode), known=st.booleans())
        def send(case: schemathesis.Case, known: bool) -> None:
            nonlocal tried
            tried += 1
            if known and "study" in case.path_parameters:
                case.path_parameters["study"] = "s"
            case.call_and_validate(session=client, base_url="http://testserver", headers=signed, checks=CHECKS)

        with suppress(Unsatisfiable):  # an operation without parameters cannot be sent wrong ones
            send()
    assert tried > 100
