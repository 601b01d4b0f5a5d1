"""Which thread does what: computations one each, and nothing long on the event loop."""

import sys
from threading import current_thread
from types import ModuleType
from typing import Any

import pytest
from fastapi.testclient import TestClient
from threadpoolctl import threadpool_info, threadpool_limits

from app.api.routes import batches as batch_routes
from app.api.routes import observations as observation_routes
from app.main import create_app
from app.services.intake import json_text
from app.services.intake.xlsx import write_xlsx
from app.settings import Settings
from tests.api.lab import Lab
from tests.conftest import on_sqlite

pytestmark = on_sqlite  # no database has a part in it


def test_a_server_computes_with_one_thread_of_blas(settings: Settings) -> None:
    with threadpool_limits(2):
        assert {pool["num_threads"] for pool in threadpool_info()} == {2}
        create_app(settings).state.resources.database.dispose()
        assert {pool["num_threads"] for pool in threadpool_info()} == {1}


def test_busy_threads_give_way_to_the_event_loop_soon(admin: TestClient) -> None:
    assert sys.getswitchinterval() <= 0.001


@pytest.mark.parametrize(("size", "elsewhere"), [(10, False), (1_000_000, True)])
def test_a_big_body_is_read_off_the_event_loop(
    admin: TestClient, monkeypatch: pytest.MonkeyPatch, size: int, elsewhere: bool
) -> None:
    assert admin.portal is not None
    loop, read_by = admin.portal.call(_this_thread), []
    loads = json_text.loads

    def noted(body: bytes) -> Any:
        read_by.append(current_thread())
        return loads(body)

    monkeypatch.setattr(json_text, "loads", noted)
    admin.put("/v1/studies/s", json={"description": "x" * size})
    assert [thread is not loop for thread in read_by] == [elsewhere]


async def _this_thread() -> Any:
    return current_thread()


@pytest.mark.parametrize(("path", "place"), [("observations", observation_routes), ("batches/1/sheet", batch_routes)])
def test_spreadsheets_are_written_on_threads_for_long_work(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, path: str, place: ModuleType
) -> None:
    """On threads for short requests, forty readers of a large study would have kept every report waiting."""
    lab.begin().work(1, max_size=2)
    written_by = []

    def noted(*table: Any) -> None:
        written_by.append(current_thread().name)
        write_xlsx(*table)

    monkeypatch.setattr(place, "write_xlsx", noted)
    assert lab.client.get(f"{lab.path}/{path}", params={"format": "xlsx"}).status_code == 200
    assert [name.partition("_")[0] for name in written_by] == ["long"]
