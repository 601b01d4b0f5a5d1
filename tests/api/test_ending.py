"""Ends before the end: the server's, while a request runs, and the client's, while it is told something."""

import asyncio
import json
from typing import Any

import pytest
from anyio import BrokenResourceError

from app.api.metrics import new_metrics
from app.api.middleware import RequestLog


async def _forever(_scope: Any, _receive: Any, _send: Any) -> None:
    await asyncio.sleep(60)


@pytest.mark.parametrize(("method", "code"), [("POST", "outcome-unknown"), ("GET", "overloaded")])
def test_a_request_that_is_cut_off_is_answered_503(method: str, code: str) -> None:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def end_meanwhile() -> None:
        scope = {"type": "http", "method": method, "path": "/", "headers": []}
        request = asyncio.create_task(RequestLog(_forever, new_metrics())(scope, None, send))
        await asyncio.sleep(0)
        request.cancel()  # as uvicorn does after its grace
        await request

    asyncio.run(end_meanwhile())
    start, body = sent
    assert (start["status"], json.loads(body["body"])["code"]) == (503, code)
    assert (b"retry-after", b"1") in start["headers"]


def test_a_listener_that_leaves_is_no_bug(capsys: pytest.CaptureFixture[str]) -> None:
    async def stream(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ExceptionGroup("", [BrokenResourceError()])

    async def send(_message: Any) -> None:
        pass

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    asyncio.run(RequestLog(stream, new_metrics())(scope, None, send))
    assert "bug" not in capsys.readouterr().out
