"""A command starts at once: what it does not need is not loaded."""

import subprocess
import sys


def test_the_command_line_loads_neither_the_engine_nor_the_database() -> None:
    program = "import sys, app.cli; print(*sys.modules)"
    loaded = set(subprocess.check_output([sys.executable, "-c", program], text=True).split())
    assert not loaded & {"numpy", "scipy", "sqlalchemy", "fastapi", "uvicorn", "pandas", "polars"}
