"""Every lesson learned elsewhere names a test that is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_lesson_has_its_test() -> None:
    named = re.findall(r"^\| .+ \| `(tests/\S+)::(\w+)` \|$", (ROOT / "docs/lessons.md").read_text(), re.MULTILINE)
    assert len(named) > 15
    assert [test for path, test in named if f"def {test}(" not in (ROOT / path).read_text()] == []
