"""The limits of the wire and those of the domain are the same limits."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from app.api.schemas.quantities import TheorySettings
from app.api.schemas.studies import StopRule, StudySettings
from app.domain.limits import configuration_findings, is_line, is_moment, is_name, is_text

PARTS: dict[str, Any] = {"stop": StopRule, "theory": TheorySettings}

AT_THE_LIMIT: dict[str, list[Any]] = {
    "description": ["", "x" * 10_000, "x" * 10_001],
    "objective": ["yield", "x" * 200, "x" * 201, "two\nlines"],
    "unit": ["%", "x" * 201],
    "min_batch": [1, 0, 100_000, 100_001],
    "max_batch": [1, 100_000, 100_001],
    "first_batch": [None, 1, 0, 100_000, 100_001],
    "repeats": ["auto", 1, 0, 1_000_000, 1_000_001],
    "overdue_hours": [None, 0.5, 0.0, -1.0, 1_000_000.0, 1_000_001.0],
    "seed": [0, -1, 2**63 - 1, 2**63],
    "shard": [None, 0, 99, 100, 10**9, 10**9 + 1],
    "stop": [
        {"observations": 1},
        {"observations": 0},
        {"regret_bound": 0.0},
        {"regret_bound": 0.1},
        {"date": "2030-01-01T00:00Z"},
    ],
    "theory": [
        *(
            {name: number}
            for name in ("noise", "norm", "scale", "regularization", "q_bar")
            for number in (0.0, -1.0, 0.5)
        ),
        *({"delta": number} for number in (0.0, 0.5, 1.0)),
        *({"threshold": number} for number in (0.99, 1.0)),
        *({"rule": rule} for rule in ("global", "no such rule", None)),
    ],
}


@pytest.mark.parametrize("setting", AT_THE_LIMIT)
def test_the_wire_and_the_domain_refuse_the_same_settings(setting: str) -> None:
    for value in AT_THE_LIMIT[setting]:
        assert _wire_accepts(setting, value) == _domain_accepts(setting, value), value


def _wire_accepts(setting: str, value: Any) -> bool:
    try:
        StudySettings.model_validate({setting: value})
    except ValidationError:
        return False
    return True


def _domain_accepts(setting: str, value: Any) -> bool:
    """Judged without the wire's own checks."""
    if setting in PARTS:
        part = PARTS[setting]()
        value = part.model_copy(update=StopRule(**value).__dict__ if "date" in value else value)
    return not configuration_findings(StudySettings().model_copy(update={setting: value}).configuration())


@pytest.mark.parametrize(
    ("check", "fits", "refused"),
    [
        (is_name, "a-1.b_2", ["../up", "a\n", "", "x" * 101]),
        (is_line, "µmol", ["a\x00", "\ud800", "two\nlines", "x" * 201]),
        (is_text, "two\nlines", ["a\x00", "\ud800", "x" * 10_001]),
        (is_moment, "2026-01-01T00:00:00.000000Z", ["2026-01-01", "yesterday", "2026-01-01T00:00Z"]),
    ],
)
def test_texts_that_no_database_can_hold_are_refused(
    check: Callable[[str], bool], fits: str, refused: list[str]
) -> None:
    assert check(fits)
    assert not any(check(text) for text in refused)
