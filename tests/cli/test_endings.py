"""What ends around a server must not take a request, or leave a process, behind."""

import os
import signal
import socket
import subprocess
from pathlib import Path
from time import monotonic, sleep

import httpx
import pytest

from tests.server import NEXTBATCH, ROOT, environment, running


def children(process: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=False)
    return [int(number) for number in listed.stdout.split()]


def is_alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_workers_end_when_their_supervisor_is_killed(tmp_path: Path) -> None:
    with running(tmp_path / "data", workers=2) as server:
        workers = children(server.process.pid)
        assert len(workers) >= 2
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        deadline = monotonic() + 30
        while any(is_alive(worker) for worker in workers) and monotonic() < deadline:
            sleep(0.1)
        left = [worker for worker in workers if is_alive(worker)]
        for worker in left:
            os.kill(worker, signal.SIGKILL)
        assert left == []


@pytest.mark.parametrize("log", ["full", "closed", "not read"])
def test_a_log_that_takes_nothing_costs_no_request(tmp_path: Path, log: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    command = [*NEXTBATCH, "serve", "--port", str(port)]
    with Path("/dev/full").open("w") as full:
        output = full if log == "full" else subprocess.PIPE
        process = subprocess.Popen(command, cwd=ROOT, env=environment(tmp_path), stdout=output, text=True)
    try:
        wait_until_ready(f"http://127.0.0.1:{port}", process)
        if log == "closed" and process.stdout is not None:
            process.stdout.close()
        long = f"http://127.0.0.1:{port}/{'x' * 3000}"  # more than a pipe holds, in all
        assert {httpx.get(long, timeout=10).status_code for _ in range(50)} == {404}
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def wait_until_ready(address: str, process: subprocess.Popen[str]) -> None:
    deadline = monotonic() + 60
    while monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{address}/readyz").status_code == 200:
                return
        except httpx.TransportError:
            sleep(0.1)
    raise AssertionError("the server did not start")


def test_the_next_server_deletes_the_upload_that_a_killed_one_was_taking(tmp_path: Path) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    with running(tmp_path / "data", TMPDIR=str(place)) as server:
        host, port = server.address.removeprefix("http://").split(":")
        key = (tmp_path / "data/admin.key").read_text().strip()
        head = (
            f"Host: {host}\r\nAuthorization: Bearer {key}\r\nContent-Type: text/csv\r\nContent-Length: 1000000\r\n\r\n"
        )
        with socket.create_connection((host, int(port))) as upload:
            upload.sendall(f"PUT /v1/studies/s/candidates HTTP/1.1\r\n{head}{'x' * 500_000}".encode())
            end = monotonic() + 60
            while not (left := list(place.iterdir())):
                assert monotonic() < end
                sleep(0.05)
            server.process.kill()
            server.process.wait()
    assert list(place.iterdir()) == left
    os.utime(left[0], (0, 0))  # it has been there for a while
    with running(tmp_path / "data", TMPDIR=str(place)):
        assert list(place.iterdir()) == []
