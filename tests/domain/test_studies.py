"""The life cycle of a study: active ⇄ paused ⇄ archived → deleted."""

import pytest

from app.domain.errors import ForbiddenTransition, StudyNotActive
from app.domain.studies import TRANSITIONS, Configuration, Study, StudyState

ALLOWED = {
    ("active", "paused"),
    ("active", "archived"),
    ("active", "deleted"),
    ("paused", "active"),
    ("paused", "archived"),
    ("paused", "deleted"),
    ("archived", "active"),
    ("archived", "paused"),
    ("archived", "deleted"),
}


def study(state: StudyState) -> Study:
    return Study(1, "s", state, Configuration(), version=1, seq=1, head="", created_at="")


@pytest.mark.parametrize("wanted", StudyState)
@pytest.mark.parametrize("state", StudyState)
def test_a_study_changes_its_state_only_along_the_life_cycle(state: StudyState, wanted: StudyState) -> None:
    if (state.value, wanted.value) in ALLOWED:
        study(state).must_be_able_to_become(wanted)
        return
    with pytest.raises(ForbiddenTransition) as refused:
        study(state).must_be_able_to_become(wanted)
    assert refused.value.facts == {"state": state.value, "wanted": wanted.value}


def test_every_state_has_its_line_in_the_table() -> None:
    assert TRANSITIONS.keys() == set(StudyState)


@pytest.mark.parametrize("state", StudyState)
def test_only_an_active_study_is_active(state: StudyState) -> None:
    if state is StudyState.ACTIVE:
        study(state).must_be_active()
        return
    with pytest.raises(StudyNotActive):
        study(state).must_be_active()


def test_an_archived_study_takes_no_more_candidates() -> None:
    study(StudyState.PAUSED).must_not_be_archived()
    with pytest.raises(StudyNotActive, match="archived"):
        study(StudyState.ARCHIVED).must_not_be_archived()
