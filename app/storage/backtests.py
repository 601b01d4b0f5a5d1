"""Backtests as rows. They are no part of the ledger: nothing in the lab happened, and nothing depends on them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, Connection, Row, Table, and_, delete, func, insert, or_, select, true, update

from app.domain.backtests import Backtest, BacktestPlan, BacktestResult, BacktestState
from app.domain.clock import now
from app.domain.codec import canonical, from_plain, read_json, to_plain
from app.domain.studies import Study
from app.storage.tables import api_keys, backtests, list_backtests

ACTIVE = (BacktestState.WAITING, BacktestState.RUNNING)


@dataclass(frozen=True)
class Owner:
    """Whose backtests: those of a study, or those that a key made of lists."""

    table: Table
    column: Column[Any]
    id: int | str


def of_study(study_id: int) -> Owner:
    return Owner(backtests, backtests.c.study_id, study_id)


def of_key(key_id: str) -> Owner:
    return Owner(list_backtests, list_backtests.c.key_id, key_id)


def add(connection: Connection, study: Study, plan: BacktestPlan) -> Backtest:
    """A new backtest of a locked study."""
    return _add(connection, of_study(study.id), plan, seq=study.seq)


def add_of_list(connection: Connection, key_id: str, plan: BacktestPlan) -> Backtest:
    """A new backtest of a list; requests of the same key wait for each other, since its backtests are numbered."""
    connection.execute(select(api_keys.c.id).where(api_keys.c.id == key_id).with_for_update())
    return _add(connection, of_key(key_id), plan)


def _add(connection: Connection, owner: Owner, plan: BacktestPlan, seq: int | None = None) -> Backtest:
    highest = select(func.max(owner.table.c.number)).where(owner.column == owner.id)
    number = 1 + (connection.execute(highest).scalar_one() or 0)
    moment = now()
    connection.execute(
        insert(owner.table).values(
            **{owner.column.name: owner.id},
            number=number,
            state=BacktestState.WAITING,
            plan=canonical(to_plain(plan)),
            done=0,
            created_at=moment,
            updated_at=moment,
            **({} if seq is None else {"seq": seq}),
        )
    )
    return Backtest(number, BacktestState.WAITING, plan, 0, moment, moment, seq=seq or 0)


def find(connection: Connection, owner: Owner, number: int) -> Backtest | None:
    query = select(owner.table).where(owner.column == owner.id, owner.table.c.number == number)
    row = connection.execute(query).first()
    return _backtest(row) if row else None


def every(connection: Connection, owner: Owner, after: int, limit: int) -> list[Backtest]:
    """The backtests of an owner after a number, oldest first."""
    query = select(owner.table).where(owner.column == owner.id, owner.table.c.number > after)
    return [_backtest(row) for row in connection.execute(query.order_by(owner.table.c.number).limit(limit))]


def count_active(connection: Connection, alive_since: Mapping[BacktestState, str], owner: Owner | None = None) -> int:
    """How many wait or run, of an owner or of everybody; those that have been silent for longer do not count."""

    def counted(table: Table) -> int:
        alive = or_(*(and_(table.c.state == state, table.c.updated_at >= t) for state, t in alive_since.items()))
        whose = true() if owner is None else owner.column == owner.id
        return connection.execute(select(func.count()).select_from(table).where(alive, whose)).scalar_one()

    return sum(counted(table) for table in ((backtests, list_backtests) if owner is None else (owner.table,)))


def move(connection: Connection, owner: Owner, number: int, state: BacktestState, **values: Any) -> bool:
    """Set the state and other values of a backtest that waits or runs; False if it has ended already."""
    table = owner.table
    query = update(table).where(owner.column == owner.id, table.c.number == number, table.c.state.in_(ACTIVE))
    moved = connection.execute(query.values(state=state, updated_at=now(), **values))
    return bool(moved.rowcount)


def drop_older_than(connection: Connection, oldest: str) -> int:
    """Drop the backtests of lists that were started before `oldest`; how many there were."""
    return connection.execute(delete(list_backtests).where(list_backtests.c.created_at < oldest)).rowcount


def result_text(result: BacktestResult) -> str:
    return canonical(to_plain(result))


def _backtest(row: Row[Any]) -> Backtest:
    read: Callable[[str], Any] = read_json
    return Backtest(
        number=row.number,
        state=BacktestState(row.state),
        plan=from_plain(BacktestPlan, read(row.plan)),
        done=row.done,
        created_at=row.created_at,
        updated_at=row.updated_at,
        result=from_plain(BacktestResult, read(row.result)) if row.result else None,
        problem=row.problem,
        seq=row._mapping.get("seq", 0),  # noqa: SLF001  (SQLAlchemy's public name for it)
    )
