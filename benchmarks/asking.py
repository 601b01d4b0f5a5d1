"""An ask over HTTP on a large list, where its time goes, a page of candidates, and a fresh process's first batch."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any
from unittest.mock import patch

import httpx
import numpy as np
from fastapi.testclient import TestClient
from sqlalchemy import delete

from app.compute import local
from app.compute.ledger_states import LedgerPrefix
from app.compute.models import Models
from app.domain.batches import BatchSize
from app.main import create_app
from app.modelling.several_drafting import draft_batch
from app.services.resources import Resources
from app.services.workflows import ask, ask_basis
from app.settings import Settings
from app.storage import studies
from app.storage.tables import snapshot_blobs, snapshots
from benchmarks.datasets import Problem
from tests.server import Server, running

OBSERVATIONS, BATCH, ASKS = 100, 10, 5
THEORY = {"kernel": {"kind": "gaussian", "lengthscale": 0.3}, "noise": 0.05, "norm": 2.0}
Figures = dict[str, float]


@contextmanager
def client_of(server: Server) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {server.key}"}
    with httpx.Client(base_url=f"{server.address}/v1", headers=headers, timeout=600) as client:
        yield client


def asking(problem: Problem, folder: Path) -> dict[str, Figures]:
    """Milliseconds of asks in both modes, of a page of candidates, and of a fresh process's next batch."""
    with running(folder) as server, client_of(server) as client:
        for study, theory in (("auto", None), ("theory", THEORY)):
            _begin(client, study, problem, theory)
        over_http = {study: _asks(client, study, problem) for study in ("auto", "theory")}
        pages = _pages(client, "auto")
    split = {study: _split(folder, study) for study in over_http}
    cold = {study: _cold_start(folder, study) for study in over_http}
    return {
        **{f"ask, {study} mode": {**over_http[study], **split[study]} for study in over_http},
        "page of 100 candidates, posterior, sorted by mean": pages,
        **{f"cold start, {study} mode": cold[study] for study in cold},
    }


def _begin(client: httpx.Client, study: str, problem: Problem, theory: dict[str, Any] | None) -> None:
    file = io.BytesIO()
    np.save(file, problem.X)
    client.put(f"/studies/{study}", json={"theory": theory, "repeats": "never"}).raise_for_status()
    headers = {"Content-Type": "application/x-npy"}
    client.put(f"/studies/{study}/candidates", content=file.getvalue(), headers=headers).raise_for_status()
    chosen = np.random.default_rng(0).choice(len(problem.f), OBSERVATIONS, replace=False).tolist()
    _report(client, study, [{"candidate": str(n + 1), "value": float(problem.f[n])} for n in chosen])


def _report(client: httpx.Client, study: str, lines: list[dict[str, Any]]) -> None:
    client.post(f"/studies/{study}/observations", json={"observations": lines}).raise_for_status()


def _asks(client: httpx.Client, study: str, problem: Problem) -> Figures:
    """The first ask, and the median of those that follow a report of the batch before."""
    took = []
    for _ in range(ASKS):
        started = perf_counter()
        wanted = {"min_size": BATCH, "max_size": BATCH, "wait": 600}
        batch = client.post(f"/studies/{study}/batches", json=wanted).raise_for_status().json()
        took.append(perf_counter() - started)
        lines = [
            {"suggestion": one["suggestion"], "value": float(problem.f[int(one["key"]) - 1])}
            for one in batch["suggestions"]
        ]
        _report(client, study, lines)
    return {"first": took[0] * 1e3, "next": median(took[1:]) * 1e3}


def _pages(client: httpx.Client, study: str) -> Figures:
    took = []
    for number in range(20):
        params: dict[str, str | int] = {"posterior": "true", "sort": "-mean", "offset": 100 * number}
        started = perf_counter()
        client.get(f"/studies/{study}/candidates", params=params).raise_for_status()
        took.append((perf_counter() - started) * 1e3)
    return {"first": took[0], "next": median(took[1:])}


@contextmanager
def _process(folder: Path) -> Iterator[Resources]:
    """This process as a server on the same database."""
    app = create_app(Settings(data=folder, log_level="error"))
    resources: Resources = app.state.resources
    try:
        yield resources
    finally:
        resources.jobs.close()
        resources.snapshots.close()
        resources.database.dispose()


def _split(folder: Path, study: str) -> Figures:
    """An ask in this process: the read, the model, the choice, and the commit."""
    spent: Figures = {}

    def timed(name: str, work: Any) -> Any:
        def run(*args: Any, **kwargs: Any) -> Any:
            started = perf_counter()
            try:
                return work(*args, **kwargs)
            finally:
                spent[name] = (perf_counter() - started) * 1e3

        return run

    app = create_app(Settings(data=folder, log_level="error", allowed_hosts=("testserver",)))
    key = {"Authorization": f"Bearer {(folder / 'admin.key').read_text().strip()}"}
    with TestClient(app, headers=key) as client:
        client.get(f"/v1/studies/{study}/summary").raise_for_status()
        client.post(f"/v1/studies/{study}/observations", json={"candidate": "1", "value": 0.5}).raise_for_status()
        with (
            patch.object(ask, "read_basis_unless_open", timed("read", ask_basis.read_basis_unless_open)),
            patch.object(Models, "at", timed("model", Models.at)),
            patch.object(local, "draft_batch", timed("choice", draft_batch)),
            patch.object(ask, "_issue", timed("commit", ask._issue)),  # noqa: SLF001
        ):
            wanted = {"worker": "split", "min_size": BATCH, "max_size": BATCH, "wait": 600}
            client.post(f"/v1/studies/{study}/batches", json=wanted).raise_for_status()
        client.post(f"/v1/studies/{study}/batches/{ASKS + 1}/close").raise_for_status()
    return spent


def _cold_start(folder: Path, study: str) -> Figures:
    """The next batch of a process that knows nothing: from the kept model, and from the ledger alone."""
    with _process(folder) as resources:
        _keep_model(resources, study)
    with _process(folder) as resources:
        snapshot = _next_batch(resources, study)
    with _process(folder) as resources:
        with resources.database.write() as connection:
            for table in (snapshot_blobs, snapshots):
                connection.execute(delete(table))
        rebuild = _next_batch(resources, study)
    return {"from snapshot": snapshot, "rebuild": rebuild, "rebuild / snapshot": rebuild / snapshot}


def _keep_model(resources: Resources, name: str) -> None:
    """Keep the model of the last batch; a server does so when it has computed for half a second."""
    with resources.database.read() as connection:
        study = studies.find(connection, name)
        if study is None:
            raise LookupError(name)
        basis = resources.ledger_states.read(connection, study.id, study.seq).bases[-1]
    resources.models.save(LedgerPrefix(study.id, basis.seq, basis.hash))


def _next_batch(resources: Resources, name: str) -> float:
    started = perf_counter()
    with resources.database.read() as connection:
        study = studies.find(connection, name)
        if study is None:
            raise LookupError(name)
        state = resources.ledger_states.read(connection, study.id, study.seq)
    resources.compute.compute_batch(LedgerPrefix(study.id, state.seq, state.head), BatchSize(BATCH, BATCH))
    return (perf_counter() - started) * 1e3
