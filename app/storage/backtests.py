"""Backtests as rows. They are no part of the ledger: nothing in the lab happened, and nothing depends on them."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from app.domain.backtests import Backtest, BacktestPlan, BacktestResult, BacktestState
from app.domain.clock import now
from app.domain.codec import canonical, from_plain, read_json, to_plain
from app.domain.studies import Study
from app.storage.tables import backtests

ACTIVE = (BacktestState.WAITING, BacktestState.RUNNING)


def add(connection: Connection, study: Study, plan: BacktestPlan) -> Backtest:
    """A new backtest of a locked study."""
    highest = select(func.max(backtests.c.number)).where(backtests.c.study_id == study.id)
    number = 1 + (connection.execute(highest).scalar_one() or 0)
    moment = now()
    connection.execute(
        insert(backtests).values(
            study_id=study.id,
            number=number,
            state=BacktestState.WAITING,
            plan=canonical(to_plain(plan)),
            done=0,
            seq=study.seq,
            created_at=moment,
            updated_at=moment,
        )
    )
    return Backtest(number, BacktestState.WAITING, plan, 0, study.seq, moment, moment)


def find(connection: Connection, study_id: int, number: int) -> Backtest | None:
    query = select(backtests).where(backtests.c.study_id == study_id, backtests.c.number == number)
    row = connection.execute(query).first()
    return _backtest(row) if row else None


def every(connection: Connection, study_id: int, after: int, limit: int) -> list[Backtest]:
    """The backtests of a study after a number, oldest first."""
    query = select(backtests).where(backtests.c.study_id == study_id, backtests.c.number > after)
    return [_backtest(row) for row in connection.execute(query.order_by(backtests.c.number).limit(limit))]


def count_active(connection: Connection) -> int:
    """How many wait or run, of all studies."""
    query = select(func.count()).where(backtests.c.state.in_(ACTIVE))
    return connection.execute(query).scalar_one()


def move(connection: Connection, study_id: int, number: int, state: BacktestState, **values: Any) -> bool:
    """Set the state and other values of a backtest that waits or runs; False if it has ended already."""
    query = update(backtests).where(
        backtests.c.study_id == study_id, backtests.c.number == number, backtests.c.state.in_(ACTIVE)
    )
    moved = connection.execute(query.values(state=state, updated_at=now(), **values))
    return bool(moved.rowcount)


def result_text(result: BacktestResult) -> str:
    return canonical(to_plain(result))


def _backtest(row: Row[Any]) -> Backtest:
    read: Callable[[str], Any] = read_json
    return Backtest(
        number=row.number,
        state=BacktestState(row.state),
        plan=from_plain(BacktestPlan, read(row.plan)),
        done=row.done,
        seq=row.seq,
        created_at=row.created_at,
        updated_at=row.updated_at,
        result=from_plain(BacktestResult, read(row.result)) if row.result else None,
        problem=row.problem,
    )
