"""What starts fast loads little: each front door, in a process of its own, leaves the heavy modules alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.serving import prepare
from app.settings import Settings

ROOT = Path(__file__).parents[2]

# `import scipy` alone loads next to nothing; each of its parts loads when it is first used.
COMPUTES = (
    *("scipy.linalg", "scipy.special", "scipy.optimize", "scipy.sparse", "scipy.spatial", "scipy.stats"),
    "numpy.random",
)
DOORS = {
    "import nextbatch": ("httpx", "asyncio", "numpy", "email", "app"),
    "import app.cli": (
        *("httpx", "asyncio", "pydantic", "pydantic_settings", "structlog"),
        *("sqlalchemy", "alembic", "fastapi", "uvicorn", "numpy", "scipy"),
    ),
    "import app.main": (
        "httpx",
        "authlib",
        "joserfc",
        "openpyxl",
        "alembic",
        "psycopg",
        "PIL",
        "cryptography",
        "typer",
        "nextbatch",
        *COMPUTES,
    ),
}


def loaded(code: str, *arguments: str) -> set[str]:
    """The modules that a process has loaded at the end of some code."""
    told = subprocess.check_output(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)", *arguments], cwd=ROOT
    )
    return set(told.decode().splitlines()[-1].split())


@pytest.mark.parametrize("door", DOORS)
def test_a_front_door_leaves_heavy_modules_alone(door: str) -> None:
    assert loaded(door) & set(DOORS[door]) == set()


def test_a_second_start_needs_no_migrations(tmp_path: Path) -> None:
    prepare(Settings(data=tmp_path)).dispose()
    code = (
        "import sys\nfrom pathlib import Path\nfrom app.cli.serving import prepare\nfrom app.settings import Settings\n"
        "prepare(Settings(data=Path(sys.argv[1]))).dispose()"
    )
    assert "alembic" not in loaded(code, str(tmp_path))


A_STUDY = """
import sys
from pathlib import Path
from fastapi.testclient import TestClient
from app.cli.serving import first_admin_key, prepare
from app.main import create_app
from app.settings import Settings

settings = Settings(data=Path(sys.argv[1]), compute_workers=int(sys.argv[2]), allowed_hosts=("testserver",))
database = prepare(settings)
key = first_admin_key(database, settings.admin_key_file)
database.dispose()
with TestClient(create_app(settings), headers={"Authorization": f"Bearer {key}"}) as client:
    study = "/v1/studies/s"
    rows = "key,x,y\\n" + "".join(f"c{n},{n},{n % 7}\\n" for n in range(40))
    client.put(study, json={}).raise_for_status()
    client.put(f"{study}/candidates", content=rows, headers={"Content-Type": "text/csv"}).raise_for_status()
    for number in range(3):
        batch = client.post(f"{study}/batches", json={"min_size": 3, "max_size": 3}).raise_for_status().json()
        for chosen in batch["suggestions"]:
            result = {"suggestion": chosen["suggestion"], "value": number}
            client.post(f"{study}/observations", json=result).raise_for_status()
    for read in ("summary", "certificate", "candidates?posterior=true", "diagnostics", "trace"):
        client.get(f"{study}/{read}").raise_for_status()
"""


@pytest.mark.parametrize(("workers", "computes_here"), [(1, False), (0, True)])
def test_a_server_with_compute_workers_never_loads_what_they_compute_with(
    tmp_path: Path, workers: int, computes_here: bool
) -> None:
    assert ("scipy.linalg" in loaded(A_STUDY, str(tmp_path), str(workers))) is computes_here


def test_a_module_that_is_loaded_is_seen() -> None:
    assert "scipy.optimize" in loaded("import app.main, scipy.optimize")
