"""Rules that a machine can keep: where transactions begin, how long a route is, what no file may hold."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = [path for folder in ("app", "client", "migrations") for path in sorted((ROOT / folder).rglob("*.py"))]

# The one place of use cases; arrays, the cache of engine states and the schema have short transactions of their own,
# the command has no request.
WRITERS = {
    "app/services/transactions.py",
    "app/storage/blobs.py",
    "app/storage/database.py",
    "app/storage/engine_states.py",
    "app/storage/schema.py",
    "app/storage/sweeping.py",
}
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "constants", "misc", "manager", "handlers", "tmp"}
LONGEST_ROUTE = 12
LONGEST_FILE = 350


def committed() -> list[Path]:
    """Every text file that is committed, or about to be."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.check_output(command, cwd=ROOT, text=True).split("\0")
    paths = [ROOT / name for name in listed if name and (ROOT / name).is_file()]
    return [path for path in paths if b"\0" not in path.read_bytes()]


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_only_one_place_opens_write_transactions() -> None:
    found = {place(path) for path in PYTHON if re.search(r"\.write\(\) as |\.writer\.|\.commit\(\)", path.read_text())}
    assert {name for name in found if not name.startswith("app/cli/")} == WRITERS


def test_no_module_has_a_name_that_says_nothing() -> None:
    names = {part for path in PYTHON for part in (*path.relative_to(ROOT).parts[:-1], path.stem)}
    assert names & FORBIDDEN_NAMES == set()


def test_files_are_short() -> None:
    long = {place(path): lines for path in PYTHON if (lines := len(path.read_text().splitlines())) > LONGEST_FILE}
    assert long == {}


def routes() -> list[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """The functions that a router decorates."""
    return [
        (place(path), node)
        for path in sorted((ROOT / "app/api/routes").glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and any(ast.unparse(decorator).startswith("router.") for decorator in node.decorator_list)
    ]


def test_a_route_reads_calls_and_answers_in_a_few_lines() -> None:
    assert len(routes()) > 10
    long = {
        f"{where}:{node.name}": length
        for where, node in routes()
        if node.end_lineno and (length := node.end_lineno - node.body[0].lineno + 1) > LONGEST_ROUTE
    }
    assert long == {}


# Spelled so that this file does not hold them itself.
SECRETS_OF_A_MACHINE = {
    "a person's folder": r"(?<![\w.])/(?:home|Users)/\w",
    "root's folder": r"(?<![\w.])/" + r"root/",
    "a worker's folder": r"(?<![\w.])/" + r"work/\w",
    "a package index": r"pypi\."
    + r"org|files\.python"
    + r"hosted|/simple"
    + r"/|index-"
    + r"url *=|extra-index-"
    + r"url",
    "a package mirror": r"/opt/" + r"pypi",
}


@pytest.mark.parametrize("what", SECRETS_OF_A_MACHINE)
def test_no_committed_file_holds(what: str) -> None:
    pattern = re.compile(SECRETS_OF_A_MACHINE[what])
    assert [place(path) for path in committed() if pattern.search(path.read_text())] == []
