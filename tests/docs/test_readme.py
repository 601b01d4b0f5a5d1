"""The README's examples, run as they are printed against a real server."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server import Server, running

README = (Path(__file__).parents[2] / "README.md").read_text()
PRINTED = "http://127.0.0.1:8000"


def example(language: str) -> str:
    """The first block of a language; it is run as printed but for the port."""
    found = re.search(rf"```{language}\n(.*?)```", README, re.DOTALL)
    assert found
    assert PRINTED in found[1]
    return found[1]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("readme") / "data") as server:
        yield server


def run(command: list[str], code: str, server: Server) -> str:
    folder = server.output.parent.parent
    done = subprocess.run(
        command, input=code.replace(PRINTED, server.address), cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def documents(printed: str) -> Iterator[dict[str, Any]]:
    """The JSON documents that follow each other."""
    while printed:
        document, end = json.JSONDecoder().raw_decode(printed)
        yield document
        printed = printed[end:].lstrip()


def test_the_curl_lines_work_as_printed(server: Server) -> None:
    printed = run(["bash", "-euo", "pipefail", "-s"], example("bash"), server)
    study, receipt, batch, reported, certificate = documents(printed)
    assert (study["name"], receipt["added"]) == ("screening", 3)
    assert (batch["number"], len(batch["suggestions"])) == (1, 2)
    assert (reported["recorded"], reported["results"][0]["suggestion"]) == (1, "B1-S1")
    assert "83.1 %" in certificate["words"]


def test_the_python_example_works_as_printed_in_ten_lines(server: Server) -> None:
    code = example("python")
    assert len([line for line in code.splitlines() if line]) <= 10
    for _ in range(2):  # a second run goes on where the first one ended
        printed = run([sys.executable, "-W", "ignore::ResourceWarning", "-"], code, server)
        # the best there is, found among 34 in 12 measurements
        assert re.fullmatch(r"\w+: 80(?: \(mean of \d\))?, heat 70, solvent DMF\n", printed)


def test_every_link_leads_somewhere() -> None:
    root = Path(__file__).parents[2]
    documents = [*root.glob("*.md"), *root.glob("docs/**/*.md")]
    broken = [
        (document.name, link)
        for document in documents
        for link in re.findall(r"\]\(([^)#:]+)\)", document.read_text())
        if not (document.parent / link).exists()
    ]
    assert broken == []
