"""The tools of the Model Context Protocol, called by the protocol's own client over standard input and output."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from nextbatch import Client
from tests.client.conftest import ROWS
from tests.live import Live

Call = Callable[..., Awaitable[Any]]


def talk(server: Live, key: str, conversation: Callable[[ClientSession], Awaitable[Any]]) -> Any:
    """Start `nextbatch mcp` as a program of that kind does, and talk to it."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NEXTBATCH_")}
    environment = clean | {"NEXTBATCH_URL": server.url, "NEXTBATCH_KEY": key}
    command = str(Path(sys.executable).with_name("nextbatch"))

    async def session() -> Any:
        parameters = StdioServerParameters(command=command, args=["mcp"], env=environment)
        async with stdio_client(parameters) as streams, ClientSession(*streams) as opened:
            await opened.initialize()
            return await conversation(opened)

    return asyncio.run(asyncio.wait_for(session(), 60))


def answer_of(called: Any) -> Any:
    assert not called.is_error, called.content
    found = called.structured_content
    return found["result"] if set(found) == {"result"} else found


@pytest.fixture
def study(server: Live) -> str:
    with Client(server.url, server.key) as client:
        made = client.create_study(f"mcp-{uuid4().hex[:8]}", objective="yield", unit="%")
        made.upload(ROWS)
        return made.name


def test_a_study_is_run_through_tools_and_the_ledger_names_the_key(server: Live, study: str) -> None:
    with Client(server.url, server.key) as client:
        key = client.create_key("robot", role="client", studies=[study])

    async def conversation(session: ClientSession) -> dict[str, Any]:
        async def call(tool: str, **arguments: Any) -> Any:
            return answer_of(await session.call_tool(tool, arguments))

        assert [entry["name"] for entry in await call("studies")] == [study]
        previewed = await call("preview", study=study, min_size=2, max_size=2, where=["solvent = DMF"])
        assert {entry["key"] for entry in previewed["suggestions"]} == {"A1", "A3"}
        asked = await call("ask", study=study, worker="robot", min_size=2, max_size=2)
        first, second = asked["suggestions"]
        assert (await call("why", study=study, suggestion=first["suggestion"]))["words"] == first["why"]
        await call("report", study=study, target=first["suggestion"], value=40.0, note="clear")
        await call("report", study=study, target=second["key"], failed="vial broke")
        await call("correct", study=study, observation=1, value=41.0, reason="typing error")
        [result] = await call("results", study=study)
        assert (result["value"], result["note"]) == (41.0, "clear")
        return dict(await call("status", study=study))

    status = talk(server, str(key.key), conversation)
    assert status["counts"]["observations"] == 1
    assert "41" in status["headline"]
    with Client(server.url, server.key) as client:
        done = [event.actor for event in islice(client.study(study).events(after=0), 6)]
    assert set(done[2:]) == {key.id}  # what came after the study and its list


def test_what_is_refused_is_told_and_nothing_is_stored(server: Live, study: str) -> None:
    with Client(server.url, server.key) as client:
        secret = str(client.create_key("reader", role="dashboard", studies=[study]).key)

    async def conversation(session: ClientSession) -> list[str]:
        wrong = [
            ("ask", {"study": study, "worker": "w"}),
            ("status", {"study": "nowhere"}),
            ("why", {"study": study, "suggestion": "A1"}),
        ]
        said = []
        for tool, arguments in wrong:
            answer = await session.call_tool(tool, arguments)
            assert answer.is_error
            said.append(json.dumps([block.model_dump() for block in answer.content], default=str))
        return said

    forbidden, missing, misspelt = talk(server, secret, conversation)
    assert "role" in forbidden
    assert "[study-not-found]" in missing
    assert "A1 is no suggestion. Write an id such as B3-S1." in misspelt


def test_every_tool_says_what_it_does_and_whether_it_writes(server: Live) -> None:
    tools = talk(server, server.key, lambda session: session.list_tools()).tools
    assert {tool.name for tool in tools if tool.annotations.read_only_hint} == {
        *("studies", "status", "preview", "why", "results")
    }
    assert {tool.name for tool in tools if not tool.annotations.read_only_hint} == {"ask", "report", "correct"}
    assert all(tool.description for tool in tools)
