"""Every line that a server logs is one JSON object, whoever wrote it."""

import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.server import Server, running

PROGRAM = """
import asyncio, logging, threading, warnings
from app import logs
logs.configure({format!r}, {level!r})
logs.hear_python()
{deed}
"""
DEEDS = {
    "sqlalchemy.pool": "logging.getLogger('sqlalchemy.pool').error('gone: %s', 7, exc_info=ValueError('two\\nlines'))",
    "alembic": "logging.getLogger('alembic').warning('odd')",
    "asyncio": "asyncio.new_event_loop().call_exception_handler({'message': 'odd'})",
    "py.warnings": "warnings.warn('odd')",
    "python": "thread = threading.Thread(target=lambda: 1 / 0); thread.start(); thread.join(); 1 / 0",
}


@pytest.mark.parametrize("workers", [1, 2])
def test_every_line_of_a_server_is_json(tmp_path: Path, workers: int) -> None:
    with running(tmp_path / "data", workers=workers) as server:
        for _ in range(5):
            assert b" 400 " in _said(server, b"\0 nonsense\r\n\r\n")
        httpx.get(f"{server.address}/v1/studies", headers={"Connection": "upgrade", "Upgrade": "websocket"})
        server.stop()
    lines = _logged(server)
    assert {line["event"] for line in lines} >= {"Invalid HTTP request received.", "Unsupported upgrade request."}
    assert all({"event", "level", "timestamp"} <= line.keys() for line in lines)
    assert {line.get("logger") for line in lines} == {None, "uvicorn.error"}


def _said(server: Server, sent: bytes) -> bytes:
    place = urlsplit(server.address)
    with socket.create_connection((place.hostname, place.port), timeout=30) as line:
        line.sendall(sent)
        return line.recv(1000)


def _logged(server: Server) -> list[dict[str, Any]]:
    """What came after the lines for people, which are those of docs/operations.md."""
    for_people, _, log = server.output.read_text().partition("{")
    shown = [line for line in for_people.splitlines() if line.strip()]
    assert re.sub(r"\S*(/|nb_)\S*", "…", "\n".join(shown)) == (
        "Nextbatch listens on …\n  the page      …\n  the API       …\n  the database  …\n"
        "  The admin key, shown once and stored in …\n  …"
    )
    return [json.loads(line) for line in ("{" + log).splitlines()]


def test_lines_of_libraries_and_of_python_are_json() -> None:
    lines = [json.loads(line) for line in _printed("json", "info", "\n".join(DEEDS.values()))]
    assert [line["logger"] for line in lines] == [*DEEDS, "python"]  # a thread's and the program's end
    assert all({"event", "level", "timestamp"} <= line.keys() for line in lines)
    assert [line["exception"].splitlines()[-1] for line in lines[-2:]] == ["ZeroDivisionError: division by zero"] * 2


def test_libraries_tell_warnings_and_worse() -> None:
    deed = "log = logging.getLogger('alembic'); log.info('chatter'); log.warning('odd'); log.error('gone')"
    assert [json.loads(line)["event"] for line in _printed("json", "debug", deed)] == ["odd", "gone"]
    assert [json.loads(line)["event"] for line in _printed("json", "error", deed)] == ["gone"]


def test_lines_for_people_have_no_braces() -> None:
    [line] = _printed("console", "info", DEEDS["alembic"])
    assert "odd" in line
    assert "{" not in line


def _printed(log_format: str, level: str, deed: str) -> list[str]:
    program = PROGRAM.format(format=log_format, level=level, deed=deed)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.stderr == ""
    return ended.stdout.splitlines()


def test_a_log_for_people_has_no_colour_codes_in_a_file_and_names_the_key(tmp_path: Path) -> None:
    with running(tmp_path / "data", NEXTBATCH_LOG_FORMAT="console") as server:
        headers = {"Authorization": f"Bearer {server.key}"}
        httpx.get(f"{server.address}/v1/keys/me", headers=headers).raise_for_status()
        server.stop()
    output = server.output.read_text()
    assert "\x1b" not in output
    assert server.key is not None
    assert re.search(rf"request .*key_id={server.key.split('_')[1]}", output)
