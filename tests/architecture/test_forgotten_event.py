"""A new event that one consumer forgets is a type error: `make check` names the place."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

CONSUMERS = {
    "app/domain/event_arrays.py",  # which arrays it names: archives and sweeping
    "app/modelling/ledger_state.py",  # what the models see
    "app/services/use_cases/events.py",  # the timeline
    "app/storage/projections.py",  # the tables
}
NEW_EVENT = '''
@dataclass(frozen=True)
class StudyAbducted:
    """A new event that nobody handles yet."""

    type: ClassVar = "study-abducted"


StudyEvent: TypeAlias = (
    StudyAbducted
    | StudyCreated
'''


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What mypy says of a copy of the server with one more event."""
    folder = tmp_path_factory.mktemp("planted")
    shutil.copytree(ROOT / "app", folder / "app", ignore=shutil.ignore_patterns("__pycache__", "node_modules", "web"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    events = folder / "app/domain/events.py"
    before = "\nStudyEvent: TypeAlias = (\n    StudyCreated\n"
    assert before in events.read_text()
    events.write_text(events.read_text().replace(before, NEW_EVENT))
    command = [sys.executable, "-m", "mypy", "--no-incremental", *sorted(CONSUMERS)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize("consumer", sorted(CONSUMERS))
def test_a_forgotten_event_is_a_type_error(errors: str, consumer: str) -> None:
    lines = [line for line in errors.splitlines() if line.startswith(f"{consumer}:")]
    assert any("assert_never" in line and "StudyAbducted" in line for line in lines), errors
