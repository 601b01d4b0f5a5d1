"""The wheels as the container installs them: complete, and a server that starts from them alone."""

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The client's wheel and the server's, built as the Dockerfile builds the latter."""
    folder = tmp_path_factory.mktemp("wheels")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    build = [*pip, "wheel", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", folder, "./client", "."]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    return sorted(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheels: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The server's wheel unpacked, as an installer would, far from the checkout; it brings the client along."""
    folder = tmp_path_factory.mktemp("site")
    zipfile.ZipFile(wheels[1]).extractall(folder)
    return folder


def run(installed: Path, code: str, data: Path) -> subprocess.CompletedProcess[str]:
    """Python with the wheels before the locked dependencies; the checkout is not to be found."""
    dependencies = sysconfig.get_paths()["purelib"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("NEXTBATCH_")}
    paths = {"PYTHONPATH": f"{installed}{os.pathsep}{dependencies}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-S", "-c", code]
    return subprocess.run(
        command,
        env=clean | paths | {"NEXTBATCH_DATA": str(data)},
        cwd=data,
        capture_output=True,
        text=True,
        check=False,
    )


def test_there_are_two_wheels(wheels: list[Path]) -> None:
    assert [wheel.name.split("-")[0] for wheel in wheels] == ["nextbatch", "nextbatch_server"]


def test_each_wheel_has_the_licence(wheels: list[Path]) -> None:
    licence = (ROOT / "LICENSE").read_text()
    for wheel in wheels:
        archive = zipfile.ZipFile(wheel)
        [name] = [name for name in archive.namelist() if name.endswith("/LICENSE")]
        assert archive.read(name).decode() == licence


def test_the_servers_wheel_has_its_migrations_and_its_page_and_nothing_of_the_tests(wheels: list[Path]) -> None:
    names = zipfile.ZipFile(wheels[1]).namelist()
    assert {"app/migrations/env.py", "app/migrations/versions/0001_first_tables.py", "app/web/index.html"} <= set(names)
    metadata = next(name for name in names if "dist-info" in name).split("/")[0]
    assert {name.split("/")[0] for name in names} == {"app", "nextbatch", metadata}


def test_the_servers_wheel_has_the_built_page_and_nothing_of_the_tools_that_built_it(wheels: list[Path]) -> None:
    names = [Path(name) for name in zipfile.ZipFile(wheels[1]).namelist() if name.startswith("app/web/")]
    assert {name.suffix for name in names} == {".html", ".css", ".js", ".svg"}
    assert [name for name in names if "node_modules" in name.parts] == []


def test_the_clients_wheel_needs_httpx_alone(wheels: list[Path]) -> None:
    archive = zipfile.ZipFile(wheels[0])
    metadata = next(archive.read(name).decode() for name in archive.namelist() if name.endswith("METADATA"))
    needs = [line for line in metadata.splitlines() if line.startswith("Requires-Dist")]
    assert [need.split()[1].split(">")[0] for need in needs if "extra ==" not in need] == ["httpx"]


def test_the_servers_wheel_needs_nothing_of_ours_from_an_index(wheels: list[Path]) -> None:
    archive = zipfile.ZipFile(wheels[1])
    metadata = next(archive.read(name).decode() for name in archive.namelist() if name.endswith("METADATA"))
    assert "Requires-Dist: fastapi" in metadata
    assert "Requires-Dist: nextbatch" not in metadata


def test_the_installed_server_migrates_a_database(installed: Path, tmp_path: Path) -> None:
    migrate = "import sys, app.cli; sys.argv = ['nextbatch', 'migrate']; print(app.__file__); app.cli.main()"
    done = run(installed, migrate, tmp_path)
    assert done.returncode == 0, done.stderr
    assert str(installed) in done.stdout
    assert "up to date" in done.stdout
    assert (tmp_path / "nextbatch.sqlite3").exists()


def test_the_installed_server_runs_and_writes_nothing_beside_its_code(installed: Path, tmp_path: Path) -> None:
    code = """
from fastapi.testclient import TestClient
from app.cli.serving import prepare
from app.main import create_app
from app.settings import Settings
settings = Settings(allowed_hosts=("testserver",))
prepare(settings).dispose()
with TestClient(create_app(settings)) as client:
    print(client.get("/readyz").text)
"""
    before = sorted(path for path in installed.rglob("*"))
    done = run(installed, code, tmp_path)
    assert '{"status":"ok",' in done.stdout, done.stderr
    assert sorted(path for path in installed.rglob("*")) == before
