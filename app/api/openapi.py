"""The OpenAPI document: FastAPI's, completed so that linters and generators find all they look for."""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app.api.schemas.observations import ReportIn, ReportsIn
from app.api.schemas.shape import Problem

# In the order in which people read of them.
TAGS = {
    "studies": "A study: its settings, its state, and who may see it.",
    "candidates": "The finite list of things to try.",
    "batches": "What to measure next, and why.",
    "observations": "What was measured; corrected or retracted, but never erased.",
    "reservations": "Candidates that somebody will measure without a batch.",
    "reading": "What is known so far: summary, certificate, front, diagnostics; and checks of the ledger.",
    "backtests": "Simulated studies on what is known: how many measurements it takes.",
    "events": "The ledger of a study, and a live stream of it.",
    "heads": "The newest hash of every ledger, to be kept elsewhere.",
    "archives": "Whole studies as files.",
    "webhooks": "Other programs that are told what happens in a study.",
    "keys": "API keys: who may do what.",
    "audit": "Who managed keys and access, signed in, exported and deleted.",
    "operations": "For whoever runs the server.",
    "session": "The cookie of the page.",
    "page": "The page itself.",
}
LICENSE = {"name": "Apache 2.0", "identifier": "Apache-2.0"}


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """The document, made once."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        document["info"]["license"] = LICENSE
        document["servers"] = [{"url": "/", "description": "This server"}]
        document["paths"] = dict(sorted(document["paths"].items(), key=_position))
        used = {tag for operation in _operations(document) for tag in operation["tags"]}
        document["tags"] = [{"name": tag, "description": words} for tag, words in TAGS.items() if tag in used]
        _add_shapes(document)
        for operation in _operations(document):
            operation.setdefault("security", [])  # open to everybody, said aloud
            _describe_streams(operation)
        app.openapi_schema = document
    return app.openapi_schema


def _operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for methods in document["paths"].values():
        yield from methods.values()


def _add_shapes(document: dict[str, Any]) -> None:
    """The shapes that no route names as its type."""
    for shape in (Problem, ReportsIn, ReportIn):
        described = shape.model_json_schema(ref_template="#/components/schemas/{model}")
        document["components"]["schemas"] |= described.pop("$defs", {}) | {shape.__name__: described}


def _describe_streams(operation: dict[str, Any]) -> None:
    """FastAPI describes the events of a stream in OpenAPI 3.2's way; the document is of version 3.1."""
    for response in operation["responses"].values():
        for content in response.get("content", {}).values():
            if content.pop("itemSchema", None) is not None:
                content["schema"] = {"type": "string", "description": "Server-Sent Events."}


def _position(described: tuple[str, dict[str, Any]]) -> int:
    """The position of an address in the document."""
    return list(TAGS).index(next(iter(described[1].values()))["tags"][0])
