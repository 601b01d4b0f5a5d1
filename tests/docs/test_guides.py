"""The guides' examples, run in order as they are printed, against a real server."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nextbatch import Client
from tests import live
from tests.live import Live

ROOT = Path(__file__).parents[2]
GUIDES = [
    *(
        ROOT / "docs" / f"{user}.md"
        for user in ("technician", "client", "dashboard", "scientist", "objectives", "learning", "admin")
    ),
    ROOT / "client" / "README.md",
]
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture
def server(tmp_path: Path, migrated_sqlite: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    """A server with a study in which three measurements are waited for; the guide runs in an empty folder."""
    database = tmp_path / "nextbatch.sqlite3"
    database.write_bytes(migrated_sqlite.read_bytes())
    (tmp_path / "desk").mkdir()
    monkeypatch.chdir(tmp_path / "desk")
    with live.running(f"sqlite:///{database}", tmp_path) as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        _prepare(server)
        yield server


def _prepare(server: Live) -> None:
    with Client(server.url, server.key) as client:
        study = client.create_study("coupling", objective="yield", unit="%", repeats="never")
        study.upload([{"key": f"R-{n:02d}", "temperature": 20 + 5 * n} for n in range(12)])
        study.ask(worker="bench-1", min_size=3, max_size=3)


@pytest.mark.parametrize("guide", GUIDES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_examples_of_a_guide_run_as_printed(server: Live, guide: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    blocks = BLOCK.findall(guide.read_text())
    assert blocks
    try:
        for language, code in blocks:
            if language == "python":
                exec(compile(code, guide.name, "exec"), names)  # noqa: S102
            else:
                subprocess.run(["bash", "-euo", "pipefail", "-c", code], check=True)
    finally:
        if "client" in names:
            names["client"].close()
