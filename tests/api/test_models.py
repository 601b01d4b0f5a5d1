"""A model is a pure function of a prefix of the ledger: from memory, from the database, from nothing, the same bits."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from time import sleep
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete, func, select, update

from app.compute import snapshots
from app.compute.ledger_states import LedgerPrefix
from app.domain.batches import BatchSize
from app.domain.codec import canonical, to_plain
from app.main import create_app
from app.modelling import model
from app.modelling.model import Model, advance
from app.services.resources import Resources
from app.settings import Settings
from app.storage import ledger, studies, tables
from app.storage.database import Database
from tests.api.lab import THEORY, Lab, truth

MODES: dict[str, Any] = {"auto": None, "theory": THEORY}


@pytest.fixture
def fresh(settings: Settings) -> Iterator[Resources]:
    """A process that knows nothing yet."""
    app = create_app(settings)
    with TestClient(app):
        yield app.state.resources


def next_batch(resources: Resources, name: str = "s") -> str:
    """The next batch, to the last bit."""
    with resources.database.read() as connection:
        study = studies.find(connection, name)
        assert study is not None
        state = resources.ledger_states.read(connection, study.id, study.seq)
    draft = resources.compute.compute_batch(LedgerPrefix(study.id, state.seq, state.head), BatchSize(1, 6))
    return canonical(to_plain([draft.record, draft.suggestions]))


def save(resources: Resources) -> None:
    """Keep the model of the last batch's basis, as the server does after an answer."""
    with resources.database.read() as connection:
        study = studies.find(connection, "s")
        assert study is not None
        basis = resources.ledger_states.read(connection, study.id, study.seq).bases[-1]
    resources.models.save(LedgerPrefix(study.id, basis.seq, basis.hash))


def forget(resources: Resources) -> None:
    """Drop what the process has in memory."""
    resources.models.clear()
    resources.ledger_states.clear()


@pytest.fixture
def busy(lab: Lab, resources: Resources, request: pytest.FixtureRequest) -> Lab:
    lab.begin(theory=MODES[getattr(request, "param", "auto")], repeats=2).work(3, max_size=5)
    lab.correct(2, 0.7)
    lab.batch("other", max_size=3)
    lab.report(candidate="MeOH-50", value=0.3)
    lab.report(candidate="DMF-90", failed={"reason": "explodes", "retry": False})
    resources.snapshots.close()
    save(resources)
    return lab


def nothing(_database: Database) -> None:
    """The snapshots are as they were written."""


def missing(database: Database) -> None:
    with database.write() as connection:
        for table in (tables.snapshot_blobs, tables.snapshots):
            connection.execute(delete(table))


def another_build(database: Database) -> None:
    with database.write() as connection:
        connection.execute(update(tables.snapshots).values(build="another"))


def altered_record(database: Database) -> None:
    with database.write() as connection:
        changed = func.replace(tables.snapshots.c.record, '"seed":0', '"seed":1')
        connection.execute(update(tables.snapshots).values(record=changed))


def no_record(database: Database) -> None:
    with database.write() as connection:
        connection.execute(update(tables.snapshots).values(record="{"))


def damaged_arrays(database: Database) -> None:
    """Every cached array is a byte short; the candidates' own are whole."""
    with database.write() as connection:
        scoped = select(tables.blobs.c.digest).where(tables.blobs.c.scope != "")
        short = update(tables.blob_chunks).where(tables.blob_chunks.c.digest.in_(scoped))
        connection.execute(short.values(content=b"x"))


@pytest.mark.parametrize("busy", MODES, indirect=True)
@pytest.mark.parametrize("damage", [nothing, missing, another_build, altered_record, no_record, damaged_arrays])
def test_the_next_batch_is_the_same_however_the_model_is_found(
    busy: Lab, resources: Resources, fresh: Resources, database: Database, damage: Callable[[Database], None]
) -> None:
    cached = next_batch(resources)
    damage(database)
    assert next_batch(fresh) == cached
    forget(resources)
    assert next_batch(resources) == cached


def test_damaged_arrays_are_written_again_with_the_next_snapshot(
    busy: Lab, fresh: Resources, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged_arrays(database)
    next_batch(fresh)
    save(fresh)
    forget(fresh)
    monkeypatch.setattr("app.compute.models.advance_study", only_from_a_model(advance))
    next_batch(fresh)


def only_from_a_model(advance: Any) -> Any:
    def advancing(model: Any, *rest: Any) -> Any:
        assert model is not None
        return advance(model, *rest)

    return advancing


def test_those_who_want_the_same_model_at_the_same_time_wait_for_one(
    busy: Lab, fresh: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[str] = []

    def counted(model: Any, state: Any, load: Any) -> Any:
        computed.append(state.head)
        sleep(0.05)
        return advance(model, state, load)

    monkeypatch.setattr("app.compute.models.advance_study", counted)
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(lambda _: next_batch(fresh), range(4)))) == 1
    assert len(computed) == len(set(computed))


