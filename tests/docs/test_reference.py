"""The reference is what the code says, and every setting in it has an example that the server takes."""

import json
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from app.api.schemas.studies import StudySettings
from app.engine.kernels.build import KINDS, build

FOLDER = Path(__file__).parents[2] / "docs"
REFERENCE: dict[str, Any] = runpy.run_path(str(FOLDER / "reference.py"))
ROW = re.compile(r"^\| `(\w+)` \| .* \| `(.*)` \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    made: dict[str, str] = REFERENCE["pages"]()
    return made


def test_the_committed_pages_are_those_of_the_code(pages: dict[str, str]) -> None:
    kept = {path.name: path.read_text() for path in (FOLDER / "reference").iterdir()}
    assert kept.keys() == pages.keys()
    assert [name for name, text in pages.items() if kept[name] != text] == [], "run `make reference`"


def test_every_example_of_a_study_setting_is_accepted(pages: dict[str, str]) -> None:
    parts: dict[str, type[BaseModel]] = REFERENCE["STUDY_PARTS"]
    for title, shape in parts.items():
        [section] = re.findall(
            rf"^## {title}\n.*?(?=^## |^### |\Z)", pages["study-settings.md"], re.DOTALL | re.MULTILINE
        )
        examples = {name: json.loads(example.replace("\\|", "|")) for name, example in ROW.findall(section)}
        assert list(examples) == list(shape.model_fields)
        required = {name: examples[name] for name, field in shape.model_fields.items() if field.is_required()}
        for name, example in examples.items():
            shape.model_validate_json(json.dumps(required | {name: example}))


def test_the_settings_of_the_theory_are_among_them(pages: dict[str, str]) -> None:
    for name in ("kernel", "regularization", "q_bar", "confidence"):
        assert f"| `{name}` |" in pages["study-settings.md"]
    assert set(StudySettings.model_fields) <= set(
        re.findall(r"^\| `(\w+)` \|", pages["study-settings.md"], re.MULTILINE)
    )


def test_every_kernel_is_shown_and_can_be_built() -> None:
    shown: list[dict[str, Any]] = list(REFERENCE["KERNELS"])
    assert [kernel["kind"] for kernel in shown] == list(KINDS)
    for kernel in shown:
        assert build(kernel).describe()["kind"] == kernel["kind"]


def test_every_public_method_of_a_study_is_described(pages: dict[str, str]) -> None:
    for method in ("ask", "report", "upload", "front", "fork", "export"):
        [text] = re.findall(
            rf"^### Study\.{method}\n\n```python\n{method}\(.*?\n```\n\n(\S.*)$", pages["python.md"], re.MULTILINE
        )
        assert len(text) > 20
