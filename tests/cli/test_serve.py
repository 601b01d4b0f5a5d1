"""`nextbatch serve` for real: one process or several, on either database."""

import re
import stat
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from tests.conftest import on_sqlite
from tests.server import NEXTBATCH, ROOT, Server, environment, running


def client(server: Server, key: str | None = None) -> httpx.Client:
    return httpx.Client(base_url=server.address, headers={"Authorization": f"Bearer {key or server.key}"}, timeout=30)


@on_sqlite
def test_the_first_run_makes_an_admin_key_and_the_second_does_not(address: str, tmp_path: Path) -> None:
    data = tmp_path / "fresh"
    with running(data) as server, client(server) as admin:
        assert admin.get("/v1/keys/me").json()["role"] == "admin"
        file = data / "admin.key"
        assert file.read_text() == f"{server.key}\n"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert server.output.read_text().count(server.key) == 1
        key = server.key
        check = [*NEXTBATCH, "healthcheck", "--port", server.address.rsplit(":", 1)[1]]
        assert '"ok"' in subprocess.check_output(check, cwd=ROOT, env=environment(data), text=True)
    with running(data) as again, client(again, key) as admin:
        assert again.key is None
        assert key not in again.output.read_text()
        assert admin.get("/v1/keys/me").status_code == 200


@on_sqlite
def test_a_connection_outlasts_the_seconds_for_which_clients_keep_theirs(address: str, tmp_path: Path) -> None:
    kept = httpx.Limits(keepalive_expiry=None)
    with running(tmp_path / "data") as server, httpx.Client(base_url=server.address, limits=kept) as idle:
        first = idle.get("/healthz").extensions["network_stream"]
        time.sleep(httpx.Limits().keepalive_expiry + 1)
        assert idle.get("/healthz").extensions["network_stream"] is first


def test_two_processes_write_at_the_same_time_and_measure_together(address: str, tmp_path: Path) -> None:
    with running(tmp_path / "data", address, workers=2) as server:
        with client(server) as admin:
            admin.put("/v1/studies/s", json={}).raise_for_status()

            def work(number: int) -> list[int]:
                with client(server) as own:
                    made = [own.put(f"/v1/studies/s{number}-{n}", json={}).status_code for n in range(5)]
                    rows = f"key,t\nK{number},{number}\nL{number},0\n"
                    csv = {"Content-Type": "text/csv", "Connection": "close"}
                    added = own.post("/v1/studies/s/candidates", content=rows, headers=csv)
                return [*made, added.status_code]

            with ThreadPoolExecutor(6) as pool:
                statuses = [status for own in pool.map(work, range(4)) for status in own]
            assert statuses == [201] * 24
            assert len(admin.get("/v1/studies").json()["studies"]) == 21
            assert admin.get("/v1/studies/s").json()["candidates"] == 8
        scraped = [counted(server) for _ in range(10)]  # whichever process answers
        assert set(scraped) == {21}
        assert server.stop() == 0
        printed = server.output.read_text()
        assert "locked" not in printed
        assert "Traceback" not in printed


def counted(server: Server) -> int:
    """How many studies were made, as /metrics says on a fresh connection."""
    text = httpx.get(f"{server.address}/metrics").text
    line = r'nextbatch_requests_total\{method="PUT",route="/v1/studies/\{study\}",status="201"\} (\S+)'
    return int(float(re.findall(line, text)[0]))


@on_sqlite
def test_one_process_ends_when_it_is_asked_to(address: str, tmp_path: Path) -> None:
    with running(tmp_path / "data") as server:
        assert server.stop() in (0, -15)
        assert "Traceback" not in server.output.read_text()
