"""Typed events: what is written is what is read, anything else is refused, and old ledgers stay readable."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.domain import ledger
from app.domain.codec import canonical
from app.domain.errors import UnreadableEvent
from app.domain.event_arrays import ARRAY_EVENTS, digests_of
from app.domain.events import AccessGranted, StudyDeleted, StudyEvent
from app.domain.ledger import EVENT_TYPES, FORMAT, LedgerEntry, decode, encode, first_break
from tests.domain.golden import GOLDEN, STUDY
from tests.domain.strategies import any_event, events_of

KINDS: tuple[type[StudyEvent], ...] = get_args(StudyEvent)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.type)
def test_every_event_comes_back_as_it_was(kind: type[StudyEvent]) -> None:
    @given(events_of(kind))
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    def comes_back(event: StudyEvent) -> None:
        text = encode(event)
        assert decode(event.type, FORMAT, text) == event
        assert encode(decode(event.type, FORMAT, text)) == text == canonical(json.loads(text))  # −0.0 is not 0.0

    comes_back()


def test_every_event_has_a_type_of_its_own() -> None:
    assert len(EVENT_TYPES) == len(KINDS) == len({kind.type for kind in KINDS})


@pytest.mark.parametrize(
    ("type_", "format_"), [("study-abducted", 1), ("study-deleted", FORMAT + 1), ("study-deleted", 0)]
)
def test_an_unknown_event_is_refused(type_: str, format_: int) -> None:
    with pytest.raises(UnreadableEvent):
        decode(type_, format_, "{}")


@pytest.mark.parametrize(
    "payload",
    ["", "[]", "{", '{"unknown":1}', "null", '{"a":NaN}', "[" * 100_000],
    ids=["nothing", "a list", "half", "a field too many", "null", "no number", "too deep"],
)
def test_a_payload_of_another_shape_is_refused(payload: str) -> None:
    with pytest.raises(UnreadableEvent):
        decode(StudyDeleted.type, FORMAT, payload)


@given(any_event, st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_payload_with_a_wrong_or_missing_member_is_refused(event: StudyEvent, data: st.DataObject) -> None:
    plain = json.loads(encode(event))
    if not plain:
        return
    name = data.draw(st.sampled_from(sorted(plain)))
    wrong: dict[str, Any] = {**plain, name: {"not": ["this"]}}
    with pytest.raises(UnreadableEvent):
        decode(event.type, FORMAT, canonical(wrong))
    with pytest.raises(UnreadableEvent):
        decode(event.type, FORMAT, canonical({**plain, f"{name}s": 1}))


@given(any_event)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_only_the_events_that_are_said_to_name_arrays(event: StudyEvent) -> None:
    assert bool(digests_of(event)) == isinstance(event, ARRAY_EVENTS)


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_golden_ledger_is_read_to_the_last_byte(path: Path) -> None:
    entries = [LedgerEntry(**json.loads(line)) for line in path.read_text().splitlines()]
    assert first_break(STUDY, entries) is None
    for entry in entries:
        event = entry.event()
        if entry.format == FORMAT:
            assert encode(event) == entry.payload


def test_the_newest_golden_ledger_has_every_event() -> None:
    lines = (GOLDEN / f"format-{FORMAT}.jsonl").read_text().splitlines()
    assert {json.loads(line)["type"] for line in lines} == set(EVENT_TYPES)


def test_there_is_a_golden_ledger_of_every_format() -> None:
    assert [path.stem for path in sorted(GOLDEN.glob("*.jsonl"))] == [f"format-{n}" for n in range(1, FORMAT + 1)]


def test_an_older_format_is_read_by_the_upgrades_since(monkeypatch: pytest.MonkeyPatch) -> None:
    """Format 1 called it `key`, format 2 renamed it, format 3 is today's: each upgrade is applied in turn."""
    steps = {
        1: {"access-granted": lambda plain: {"keyid": plain["key"]}},
        2: {"access-granted": lambda plain: {"key_id": plain["keyid"]}},
    }
    monkeypatch.setattr(ledger, "FORMAT", 3)
    monkeypatch.setattr(ledger, "_UPGRADES", steps)
    for format_, payload in ((1, '{"key":"a"}'), (2, '{"keyid":"a"}'), (3, '{"key_id":"a"}')):
        assert decode("access-granted", format_, payload) == AccessGranted("a")
    with pytest.raises(UnreadableEvent):
        decode("access-granted", 3, '{"key":"a"}')
