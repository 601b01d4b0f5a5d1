"""The directions of imports are kept by contracts, and each contract has teeth."""

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRACTS = {
    contract["name"]: contract
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
}

# For each contract an import that breaks it: where, and what.
PLANTED = {
    "A request goes one way: api, services, compute, storage and modelling, domain": (
        "app/storage/studies.py",
        "import app.services.transactions",
    ),
    "Workflows call use cases, never the other way round": (
        "app/services/use_cases/studies.py",
        "import app.services.workflows.ask",
    ),
    "The domain needs only the standard library": ("app/domain/clock.py", "import numpy"),
    "The engine needs only numpy and scipy": ("app/engine/__init__.py", "import app.domain.clock"),
    "Only modelling speaks to the engine": ("app/storage/ledger.py", "import app.engine"),
    "Modelling reads no database and knows no request": ("app/modelling/model.py", "import sqlalchemy"),
    "Only the processes of a cluster load Ray": ("app/compute/supervision.py", "import app.compute.on_ray.gateway"),
    "Routes reach storage through services": ("app/api/routes/studies.py", "import app.storage"),
    "The core knows no connection: main alone puts them together": (
        "app/services/resources.py",
        "import app.sso",
    ),
    "The client needs httpx and nothing of the server": ("nextbatch/__init__.py", "import app.domain"),
}


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    return subprocess.run(
        command, cwd=folder, capture_output=True, text=True, check=False, env={"PYTHONPATH": str(folder)}
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "app", folder / "app", ignore=ignored)
    shutil.copytree(ROOT / "client" / "nextbatch", folder / "nextbatch", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def test_the_code_keeps_every_contract(copy: Path) -> None:
    linted = lint(copy)
    assert linted.returncode == 0, linted.stdout


def test_every_contract_is_tried() -> None:
    assert PLANTED.keys() == CONTRACTS.keys()


@pytest.mark.parametrize("contract", PLANTED)
def test_a_planted_violation_is_found(copy: Path, contract: str) -> None:
    path, statement = PLANTED[contract]
    module = copy / path
    module.parent.mkdir(exist_ok=True)
    was = module.read_text() if module.exists() else None
    module.write_text(f"{was or ''}\n{statement}\n")
    try:
        linted = lint(copy)
    finally:
        module.unlink() if was is None else module.write_text(was)
    assert linted.returncode == 1, linted.stdout + linted.stderr
    assert f"{contract} BROKEN" in " ".join(linted.stdout.split())
