"""The newest heads are remembered outside the database, so that a loss is told at the next start."""

import os
import signal
import sqlite3
import subprocess
from pathlib import Path

import httpx
import pytest

from app.domain.heads import Head
from app.storage import remembered_heads
from app.storage.remembered_heads import RECORD, RememberedHeads
from tests.api.lab import LIST
from tests.server import NEXTBATCH, ROOT, Server, environment, running

HASH = "ab" * 32


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "heads"


def test_the_newest_head_of_each_study_is_remembered(file: Path) -> None:
    first, second = RememberedHeads(file), RememberedHeads(file)  # of two processes
    first.remember({1: Head("s", 3, HASH), 7: Head("x" * 100, 2**31 - 1, HASH)})
    second.remember({1: Head("s", 5, HASH)})
    first.remember({1: Head("s", 4, HASH)})  # it committed earlier, and is late
    first.close()
    second.close()
    assert remembered_heads.read(file) == [Head("s", 5, HASH), Head("x" * 100, 2**31 - 1, HASH)]


def test_a_torn_record_is_no_head(file: Path) -> None:
    heads = RememberedHeads(file)
    heads.remember({0: Head("s", 3, HASH), 1: Head("t", 3, HASH)})
    heads.close()
    content = bytearray(file.read_bytes())
    content[20] ^= 1
    file.write_bytes(content)
    assert remembered_heads.read(file) == [Head("t", 3, HASH)]
    assert len(content) == 2 * RECORD
    assert remembered_heads.read(file.with_name("nowhere")) == []


def test_what_cannot_be_remembered_costs_no_write(file: Path) -> None:
    heads = RememberedHeads(file)
    os.close(heads._descriptor)
    heads.remember({0: Head("s", 3, HASH)})
    heads._closed = True


def report(server: Server, results: int) -> None:
    with httpx.Client(base_url=server.address, headers={"Authorization": f"Bearer {server.key}"}) as admin:
        admin.put("/v1/studies/s", json={}).raise_for_status()
        admin.put("/v1/studies/s/candidates", content=LIST, headers={"Content-Type": "text/csv"}).raise_for_status()
        for number in range(results):
            line = {"candidate": "DMF-20", "value": number, "ref": str(number)}
            admin.post("/v1/studies/s/observations", json=line).raise_for_status()


def refused(data: Path, *options: str) -> str:
    command = [*NEXTBATCH, "serve", "--port", "0", *options]
    ended = subprocess.run(
        command, cwd=ROOT, env=environment(data), text=True, capture_output=True, timeout=60, check=False
    )
    assert ended.returncode == 1, ended.stdout
    return " ".join(ended.stderr.split())


def killed_after(data: Path, results: int) -> Path:
    with running(data) as server:
        report(server, results)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
    return data / "nextbatch.sqlite3"


def test_a_flipped_bit_in_the_log_is_told_at_the_next_start(tmp_path: Path) -> None:
    file = killed_after(tmp_path, 12)
    log = file.with_name(f"{file.name}-wal")
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 1
    log.write_bytes(content)
    told = refused(tmp_path)
    assert "lacks events that were acknowledged: s ends at event" in told
    assert "--accept-loss" in told
    [evidence, *_] = tmp_path.glob("nextbatch.sqlite3-heads.lost-*")
    assert (evidence / log.name).read_bytes() == content
    refused(tmp_path)  # and at every start, until somebody decides


def test_a_cut_tail_is_told_and_can_be_accepted(tmp_path: Path) -> None:
    file = killed_after(tmp_path, 3)
    with sqlite3.connect(file) as connection:
        for trigger in ("update", "delete"):
            connection.execute(f"DROP TRIGGER events_refuse_{trigger}")
        connection.execute("DELETE FROM events WHERE seq = 5")
        connection.execute("UPDATE studies SET seq = 4, head = (SELECT hash FROM events WHERE seq = 4)")
    connection.close()
    assert "s ends at event 4, but had 5: 1 lost." in refused(tmp_path)
    accepted = [*NEXTBATCH, "serve", "--port", "0", "--accept-loss"]
    server = subprocess.Popen(accepted, cwd=ROOT, env=environment(tmp_path), text=True, stdout=subprocess.PIPE)
    assert server.stdout is not None
    try:
        lines = [server.stdout.readline() for _ in range(2)]
    finally:
        server.terminate()
        server.communicate(timeout=30)
    assert "acknowledged events are missing" in lines[0]
    with running(tmp_path):
        pass


def test_a_database_that_is_gone_is_not_replaced_by_an_empty_one(tmp_path: Path) -> None:
    file = killed_after(tmp_path, 1)
    for part in tmp_path.glob(f"{file.name}*"):
        if not part.name.endswith("-heads"):
            part.unlink()
    assert "s does not exist, but had 3 events." in refused(tmp_path)
