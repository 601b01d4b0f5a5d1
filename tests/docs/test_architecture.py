"""`docs/architecture.md` tells three walks, and `docs/events.md` every event: both as the code has them."""

import json
import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from app.domain.events import StudyEvent
from app.domain.ledger import FORMAT, decode
from benchmarks.walks import Walk, walks

ROOT = Path(__file__).parents[2]
ARCHITECTURE = (ROOT / "docs/architecture.md").read_text()
EVENTS = (ROOT / "docs/events.md").read_text()
HOP = re.compile(r"^\d+\. `(app/[\w/]+\.py)` `([\w.]+)`", re.MULTILINE)
KINDS: tuple[type[StudyEvent], ...] = get_args(StudyEvent)


@pytest.fixture(scope="module")
def traced() -> dict[str, Walk]:
    return walks()


@pytest.mark.parametrize("walk", ["report", "ask", "upload"])
def test_a_walk_is_told_as_it_happens(traced: dict[str, Walk], walk: str) -> None:
    [section] = re.findall(rf"### An? {walk}: .*?(?=\n##|\Z)", ARCHITECTURE, re.DOTALL)
    hops = HOP.findall(section)
    assert len(hops) >= 10
    order = list(traced[walk].calls)
    positions = [order.index(hop) for hop in hops]  # a hop that did not happen is an error
    assert positions == sorted(positions)


def section(kind: type[StudyEvent]) -> str:
    [text] = re.findall(rf"^## {kind.type}\n.*?(?=^## |\Z)", EVENTS, re.DOTALL | re.MULTILINE)
    return str(text)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.type)
def test_every_event_is_described_with_its_fields(kind: type[StudyEvent]) -> None:
    assert (kind.__doc__ or "").strip() in section(kind)
    described = re.findall(r"^\| `(\w+)` \|", section(kind), re.MULTILINE)
    assert described == [field.name for field in fields(kind)]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.type)
def test_every_example_of_an_event_can_be_read(kind: type[StudyEvent]) -> None:
    [example] = re.findall(r"```json\n(.*?)```", section(kind), re.DOTALL)
    assert isinstance(decode(kind.type, FORMAT, json.dumps(json.loads(example))), kind)


def test_no_other_event_is_described() -> None:
    assert re.findall(r"^## (\S+)$", EVENTS, re.MULTILINE) == [kind.type for kind in KINDS]
