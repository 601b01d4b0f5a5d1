"""The examples in the client's docstrings are true."""

import doctest
import importlib
import pkgutil
from typing import Any
from uuid import uuid4

import pytest

import nextbatch
from nextbatch import Client
from tests.client.conftest import ROWS
from tests.live import Live

MODULES = [
    nextbatch,
    *(importlib.import_module(m.name) for m in pkgutil.walk_packages(nextbatch.__path__, "nextbatch.")),
]


def examples() -> list[doctest.DocTest]:
    finder = doctest.DocTestFinder()
    return [found for module in MODULES for found in finder.find(module) if found.examples]


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_an_example_gives_what_it_says(server: Live, monkeypatch: pytest.MonkeyPatch, example: doctest.DocTest) -> None:
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    with Client() as client:
        study = client.create_study(f"doc-{uuid4().hex[:12]}")
        study.upload(ROWS[:3])
        example.globs |= {"client": client, "study": study, "Client": Client}
        if "suggestion." in example.docstring:
            example.globs["suggestion"] = _suggestion(study)
        failed = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, clear_globs=False)
    assert failed.attempted > 0
    assert failed.failed == 0


def _suggestion(study: Any) -> Any:
    return study.ask(max_size=1).suggestions[0]


def test_every_example_is_found() -> None:
    assert len(examples()) >= 8
