"""Ten bugs that somebody planted and the suite did not notice. Each test here fails with its bug."""

from collections.abc import Callable
from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from app.arrays import Array
from app.domain.access import Role
from app.domain.candidates import BlockArrays, CandidateBlock, Column
from app.domain.clock import ago
from app.domain.events import EarlierResults
from app.domain.studies import Configuration, Direction, ModelSettings, Objective, Theory
from app.modelling.ledger_state import LedgerState
from app.modelling.model import _previous_fit, advance
from app.services.use_cases import access
from app.services.use_cases.access import create_key
from app.services.use_cases.events import news
from app.storage.database import Database
from app.storage.tables import api_keys, studies
from tests.api.conftest import problem
from tests.api.lab import Lab
from tests.api.test_archives import take_in
from tests.conftest import OPERATOR
from tests.reliability.hostile.archives import resealed

OTHER_SETTINGS: dict[str, Any] = {
    "objectives": (Objective(direction=Direction.MINIMIZE),),
    "seed": 1,
    "goal": "explore",
    "algorithm": "random",
    "theory": Theory(),
    "columns": {"temperature": {"scale": "log"}},
    "repeats": 3,
    "noise": "none",
}


def as_key(plaintext_key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {plaintext_key}"}


def test_a_result_of_another_study_is_no_repeat(lab: Lab) -> None:
    """Planted: the search for repeated results left out the study."""
    other = Lab(lab.client, "t").begin()
    lab.begin()
    assert other.report(candidate="THF-20", value=0.5).json()["warnings"] == []
    assert other.report(candidate="THF-30", value=0.5, ref="LAB-1").json()["results"][0]["status"] == "recorded"
    assert lab.report(candidate="THF-20", value=0.5).json()["warnings"] == []
    assert lab.report(candidate="THF-30", value=0.5).json()["results"][0]["status"] == "recorded"
    assert lab.report(candidate="THF-40", value=0.7, ref="LAB-1").json()["results"][0]["status"] == "recorded"


def test_a_changed_scale_of_a_column_changes_the_features() -> None:
    """Planted: features that ignored a changed scale, in asks and in replays alike."""
    column, block = Column("pressure", "number", "feature"), CandidateBlock(0, 3, BlockArrays("numbers", "codes"))
    before = LedgerState(columns=(column,), blocks=(block,))
    after = replace(before, configuration=Configuration(columns={"pressure": {"scale": "log"}}))

    def load(_block: CandidateBlock) -> tuple[Array, Array, dict[str, Array]]:
        return np.array([[1.0], [2.0], [3.0]]), np.empty((3, 0), dtype="<i4"), {}

    earlier = advance(None, before, load)
    continued, fresh = (advance(base, after, load).state.X.tolist() for base in (earlier, None))
    assert continued == fresh != earlier.state.X.tolist()


@pytest.mark.parametrize("setting", [setting.name for setting in fields(ModelSettings)])
def test_a_fit_is_void_when_a_setting_it_depends_on_changes(setting: str) -> None:
    """Planted: a fit that survived a change of goal."""
    fit = object()
    base: Any = SimpleNamespace(ledger=LedgerState(), fit=fit)
    changed = replace(Configuration(), **{setting: OTHER_SETTINGS[setting]})
    assert _previous_fit(base, LedgerState(configuration=Configuration(description="other words"))) is fit
    assert _previous_fit(base, LedgerState(configuration=changed)) is None


def test_a_fit_is_void_when_a_constraint_or_what_is_borrowed_changes() -> None:
    base: Any = SimpleNamespace(ledger=LedgerState(), fit=object())
    assert _previous_fit(base, LedgerState(bounds=(90.0,))) is None
    earlier = EarlierResults("t", 3, "f" * 64, Direction.MAXIMIZE, (1.0,), {"pressure": (1.0,)}, {})
    assert _previous_fit(base, LedgerState(borrowed=(earlier,))) is None


def test_a_page_of_batches_begins_after_the_one_that_was_seen(lab: Lab) -> None:
    """Planted: `after` was off by one."""
    lab.begin().work(4, min_size=1, max_size=1)
    numbers = [[batch["number"] for batch in lab.get("batches", after=n)["batches"]] for n in range(5)]
    assert numbers == [[1, 2, 3, 4], [2, 3, 4], [3, 4], [4], []]
    first = lab.get("batches", limit=2)
    second = lab.get("batches", limit=2, after=first["next"])
    assert [batch["number"] for page in (first, second) for batch in page["batches"]] == [1, 2, 3, 4]


def test_an_idempotency_key_belongs_to_the_whole_address(lab: Lab) -> None:
    """Planted: the fingerprint of a request left out its query."""
    lab.begin()
    key = {"Idempotency-Key": "k"}
    assert lab.send({"candidate": "THF-20", "value": 1}, headers=key).status_code == 201
    again = lab.send({"candidate": "THF-20", "value": 1}, headers=key, duplicates="new")
    problem(again, 422, "idempotency-key-reused")


def test_an_expired_key_is_news_to_its_streams(database: Database) -> None:
    """Planted: streams went on after their key had expired."""
    with database.write() as connection:
        expired, revoked, alive = (create_key(connection, OPERATOR, name, Role.DASHBOARD)[0] for name in "abc")
        this = api_keys.update().where(api_keys.c.id == expired.id)
        connection.execute(this.values(expires_at=ago(hours=1)))
        access.revoke_key(connection, OPERATOR, revoked.id)
        ended = news(connection, OPERATOR, ["s"]).ended_keys
    assert {expired.id, revoked.id} <= set(ended)
    assert alive.id not in ended


@pytest.mark.parametrize("change", [{"head": "f" * 64}, {"seq": 1}, {"seq": 99}])
def test_verify_compares_the_end_of_the_ledger_with_the_study(
    lab: Lab, database: Database, change: dict[str, Any]
) -> None:
    """Planted: `verify` did not compare the head."""
    lab.begin()
    assert lab.is_sound()
    with database.write() as connection:
        connection.execute(studies.update().values(**change))
    assert not lab.is_sound()


@pytest.mark.parametrize("part", ["alpha", "beta", "effective_dimension"])
def test_a_replay_compares_the_whole_record(lab: Lab, part: str) -> None:
    """Planted: a replay compared the suggestions only."""
    lab.begin().work(2, min_size=2, max_size=2)

    def change(event: dict[str, Any]) -> None:
        if event["type"] == "batch-issued":
            event["payload"]["record"][part] += 1.0

    forged = resealed(lab.client.get(f"{lab.path}/archive").content, change, "forged")
    assert take_in(lab, forged).status_code == 201
    assert lab.replays(2)
    replayed = lab.client.post("/v1/studies/forged/batches/2/replay").json()
    assert (replayed["equal"], replayed["differences"]) == (False, ["record"])


def test_a_technicians_own_result_stays_theirs_to_correct(lab: Lab, new_key: Callable[..., str]) -> None:
    """Planted: the right to correct was judged by the last version."""
    lab.begin()
    technician = as_key(new_key("technician", "s"))
    observations = f"{lab.path}/observations"
    own = lab.client.post(observations, json={"candidate": "THF-20", "value": 1}, headers=technician)
    assert own.status_code == 201
    assert lab.correct(1, 2.0).status_code == 200
    correction = {"json": {"value": 3, "reason": "typo"}, "headers": {"If-Match": "*", **technician}}
    assert lab.client.post(f"{observations}/1/corrections", **correction).status_code == 200
    assert lab.report(candidate="THF-30", value=1).status_code == 201
    problem(lab.client.post(f"{observations}/2/corrections", **correction), 403, "forbidden")


def test_secrets_are_compared_in_constant_time(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: `==` for the hash of a secret."""
    with database.write() as connection:
        plaintext_key = create_key(connection, OPERATOR, "a", Role.ADMIN)[1]
    compared = []

    def compare(stored: str, given: str) -> bool:
        compared.append((stored, given))
        return True

    monkeypatch.setattr(access, "compare_digest", compare)
    with database.read() as connection:
        access.authenticate(connection, f"{plaintext_key[:-1]}_")
    [(stored, given)] = compared
    assert stored != given
