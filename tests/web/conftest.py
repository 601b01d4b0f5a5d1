"""A real server, a real browser, and windows that must end without a complaint."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests import postgres
from tests.server import ROOT, Server, running
from tests.web.browser import Window, running_browser
from tests.web.scene import Scene

CSV = "key,temperature,solvent,batch no\n" + "".join(
    f"A{n},{40 + 5 * n},{('DMF', 'THF', 'MeCN')[n % 3]},P{n % 2}\n" for n in range(1, 21)
)

Open = Callable[..., Window]


@pytest.fixture(scope="session", autouse=True)
def built_page() -> None:
    """The page as its sources are now; nothing happens if it is built."""
    subprocess.run([sys.executable, ROOT / "page" / "build.py"], check=True)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Ended with the last test of this folder: while it runs, nothing else in the process can have an event loop."""
    with running_browser() as found:
        yield found


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server per test process; each test makes studies of its own."""
    with running(tmp_path_factory.mktemp("page")) as started:
        yield started


@pytest.fixture(scope="session")
def postgres_backed(tmp_path_factory: pytest.TempPathFactory, postgres_server: str) -> Iterator[Server]:
    name = f"page_{os.getpid()}"
    address = postgres.create_database(postgres_server, name, "template_migrated")
    with running(tmp_path_factory.mktemp("page"), address) as started:
        yield started
    postgres.drop_database(postgres_server, name)


@pytest.fixture
def scene(server: Server) -> Iterator[Scene]:
    assert server.key
    with Scene(server.address, server.key) as made:
        yield made


@pytest.fixture
def study(scene: Scene, request: pytest.FixtureRequest) -> str:
    """The name of a fresh study with twenty candidates."""
    name = request.node.name.removeprefix("test_").replace("_", "-")[:60].partition("[")[0]
    scene.send("PUT", f"/v1/studies/{name}", json={"objective": "yield", "unit": "%"})
    path = f"/v1/studies/{name}/candidates"
    scene.send("PUT", path, params={"attribute": "batch no"}, content=CSV, headers={"Content-Type": "text/csv"})
    return name


@pytest.fixture
def window(browser: Browser, server: Server) -> Iterator[Open]:
    """Opens windows: `window(viewport=…)`. None may have met an error, a CSP violation or a foreign host."""
    opened: list[Window] = []

    def make(address: str = server.address, **options: Any) -> Window:
        opened.append(Window(browser, address, **options))
        return opened[-1]

    yield make
    complaints = [complaint for one in opened for complaint in one.complaints]
    for one in opened:
        one.close()
    assert complaints == []


@pytest.fixture
def candidates_file(tmp_path: Path) -> Path:
    path = tmp_path / "screen one.csv"
    path.write_text(CSV)
    return path
