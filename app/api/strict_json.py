"""JSON read strictly: UTF-8, no member twice, no NaN, no more than 32 levels; big bodies off the event loop."""

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool

from app.domain.errors import DuplicateMember, Invalid, JsonLimits, Malformed
from app.domain.findings import Finding

MOST_LEVELS = 32
SMALL = 64 * 1024


def loads(body: bytes) -> Any:
    """The value of a JSON text."""
    try:
        value = json.loads(body.decode("utf-8"), object_pairs_hook=_members, parse_constant=_no_constant)
    except RecursionError:
        raise JsonLimits from None
    except ValueError as error:
        raise Malformed from error
    if _depth_exceeds(value, MOST_LEVELS):
        raise JsonLimits
    _no_lone_surrogates(value)
    return value


class StrictRoute(APIRoute):
    """A route whose JSON bodies are read by `loads`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handle(_StrictRequest(request.scope, request.receive))

        return strict


class _StrictRequest(Request):
    async def json(self) -> Any:
        body = await self.body()
        return loads(body) if len(body) <= SMALL else await run_in_threadpool(loads, body)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise DuplicateMember
    return members


def _no_constant(_name: str) -> Any:
    raise Invalid([Finding("finite_number", "Numbers must be finite: NaN and Infinity are not JSON.")])


def _depth_exceeds(value: Any, levels: int) -> bool:
    layer = [value]
    for _ in range(levels + 1):
        layer = [
            child
            for parent in layer
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not layer:
            return False
    return True


def _no_lone_surrogates(value: Any) -> None:
    """JSON can spell a lone surrogate that no text can hold; NUL ends strings in PostgreSQL. Refuse both."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending.extend(item.keys())
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, str) and ("\0" in item or not _encodable(item)):
            raise Invalid([Finding("text", "Text must be Unicode without NUL and without lone surrogates.")])


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
