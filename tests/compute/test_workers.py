"""Compute workers: the same answers as without them, whatever happens to a worker."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import httpx
import pytest
from httpx2 import Response

from app.cli.serving import default_compute_workers
from app.compute import models, supervision
from app.compute.channel import Channel, ComputeRequest, WorkerSettings
from app.compute.ledger_states import LedgerPrefix
from app.compute.supervision import ATTEMPTS, MOST_PAUSE, SupervisedWorker, WorkerProgram, pause_after
from app.modelling.outline import is_outline
from app.services.resources import Resources
from app.storage import studies
from app.storage.tables import blob_chunks, snapshot_blobs, snapshots
from tests.api.conftest import problem
from tests.api.lab import THEORY, Lab
from tests.compute.telling import story, until, wait_until_ready, worker_of
from tests.conftest import on_sqlite
from tests.live import admin_key
from tests.processes import is_running
from tests.reliability import lab
from tests.server import NEXTBATCH, ROOT, environment, running

TWO = [{"name": "yield", "direction": "maximize"}, {"name": "price", "direction": "minimize"}]


@pytest.fixture
def apart(address: str) -> Iterator[Lab]:
    """A lab whose server has a compute worker."""
    with lab.opened(address, compute_workers=1) as opened:
        yield opened


@contextmanager
def asked_of_a_frozen_worker(opened: Lab) -> Iterator[Future[Response]]:
    """An ask that a worker has taken and cannot answer."""
    worker = worker_of(opened)
    wait_until_ready(worker)
    os.kill(worker.pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(opened.ask)
        until(lambda: worker.running == 1)
        yield asked


@pytest.mark.parametrize("theory", [None, THEORY], ids=["auto", "theory"])
def test_everything_is_as_without_workers_and_the_server_computes_nothing(
    apart: Lab, databases, address: str, theory: dict[str, Any] | None, monkeypatch
) -> None:
    with databases.fresh("sqlite") as other, lab.opened(other) as local:
        expected = story(local, theory=theory)

    def refuse(*_arguments: object) -> None:
        raise AssertionError("the server computes a model")

    monkeypatch.setattr(models, "advance_study", refuse)
    assert story(apart, theory=theory) == expected
    assert [apart.replays(number) for number in (1, 2, 3)] == [True] * 3
    monkeypatch.undo()
    with lab.opened(address) as another:  # without workers
        assert [another.replays(number) for number in (1, 2, 3)] == [True] * 3


@on_sqlite
def test_several_objectives_too(apart: Lab) -> None:
    apart.begin(objectives=TWO)
    for suggested in apart.batch()["suggestions"]:
        values = {"yield": 1.0 + len(suggested["key"]), "price": 2.0}
        replicates = [values] * suggested["replicates"]
        assert apart.report(suggestion=suggested["suggestion"], replicates=replicates).status_code == 201
    assert len(apart.get("front")["measured"]) >= 1
    assert len(apart.get("trace")["hypervolume"]) >= 1
    assert apart.batch("another")["number"] == 2
    assert [apart.replays(number) for number in (1, 2)] == [True, True]


@on_sqlite
def test_refusals_are_those_of_the_domain(apart: Lab) -> None:
    assert apart.client.put(apart.path, json={}).status_code == 201
    problem(apart.ask(), 409, "no-candidates")
    apart.client.put(f"{apart.path}/candidates", content="key,t\nA,1\nB,2\n", headers={"Content-Type": "text/csv"})
    problem(apart.ask(min_size=2, max_size=2, exclude=["A"]), 409, "terms-unmet")
    assert problem(apart.ask(min_size=2, max_size=2, exclude=["A"]), 409, "terms-unmet")["found"] == 1
    apart.batch(max_size=2)
    assert apart.client.get("/readyz").json()["compute"]["deaths"] == 0


@on_sqlite
def test_a_computation_that_takes_too_long_is_refused(address: str) -> None:
    with lab.opened(address, compute_workers=1, engine_seconds=1e-9) as hasty:
        hasty.begin()
        problem(hasty.ask(), 503, "computation-too-long")


def test_what_a_killed_worker_had_begun_is_repeated(apart: Lab) -> None:
    apart.begin()
    worker = worker_of(apart)
    with asked_of_a_frozen_worker(apart) as asked:
        os.kill(worker.pid, signal.SIGKILL)
        assert asked.result().status_code == 201
    wait_until_ready(worker, deaths=1)
    assert apart.client.get("/readyz").json()["compute"] == {
        "kind": "processes",
        "workers": 1,
        "ready": 1,
        "running": 0,
        "deaths": 1,
        "nodes": 1,
    }
    assert apart.replays(1)
    assert apart.is_sound()


@on_sqlite
def test_a_frozen_worker_is_replaced(apart: Lab, monkeypatch) -> None:
    apart.begin()
    monkeypatch.setattr(supervision, "SILENT_SECONDS", 2.0)
    with asked_of_a_frozen_worker(apart) as asked:
        assert asked.result().status_code == 201
    assert worker_of(apart).deaths == 1


@on_sqlite
def test_a_computation_whose_workers_all_die_is_refused_and_the_next_is_not(apart: Lab) -> None:
    apart.begin()
    worker = worker_of(apart)
    with asked_of_a_frozen_worker(apart) as asked:
        while not asked.done():
            with suppress(ProcessLookupError):  # it is being replaced
                os.kill(worker.pid, signal.SIGKILL)
            wait([asked], 0.05)
        refused = asked.result()
    assert f"{ATTEMPTS} times" in problem(refused, 503, "overloaded")["detail"]
    assert refused.headers["Retry-After"] == "30"
    assert worker.deaths == ATTEMPTS
    assert apart.batch()["number"] == 1


@on_sqlite
def test_a_worker_that_is_not_understood_is_replaced(apart: Lab, monkeypatch) -> None:
    """As after an update of the program under a server that runs."""
    apart.begin()
    worker = worker_of(apart)
    wait_until_ready(worker)
    hear, heard = worker._hear, []

    def misunderstand(message: object) -> None:
        heard.append(message)
        if len(heard) == 1:
            raise AttributeError("Can't get attribute 'ComputationBegun'")
        hear(message)

    monkeypatch.setattr(worker, "_hear", misunderstand)
    assert apart.ask().status_code == 201
    assert worker.deaths == 1


@on_sqlite
def test_a_request_that_cannot_be_sent_is_repeated(apart: Lab, monkeypatch) -> None:
    monkeypatch.setattr(supervision, "SILENT_SECONDS", 600.0)  # as of a worker that is busy with others
    apart.begin()
    worker = worker_of(apart)
    wait_until_ready(worker)
    send, failed = Channel.send, []

    def fail_once(channel: Channel, message: object) -> None:
        if not failed and isinstance(message, ComputeRequest):
            failed.append(message)
            raise OSError(errno.EMFILE, "Too many open files")
        send(channel, message)

    monkeypatch.setattr(Channel, "send", fail_once)
    assert apart.ask().status_code == 201
    assert worker.deaths == len(failed) == 1


def test_workers_that_die_at_once_for_days_are_started_still() -> None:
    assert [pause_after(deaths) for deaths in (0, 1, 2, 3, 6, 10**6)] == [0.0, 0.0, 0.4, 0.8, MOST_PAUSE, MOST_PAUSE]


@on_sqlite
def test_a_worker_that_does_not_end_what_nobody_wants_is_ended(apart: Lab, monkeypatch) -> None:
    apart.begin()
    monkeypatch.setattr(supervision, "GRACE_SECONDS", 0.5)
    resources: Resources = apart.client.app.state.resources
    with asked_of_a_frozen_worker(apart):
        [job] = resources.jobs._running.values()
        job.leave()
        until(lambda: worker_of(apart).deaths == 1)
    assert worker_of(apart).running == 0
    assert apart.batch()["number"] == 1


@on_sqlite
@pytest.mark.parametrize("leaves", ["before the process", "before it is ready"])
def test_a_client_that_leaves_does_not_cost_a_starting_worker_its_life(address: str, monkeypatch, leaves: str) -> None:
    monkeypatch.setattr(supervision, "GRACE_SECONDS", 0.2)
    monkeypatch.setattr(supervision, "LOOK_SECONDS", 0.02)
    settings = WorkerSettings(address, 1, 1, 1.0, 1, "json", "error")
    may_start = Event()

    def wait_for_leave() -> WorkerSettings:
        may_start.wait(60)
        return settings

    worker = SupervisedWorker(settings, WorkerProgram("app.compute.worker", wait_for_leave))
    try:
        left, stays = (worker.start("unknown", (LedgerPrefix(1, 0, ""),)) for _ in range(2))
        if leaves == "before the process":
            worker.cancel(left)
            assert worker.running == 1
            may_start.set()
        else:
            may_start.set()
            until(lambda: worker.pid is not None)
            worker.cancel(left)
        assert stays.future.result(60).error is not None
        assert (worker.deaths, stays.attempts) == (0, 0)
    finally:
        may_start.set()
        worker.close()


@on_sqlite
def test_a_worker_that_does_not_heed_the_time_limit_is_ended(address: str, monkeypatch) -> None:
    monkeypatch.setattr(supervision, "GRACE_SECONDS", 0.5)
    with lab.opened(address, compute_workers=1, engine_seconds=1.0) as opened:
        opened.begin()
        worker = worker_of(opened)
        with asked_of_a_frozen_worker(opened) as asked:
            [computation] = worker._computations.values()
            computation.begun = monotonic()  # as a worker says that freezes a moment later
            problem(asked.result(), 503, "computation-too-long")
        until(lambda: worker.deaths == 1)
        assert opened.batch()["number"] == 1


@on_sqlite
def test_a_worker_ends_with_its_server(address: str) -> None:
    program = (
        "import sys, time\n"
        "from app.compute.channel import WorkerSettings\n"
        "from app.compute.supervision import SupervisedWorker\n"
        f"worker = SupervisedWorker(WorkerSettings({address!r}, 1, 1, 1.0, 1, 'json', 'error'))\n"
        "while not worker.is_ready: time.sleep(0.01)\n"
        "print(worker.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=ROOT) as server:
        pid = int(server.stdout.readline())
        server.kill()
    until(lambda: not is_running(pid))


@on_sqlite
def test_the_server_saves_the_snapshots_of_its_workers_and_drops_damaged_ones(apart: Lab, address: str) -> None:
    apart.begin()
    apart.work(2)
    resources: Resources = apart.client.app.state.resources
    batch = apart.batch()
    prefix = prefix_of(apart, batch["number"])
    resources.compute.save(prefix)
    with resources.database.write() as connection:
        names = [row.digest for row in connection.execute(snapshot_blobs.select())]
        assert names
        connection.execute(blob_chunks.update().where(blob_chunks.c.digest.in_(names)).values(content=b"damaged"))
    with lab.opened(address, compute_workers=1) as fresh:
        fresh.measure(batch)
        after = fresh.batch()
        assert [fresh.replays(number) for number in (batch["number"], after["number"])] == [True, True]
    with resources.database.read() as connection:
        assert connection.execute(snapshots.select()).all() == []


@on_sqlite
def test_a_large_model_is_handed_over_in_outline(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with lab.opened(address) as opened:
        opened.begin().work(2)
        compute, prefix = opened.client.app.state.resources.compute, prefix_of(opened, 2)
        assert not is_outline(compute.saved_model(prefix))
        monkeypatch.setattr(models, "SMALL_SNAPSHOT", 1)
        assert is_outline(compute.saved_model(prefix))


def prefix_of(opened: Lab, number: int) -> LedgerPrefix:
    resources: Resources = opened.client.app.state.resources
    with resources.database.read() as connection:
        study = studies.find(connection, opened.study)
        basis = resources.ledger_states.read(connection, study.id, study.seq).bases[number - 1]
    return LedgerPrefix(study.id, basis.seq, basis.hash)


def builds_of_a_batch(server: str, key: str) -> set[str]:
    """The builds that have computed a batch and its replay; a server process has other libraries than its workers."""
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=f"{server}/v1/studies", headers=headers, timeout=300) as client:
        client.put("/s", json={}).raise_for_status()
        client.put("/s/candidates", content="key,t\nA,1\nB,2\n", headers={"Content-Type": "text/csv"})
        client.post("/s/batches", json={"worker": "w"}).raise_for_status()
        replayed = client.post("/s/batches/1/replay").raise_for_status().json()
    return {replayed["recorded_build"], replayed["this_build"]}


@on_sqlite
def test_serve_starts_workers_and_the_status_shows_them(address: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running(data, address, NEXTBATCH_COMPUTE_WORKERS="2") as server:
        until(lambda: httpx.get(f"{server.address}/readyz").json()["compute"]["ready"] == 2)
        command = [*NEXTBATCH, "compute", "status", "--port", server.address.rsplit(":", 1)[1]]
        shown = subprocess.check_output(command, cwd=ROOT, env=environment(data, address), text=True)
        assert shown == "2 compute workers, 2 ready; 0 computations under way; none has died.\n"
        assert len(builds_of_a_batch(server.address, admin_key(address))) == 1
        workers = [int(process.name) for process in server.processes()[1:]]
        assert len(workers) == 2
        server.stop()
        assert not any(map(is_running, workers))
        assert "Traceback" not in server.output.read_text()


def test_one_worker_for_every_two_cores_unless_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, processes, workers in ((1, 1, 1), (2, 1, 1), (4, 1, 2), (4, 4, 1), (64, 1, 4), (None, 1, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        assert default_compute_workers(processes) == workers
