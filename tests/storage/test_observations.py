"""Results as rows."""

from random import Random

import pytest

from app.domain.events import ObservationsReported
from app.domain.observations import Measured, ReportedObservation
from app.domain.studies import Configuration, Study
from app.storage import ledger, observations, studies
from app.storage.database import Database
from tests.conftest import OPERATOR

QUANTITY = 'yield_% "é"'
VALUES = [0.0, -0.0, 1.0, 1 / 3, 1e16, 5e-324, -7.25]


def _study(database: Database, random: Random) -> tuple[Study, set[tuple[int, float]]]:
    """A study with results of five candidates, and those of its values that are of the quantity."""
    stored, reported = set(), []
    for number in range(1, 61):
        candidate, value = random.randrange(5), random.choice(VALUES)
        one, other = {QUANTITY: Measured(value, random.choice([None, None, 0.5]))}, {"purity": Measured(3.0)}
        values = random.choice([one, one, one, {**one, **other}, other])
        reported.append(ReportedObservation(number, candidate, values))
        stored |= {(candidate, value)} if QUANTITY in values else set()
    with database.write() as connection:
        made = studies.create(connection, "s", Configuration())
        assert made is not None
        return ledger.append(connection, made, OPERATOR, ObservationsReported(tuple(reported), 1, None)), stored


@pytest.mark.parametrize("most", [0, 500])
def test_what_is_stored_among_some_values_is_found_by_text_as_by_value(
    database: Database, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(observations, "IN_LIMIT", most)
    random = Random(5)
    study, stored = _study(database, random)
    asked = {(candidate, value) for candidate in range(7) for value in (*VALUES, 2.0)}
    with database.read() as connection:
        assert observations.stored_among(connection, study, QUANTITY, asked) == stored
        for size in (0, 1, 2, 3):
            some = set(random.sample(sorted(asked), size))
            assert observations.stored_among(connection, study, QUANTITY, some) == stored & some
