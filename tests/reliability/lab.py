"""A lab on a database of its own, in this process: for harnesses that need no other."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fastapi.testclient import TestClient

from app.main import create_app
from app.settings import Settings
from tests.api.lab import Lab
from tests.live import admin_key


@contextmanager
def opened(address: str, study: str = "s", **more: Any) -> Iterator[Lab]:
    """The lab before its study begins; nobody counts its requests."""
    with TemporaryDirectory() as data:
        settings = Settings(
            data=Path(data),
            database_url=address,
            allowed_hosts=("testserver",),
            database_connections=5,
            log_level="error",
            max_requests_per_second=0,
            **more,
        )
        headers = {"Authorization": f"Bearer {admin_key(address)}"}
        with TestClient(create_app(settings), headers=headers, raise_server_exceptions=False) as client:
            yield Lab(client, study)


def every_value(opened: Lab) -> list[float]:
    """The values of all observations, in all their versions."""
    values: list[float] = []
    after: int | None = 0
    while after is not None:
        page = opened.get("observations", after=after, versions="all")
        values += [row["value"] for row in page["observations"]]
        after = page["next"]
    return values
