"""The client's public types: mypy accepts programs as people write them, and finds their mistakes."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("typed_program.py")

MISTAKES = {
    'study.ask(max_size="four")': "incompatible type",
    "study.ask().suggestions[0].reprot(1.0)": 'has no attribute "reprot"',
    'client.create_study("s", direction="upwards")': "incompatible type",
    'client.create_key("x", "king")': "incompatible type",
    "study.delete()": "Too few arguments",
    "study.candidates(limitt=3)": 'did you mean "limit"',
    'study.add_webhook("https://a.example", ["batch.lost"])': "incompatible type",
}


def mypy(program: Path) -> subprocess.CompletedProcess[str]:
    options = ["--strict", "--config-file", "", "--no-error-summary", "--cache-dir", str(program.parent / "cache")]
    return subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(program)],
        cwd=ROOT / "client",
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_program_as_people_write_it_has_the_types_it_should(tmp_path: Path) -> None:
    copy = tmp_path / PROGRAM.name
    copy.write_text(PROGRAM.read_text())
    checked = mypy(copy)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_mistakes_are_found(tmp_path: Path) -> None:
    lines = ["from nextbatch import Client", "client = Client()", 'study = client.study("s")', *MISTAKES]
    program = tmp_path / "mistaken.py"
    program.write_text("\n".join(lines) + "\n")
    found = mypy(program).stdout.splitlines()
    for number, words in enumerate(MISTAKES.values(), start=4):
        told = [line for line in found if f":{number}: error" in line]
        if not any(words in line for line in told):
            pytest.fail(f"{lines[number - 1]}: {told}")
