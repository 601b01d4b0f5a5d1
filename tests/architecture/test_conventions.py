"""Rules that a machine can keep: where transactions begin, how long files are, names with one meaning."""

import ast
import re
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import get_args

import pytest

from app.domain.errors import StudyGone
from app.domain.events import StudyEvent

ROOT = Path(__file__).parents[2]
PYTHON = [path for folder in ("app", "client", "migrations") for path in sorted((ROOT / folder).rglob("*.py"))]

# The one place of use cases, and where reports share transactions; arrays, the cache of engine states and the schema
# have short transactions of their own, the command has no request.
WRITERS = {
    "app/services/group_commit.py",
    "app/services/maintenance.py",
    "app/services/tickets.py",
    "app/services/transactions.py",
    "app/storage/blobs.py",
    "app/storage/database.py",
    "app/storage/snapshots.py",
    "app/storage/erasing.py",
    "app/storage/schema.py",
    "app/storage/sweeping.py",
    "app/webhooks/dispatcher.py",
}
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "constants", "misc", "manager", "handlers", "tmp"}
LONGEST_ROUTE = 12
SHORTEST_FILE, LONGEST_FILE = 30, 350
NO_CHAPTERS = re.compile(r"__(init|main)__\.py$|^app/arrays\.py$|^migrations/env\.py$")  # front doors, names of types


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


def test_a_file_is_a_chapter() -> None:
    """Neither a book nor a sentence; the front door of a package may be short."""
    lines = {place(path): len(path.read_text().splitlines()) for path in PYTHON}
    chapters = {name: count for name, count in lines.items() if not NO_CHAPTERS.search(name)}
    assert {name: count for name, count in chapters.items() if not SHORTEST_FILE <= count <= LONGEST_FILE} == {}


def type_names(path: Path) -> list[str]:
    """The public classes and type aliases that a module defines."""
    names = []
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.AnnAssign) and "TypeAlias" in ast.unparse(node.annotation):
            names.append(ast.unparse(node.target))
        elif isinstance(node, ast.Assign) and re.match(
            r"(Annotated|Literal|Callable|NDArray|Mapping)\[", ast.unparse(node.value)
        ):
            names += [ast.unparse(target) for target in node.targets]
    return [name for name in names if re.fullmatch(r"[A-Z][A-Za-z]*[a-z][A-Za-z]*", name)]


def test_a_type_name_is_defined_once() -> None:
    defined = defaultdict(set)
    for path in PYTHON:
        if place(path).startswith("app/"):
            for name in type_names(path):
                defined[name].add(place(path))
    assert {name: files for name, files in defined.items() if len(files) > 1} == {}


def test_no_loop_variable_says_nothing() -> None:
    """`for observation in …`, not `for one in …`."""
    loops = re.compile(r"\bfor (?:one|each|found|wanted|said)\b(?:,| in )")
    assert {place(path) for path in PYTHON if loops.search(path.read_text())} == set()


def test_event_types_are_written_once_and_never_put_together() -> None:
    """An event is its class: no other module knows the text of its type."""
    types = {kind.type for kind in get_args(StudyEvent)} - {StudyGone.code}
    known = {"app/domain/events.py"}
    spelled = {place(path) for path in PYTHON for name in types if f'"{name}"' in path.read_text()}
    assert {name for name in spelled if name.startswith("app/")} == known


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
