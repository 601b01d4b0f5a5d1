"""The chain of events: whatever is altered, missing or out of place is found, at its first place."""

import json
from dataclasses import fields, replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.codec import canonical
from app.domain.ledger import GENESIS, LedgerEntry, first_break, seal

TEXT_FIELDS = [field.name for field in fields(LedgerEntry) if field.name not in ("seq", "format")]

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


def chain(length: int, study: str = "s") -> list[LedgerEntry]:
    events, previous = [], GENESIS
    for seq in range(1, length + 1):
        rest = {
            "seq": seq,
            "type": "observed",
            "format": 1,
            "payload": canonical({"value": seq / 7}),
            "actor": "key",
            "reason": None,
            "recorded_at": f"2026-01-01T00:00:{seq:02d}Z",
            "request_id": f"r{seq}",
            "previous": previous,
        }
        previous = seal(study, rest)
        events.append(LedgerEntry(**rest, hash=previous))
    return events


def test_a_sound_chain_has_no_break() -> None:
    assert first_break("s", chain(5)) is None
    assert first_break("s", []) is None


@given(st.data(), st.integers(1, 12))
def test_an_altered_event_is_found(data: st.DataObject, length: int) -> None:
    events = chain(length)
    place = data.draw(st.integers(0, length - 1))
    field = data.draw(st.sampled_from([*TEXT_FIELDS, "seq", "format"]))
    was = getattr(events[place], field)
    other = data.draw(
        (st.integers() if field in ("seq", "format") else st.text(max_size=70)).filter(lambda new: new != was)
    )
    events[place] = replace(events[place], **{field: other})
    assert first_break("s", events) == place + 1


@given(st.data(), st.integers(2, 12))
def test_a_missing_event_is_found(data: st.DataObject, length: int) -> None:
    events = chain(length)
    place = data.draw(st.integers(0, length - 2))
    del events[place]
    assert first_break("s", events) == place + 1


@given(st.data(), st.integers(2, 12))
def test_two_events_that_changed_places_are_found(data: st.DataObject, length: int) -> None:
    events = chain(length)
    first, second = sorted(data.draw(st.sets(st.integers(0, length - 1), min_size=2, max_size=2)))
    events[first], events[second] = events[second], events[first]
    assert first_break("s", events) == first + 1


@given(st.integers(1, 8))
def test_an_event_of_another_study_does_not_fit(length: int) -> None:
    assert first_break("s", chain(length, study="t")) == 1


def test_an_alteration_with_a_hash_of_its_own_breaks_the_next_link() -> None:
    events = chain(4)
    forged = replace(events[1], payload=canonical({"value": 99.0}))
    events[1] = replace(forged, hash=seal("s", vars(forged)))
    assert first_break("s", events) == 3


@given(json_values)
def test_canonical_json_has_one_spelling_and_loses_nothing(value: object) -> None:
    spelled = canonical(value)
    assert json.loads(spelled) == value
    assert canonical(json.loads(spelled)) == spelled


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_comes_back_to_the_last_bit(value: float) -> None:
    assert json.loads(canonical(value)).hex() == value.hex()


@given(st.dictionaries(st.text(), st.integers(), max_size=6), st.randoms())
def test_the_order_of_members_does_not_matter(members: dict[str, int], random: Random) -> None:
    shuffled = list(members.items())
    random.shuffle(shuffled)
    assert canonical(dict(shuffled)) == canonical(members)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_has_no_spelling(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical(value)
