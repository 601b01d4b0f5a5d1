"""Studies as rows, one each. Whoever changes a study locks its row."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, String, bindparam, cast, delete, func, select, update

from app.domain.candidates import Column
from app.domain.clock import now
from app.domain.codec import canonical, from_plain, read_json, to_plain
from app.domain.errors import DamagedStudy
from app.domain.ledger import GENESIS
from app.domain.reservations import Reservation
from app.domain.studies import Configuration, Import, Study, StudyState
from app.storage.database import locked_studies
from app.storage.dialects import in_parts, insert_if_absent
from app.storage.prepared import Prepared
from app.storage.tables import api_keys, grants, studies

_NAMED = select(studies).where(studies.c.name == bindparam("name"))
_FIND = Prepared(_NAMED)
_LOCK = Prepared(_NAMED.with_for_update(), overtakes=True)  # of a study that this group has not written to
_GRANT = (grants.c.key_id == bindparam("key")) & (grants.c.study_id == bindparam("study"))
_IS_GRANTED = Prepared(select(grants).where(_GRANT), overtakes=True)


def create(
    connection: Connection, name: str, configuration: Configuration, created_at: str | None = None
) -> Study | None:
    """A new study, locked by this transaction; None if the name is taken."""
    _step_aside(connection, name)
    settings = canonical(to_plain(configuration))
    row = {
        "name": name,
        "state": StudyState.ACTIVE,
        "configuration": settings,
        "requested": settings,
        "columns": "[]",
        "candidates": 0,
        "imports": "[]",
        "reservations": "[]",
        "version": 1,
        "seq": 0,
        "head": GENESIS,
        "created_at": created_at or now(),
    }
    return lock(connection, name) if insert_if_absent(connection, studies, row) else None


def find(connection: Connection, name: str) -> Study | None:
    rows = _FIND.rows(connection, {"name": name})
    return _study(rows[0]) if rows else None


def names(connection: Connection) -> list[str]:
    """Every study, the deleted ones as well, in the order of creation."""
    return list(connection.execute(select(studies.c.name).order_by(studies.c.id)).scalars())


def heads(connection: Connection) -> list[tuple[str, int, str]]:
    """Name, seq and head of every study, the deleted ones as well, in the order of creation."""
    sealed_as = func.coalesce(studies.c.sealed_as, studies.c.name)
    query = select(sealed_as, studies.c.seq, studies.c.head).order_by(studies.c.id)
    return [(row[0], row[1], row[2]) for row in connection.execute(query)]


def ids_of(connection: Connection, name: str) -> list[int]:
    """Every study whose ledger has this name: the one that has it now, and deleted ones that had it."""
    named = (studies.c.name == name) | (studies.c.sealed_as == name)
    return list(connection.execute(select(studies.c.id).where(named).order_by(studies.c.id.desc())).scalars())


def deleted(connection: Connection) -> list[Study]:
    query = select(studies).where(studies.c.state == StudyState.DELETED).order_by(studies.c.id)
    return [_study(row) for row in connection.execute(query).mappings()]


def take_name_back(connection: Connection, study: Study) -> bool:
    """Give a deleted study that stepped aside its name again; False if a study that is not deleted has it."""
    _step_aside(connection, study.ledger_name)
    if find(connection, study.ledger_name) is not None:
        return False
    named = {"name": study.ledger_name, "sealed_as": None}
    connection.execute(update(studies).where(studies.c.id == study.id).values(**named))
    return True


def _step_aside(connection: Connection, name: str) -> None:
    """Free the name of a deleted study for another one. No study can be called `~17`."""
    holder = (studies.c.name == name) & (studies.c.state == StudyState.DELETED)
    aside = {"sealed_as": studies.c.name, "name": "~" + cast(studies.c.id, String)}
    connection.execute(update(studies).where(holder).values(**aside))


def newest_events(connection: Connection, names: Collection[str]) -> dict[str, int]:
    """The seq of the newest event of some studies, by name."""
    query = select(studies.c.name, studies.c.seq)
    return {
        name: seq
        for part in in_parts(sorted(names))
        for name, seq in connection.execute(query.where(studies.c.name.in_(part)))
    }


@dataclass(frozen=True)
class LedgerRow:
    """What the row of a study says about its ledger. It can be read when the rest of the row is damaged."""

    id: int
    name: str
    seq: int
    head: str
    created_at: str
    sealed_as: str | None

    @property
    def ledger_name(self) -> str:
        return self.sealed_as or self.name


def lock_ledger(connection: Connection, name: str) -> LedgerRow | None:
    """The ledger of a study, locked until this transaction ends."""
    rows = _LOCK.rows(connection, {"name": name})
    return LedgerRow(*(rows[0][field.name] for field in fields(LedgerRow))) if rows else None


def lock(connection: Connection, name: str) -> Study | None:
    """The study, locked until this transaction ends. (On SQLite BEGIN IMMEDIATE locks everything.)"""
    locked = locked_studies(connection)
    if name not in locked:
        rows = _LOCK.rows(connection, {"name": name})
        locked[name] = _study(rows[0]) if rows else None
    study: Study | None = locked[name]
    return study


def was_requested_as(connection: Connection, study: Study, configuration: Configuration) -> bool:
    """Whether the study was created by a request of exactly this configuration."""
    requested = connection.execute(select(studies.c.requested).where(studies.c.id == study.id)).scalar_one()
    return bool(requested == canonical(to_plain(configuration)))


def save(connection: Connection, study: Study) -> None:
    """Write everything but the head, which the ledger writes."""
    connection.execute(
        update(studies)
        .where(studies.c.id == study.id)
        .values(
            state=study.state,
            configuration=canonical(to_plain(study.configuration)),
            columns=canonical(to_plain(study.columns)),
            candidates=study.candidates,
            version=study.version,
            imports=canonical(to_plain(study.imports)),
            reservations=canonical(to_plain(study.reservations)),
        )
    )


def page(
    connection: Connection, granted_to: str | None, state: StudyState | None, after: int, limit: int
) -> tuple[Study, ...]:
    """Studies in the order of creation, after id `after`: those granted to one key, or all; never the deleted ones."""
    query = select(studies).where(studies.c.id > after, studies.c.state != StudyState.DELETED)
    if granted_to is not None:
        query = query.join(grants, grants.c.study_id == studies.c.id).where(grants.c.key_id == granted_to)
    if state is not None:
        query = query.where(studies.c.state == state)
    return tuple(_study(row) for row in connection.execute(query.order_by(studies.c.id).limit(limit)).mappings())


def count_by_state(connection: Connection) -> dict[str, int]:
    counted = connection.execute(select(studies.c.state, func.count()).group_by(studies.c.state))
    return {state.value: 0 for state in StudyState} | {row[0]: row[1] for row in counted}


def grant(connection: Connection, key_id: str, study: Study) -> None:
    """Let the key see the study. A key of another server, in an imported ledger, is ignored."""
    if connection.execute(select(api_keys.c.id).where(api_keys.c.id == key_id)).first():
        insert_if_absent(connection, grants, {"key_id": key_id, "study_id": study.id})


def withdraw(connection: Connection, key_id: str, study: Study) -> None:
    connection.execute(delete(grants).where(_GRANT), {"key": key_id, "study": study.id})


def withdraw_all(connection: Connection, study: Study) -> None:
    """Withdraw every grant of the study."""
    connection.execute(delete(grants).where(grants.c.study_id == study.id))


def is_granted(connection: Connection, key_id: str, study: Study) -> bool:
    return bool(_IS_GRANTED.tuples(connection, {"key": key_id, "study": study.id}))


def _study(row: Mapping[Any, Any]) -> Study:
    columns = dict(row)
    del columns["requested"]
    try:
        if not (all(type(row[name]) is int for name in ("seq", "version", "candidates")) and type(row["head"]) is str):
            raise TypeError
        columns |= {"state": StudyState(row["state"]), "configuration": _configuration(row["configuration"])}
        columns |= {"columns": _columns(row["columns"]), "imports": _imports(row["imports"])}
        return Study(**columns | {"reservations": _reservations(row["reservations"])})
    except (ValueError, TypeError, AttributeError) as error:  # somebody or something else wrote it
        raise DamagedStudy from error


@lru_cache(maxsize=64)  # every request of a study reads the same text
def _configuration(text: str) -> Configuration:
    return from_plain(Configuration, read_json(text))


@lru_cache(maxsize=64)
def _columns(text: str) -> tuple[Column, ...]:
    return tuple(from_plain(Column, plain) for plain in read_json(text))


def _reservations(text: str) -> tuple[Reservation, ...]:
    return () if text == "[]" else tuple(from_plain(Reservation, plain) for plain in read_json(text))


def _imports(text: str) -> tuple[Import, ...]:
    return () if text == "[]" else tuple(from_plain(Import, plain) for plain in read_json(text))
