"""Two real servers on one database of either kind."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.journeys.fleet import Fleet


@pytest.fixture
def fleet(address: str, tmp_path: Path) -> Iterator[Fleet]:
    with ExitStack() as stack:
        fleet = Fleet(tmp_path / "fleet", address, stack)
        fleet.start()
        fleet.start()
        yield fleet


@pytest.fixture
def empty_server(tmp_path: Path) -> Iterator[Fleet]:
    """One server with an empty database of its own."""
    with ExitStack() as stack:
        fleet = Fleet(tmp_path / "elsewhere", None, stack)
        fleet.start()
        yield fleet
