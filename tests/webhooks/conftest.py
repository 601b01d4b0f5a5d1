"""A server whose webhooks may go to a receiver on this machine, and a dispatcher that looks when it is told to."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from app.settings import Settings
from app.webhooks import dispatcher as dispatching
from app.webhooks.dispatcher import Dispatcher
from tests.api.lab import Lab
from tests.webhooks.receiver import Receiver, receiving


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def settings(address: str, tmp_path: Path, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setattr(dispatching, "LOOK_SECONDS", 3600.0)
    return Settings(
        data=tmp_path / "data",
        database_url=address,
        allowed_hosts=("testserver",),
        database_connections=5,
        webhook_targets=(f"{receiver.url}/hooks",),
    )


@pytest.fixture
def lab(admin: TestClient) -> Lab:
    return Lab(admin)


@pytest.fixture
def new_dispatcher(admin: TestClient) -> Iterator[Callable[[], Dispatcher]]:
    made: list[Dispatcher] = []

    def make() -> Dispatcher:
        state = admin.app.state  # type: ignore[attr-defined]
        made.append(Dispatcher(state.resources, state.webhook_targets))
        return made[-1]

    yield make
    for dispatcher in made:
        dispatcher.close()


@pytest.fixture
def dispatcher(new_dispatcher: Callable[[], Dispatcher]) -> Dispatcher:
    return new_dispatcher()
