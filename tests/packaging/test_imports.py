"""What starts fast loads little: each front door, in a process of its own, leaves the heavy modules alone."""

import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.serving import prepare
from app.settings import Settings

ROOT = Path(__file__).parents[2]

COMPUTES = ("scipy.optimize", "scipy.sparse", "scipy.spatial")
DOORS = {
    "import nextbatch": ("httpx", "asyncio", "numpy", "email", "app"),
    "import app.cli": (
        *("httpx", "asyncio", "pydantic", "pydantic_settings", "structlog"),
        *("sqlalchemy", "alembic", "fastapi", "uvicorn", "numpy", "scipy"),
    ),
    "import app.main": ("openpyxl", "alembic", "psycopg", "PIL", "typer", "nextbatch", *COMPUTES),
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


def test_a_module_that_is_loaded_is_seen() -> None:
    assert "scipy.optimize" in loaded("import app.main, scipy.optimize")