def test_a_fresh_process_starts_from_the_snapshot(busy: Lab, fresh: Resources, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []
    load = snapshots.load

    def noted(*args: Any) -> Any:
        loaded.append(load(*args))
        return loaded[-1]

    monkeypatch.setattr(snapshots, "load", noted)
    monkeypatch.setattr(ledger, "read", _only_once(ledger.read))
    next_batch(fresh)
    assert [model is not None for model in loaded] == [True]


def test_a_fresh_process_starts_from_the_outline_of_a_large_model(
    lab: Lab, resources: Resources, fresh: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.compute.models.SMALL_SNAPSHOT", 1)
    lab.begin().work(3, max_size=5)
    resources.snapshots.close()
    save(resources)
    expected = next_batch(resources)
    advanced: list[int] = []

    def noted(base: Any, state: Any, load: Any) -> Any:
        advanced.append(state.seq)
        return advance(base, state, load)

    monkeypatch.setattr("app.compute.models.advance_study", noted)
    assert next_batch(fresh) == expected
    assert len(advanced) == 1


def test_a_fresh_process_fits_none_of_several_models_again(
    lab: Lab, resources: Resources, fresh: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.begin(objectives=[{"name": "yield", "direction": "maximize"}, {"name": "price", "direction": "minimize"}])
    for number, key in enumerate(("DMF-20", "THF-30", "MeOH-50", "DMF-90", "THF-80", "MeOH-70")):
        lab.report(candidate=key, values={"yield": truth(key), "price": number / 7})
    lab.batch(max_size=3)
    expected = next_batch(resources)
    resources.snapshots.close()
    save(resources)

    def fitted(*_: Any, **__: Any) -> Any:
        raise AssertionError("fitted again")

    monkeypatch.setattr(model, "fit", fitted)
    assert next_batch(fresh) == expected


def _only_once(read: Any) -> Any:
    """Reading the ledger once, for its state, is all that is needed."""
    times: list[int] = []

    def reading(*args: Any, **kwargs: Any) -> Any:
        times.append(1)
        assert len(times) == 1
        return read(*args, **kwargs)

    return reading


@pytest.mark.parametrize(("least", "kept"), [(0.0, True), (60.0, False)])
def test_a_model_is_kept_once_computing_it_again_would_take_long(
    lab: Lab, resources: Resources, database: Database, monkeypatch: pytest.MonkeyPatch, least: float, kept: bool
) -> None:
    monkeypatch.setattr("app.compute.models.WORTH_SAVING", least)
    lab.begin().work(2)
    resources.snapshots.close()
    with database.read() as connection:
        assert bool(connection.execute(select(tables.snapshots.c.head)).all()) is kept


@pytest.mark.parametrize(
    ("theory", "small", "kept"),
    [(THEORY, 2**30, True), (THEORY, 1, False), (None, 1, True)],
    ids=["small", "large", "large, with an outline"],
)
def test_a_large_model_without_an_outline_is_kept_more_seldom(
    lab: Lab,
    resources: Resources,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    theory: Any,
    small: int,
    kept: bool,
) -> None:
    monkeypatch.setattr("app.compute.models.thread_time", count().__next__)  # every computation takes a second
    monkeypatch.setattr("app.compute.models.SMALL_SNAPSHOT", small)
    lab.begin(theory=theory).work(2)
    resources.snapshots.close()
    with database.read() as connection:
        assert bool(connection.execute(select(tables.snapshots.c.head)).all()) is kept


def test_to_keep_a_model_in_memory_looks_at_no_other(
    lab: Lab, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[Model] = []
    monkeypatch.setattr(Model, "nbytes", property(lambda model: looked_at.append(model) or 1))
    lab.begin().work(4)
    assert len(looked_at) == len(resources.models._models) == 4


def test_only_the_newest_snapshots_and_their_arrays_are_kept(busy: Lab, database: Database) -> None:
    with database.read() as connection:
        heads = connection.execute(select(tables.snapshots.c.head)).scalars().all()
        named = set(connection.execute(select(tables.snapshot_blobs.c.digest)).scalars())
        scoped = connection.execute(select(tables.blobs.c.digest).where(tables.blobs.c.scope != "")).scalars().all()
    assert 1 <= len(heads) <= 2
    assert set(scoped) == named


@pytest.mark.parametrize("most", [0, 10**9])
def test_the_memory_for_models_is_bounded_and_never_matters(
    busy: Lab, resources: Resources, fresh: Resources, most: int
) -> None:
    fresh.models._most_bytes = most
    assert next_batch(fresh) == next_batch(resources)
    assert len(fresh.models._models) == (1 if most == 0 else 2)
