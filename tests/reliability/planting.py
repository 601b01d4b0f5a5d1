"""Bugs planted in server processes, and clocks that are wrong, by environment variables that only the harnesses set."""

import os
import threading
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from http.client import HTTPException
from time import sleep
from typing import Any
from unittest.mock import patch

from sqlalchemy import Connection, text

from app.api import bodies
from app.compute import supervision
from app.compute.ledger_states import LedgerStates
from app.compute.supervision import RemoteComputation, SupervisedWorker
from app.deadline import Demand
from app.domain import clock
from app.domain.access import Actor
from app.domain.batches import BatchSize
from app.domain.events import StudyForked
from app.domain.studies import Study
from app.fair_threads import FairThreads
from app.modelling.ledger_state import LedgerState, fold
from app.services import group_commit
from app.services.archives import blocks
from app.services.filters import FilteredTable
from app.services.group_commit import GroupCommit, WaitingWrite
from app.services.intake import json_text
from app.services.use_cases import observations
from app.services.workflows import ask
from app.storage import batches, dialects, ledger
from app.storage import database as storage
from app.storage.database import Attempt, Database, attempt, begin_group, open_database
from app.storage.writer_turns import WriterTurns
from app.webhooks import dispatcher, messages, rows, targets
from app.webhooks.dispatcher import Dispatcher

PLANTED = "PLANTED_BUG"
CLOCK_OFFSET = "CLOCK_OFFSET_SECONDS"
SILENCE = "SILENCE_SECONDS"  # after which a compute worker counts as frozen
HURRIED_WEBHOOKS = "HURRIED_WEBHOOKS"  # seconds between attempts become hundredths


def planted_in_servers(bug: str) -> AbstractContextManager[object]:
    """Every server process that starts inside the block has this bug."""
    return patch.dict(os.environ, {PLANTED: bug})


def plant(environment: Mapping[str, str]) -> None:
    """In this process, for good."""
    if CLOCK_OFFSET in environment:
        _set_clock(timedelta(seconds=float(environment[CLOCK_OFFSET])))
    if SILENCE in environment:
        supervision.SILENT_SECONDS = float(environment[SILENCE])
    if HURRIED_WEBHOOKS in environment:
        _hurry_webhooks()
    if PLANTED in environment:
        BUGS[environment[PLANTED]]()


def _set_clock(offset: timedelta) -> None:
    class Wrong(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:
            return datetime.now(tz) + offset

    clock.datetime = Wrong  # type: ignore[misc]


def _hurry_webhooks() -> None:
    """Everything that webhooks wait for takes a hundredth of the time; a claim still outlasts an attempt."""
    dispatcher.LOOK_SECONDS, dispatcher.PAUSES, dispatcher.CLAIM_SECONDS = 0.02, (0.02, 0.1), 1.5
    targets.SECONDS, targets.MOST_SECONDS = 0.3, 0.6


def _commit_after_answer() -> None:
    """A write is answered, and committed a moment later."""

    @contextmanager
    def write(database: Database) -> Iterator[Connection]:
        with storage._translated():
            connection = database.writer.connect()
            transaction = connection.begin()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise

        def commit() -> None:
            sleep(0.5)
            transaction.commit()
            connection.close()

        threading.Thread(target=commit).start()

    Database.write = write  # type: ignore[method-assign]


def _answer_before_the_commit() -> None:
    """A group of reports is answered when its writes are done, and committed a moment later."""
    commit = GroupCommit._commit

    def hasty(commits: GroupCommit, name: str, group: Sequence[WaitingWrite]) -> list[Attempt]:
        early = [Attempt() for _ in group]

        def answered(waiting: WaitingWrite, place: int) -> WaitingWrite:
            def work(connection: Connection) -> Any:
                early[place] = attempt(connection, waiting.work)
                group_commit._answer([waiting], [early[place]])
                sleep(0.2)
                if early[place].error is not None:
                    raise early[place].error  # type: ignore[misc]

            return replace(waiting, work=work)

        commit(commits, name, [answered(waiting, place) for place, waiting in enumerate(group)])
        return early

    GroupCommit._commit = hasty  # type: ignore[method-assign]
    group_commit._set_all = lambda answers: [
        (answer.set_exception(made.error) if made.error else answer.set_result(made.value))
        for answer, made in answers
        if not answer.done()
    ]


def _neighbours_are_undone() -> None:
    """A report that is refused takes with it what others of its group wrote."""

    def careless(connection: Connection, part: Callable[[Connection], Any]) -> Attempt:
        try:
            with storage._translated():
                return Attempt(part(connection))
        except Exception as error:
            connection.rollback()
            connection.begin()
            begin_group(connection, together=True)  # the rows that waited are gone
            return Attempt(error=error)

    group_commit.attempt = careless


def _tokens_not_unique() -> None:
    """The table of kept answers has lost its primary key."""
    _alter(
        ["ALTER TABLE idempotency DROP CONSTRAINT IF EXISTS pk_idempotency"],
        [
            "CREATE TABLE other AS SELECT * FROM idempotency",
            "DROP TABLE idempotency",
            "ALTER TABLE other RENAME TO idempotency",
        ],
    )


def _numbers_not_looked_at() -> None:
    """Nobody looks whether a batch's number is still free."""
    batches.last_number = lambda _connection, _study: _Any()


class _Any(int):
    """Equal to every number."""

    def __eq__(self, other: object) -> bool:
        return True

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = int.__hash__


def _stale_cache() -> None:
    """A process that knows a study reads no more reports of it."""
    read = LedgerStates.read

    def stale(states: LedgerStates, connection: Connection, study_id: int, seq: int) -> LedgerState:
        known = states._newest.get(study_id)
        if known is None or seq < known.seq:
            return read(states, connection, study_id, seq)
        entries = ledger.read(connection, study_id, known.seq, until=seq)
        unreported = (entry for entry in entries if not entry.type.startswith("observation"))
        states._newest[study_id] = fold(known, unreported)
        return states._newest[study_id]

    LedgerStates.read = stale  # type: ignore[method-assign]


def _forks_not_linked() -> None:
    """A study that was forked names an event of its fork that does not exist."""
    append = ledger.append

    def careless(connection: Connection, study: Study, actor: Actor, event: Any, *rest: Any, **more: Any) -> Study:
        written = replace(event, head="0" * 64) if isinstance(event, StudyForked) else event
        return append(connection, study, actor, written, *rest, **more)

    ledger.append = careless


def _alter(postgresql: list[str], sqlite: list[str]) -> None:
    """Change the schema of this server's database."""
    database = open_database(os.environ["NEXTBATCH_DATABASE_URL"], connections=2)
    with database.write() as connection:
        for statement in postgresql if connection.dialect.name == "postgresql" else sqlite:
            connection.execute(text(statement))
    database.dispose()


def _errors_not_translated() -> None:
    """The driver's own errors reach the routes."""
    storage._meaning = lambda error, **_when: error


def _versions_not_compared() -> None:
    """A correction overwrites whatever is there."""
    current = observations._current
    observations._current = lambda *call: current(*call[:-1], None)


def _writers_do_not_wait() -> None:
    """SQLite's transactions take no turns, begin as readers, and give up when they meet another writer."""
    prepare = dialects._prepare
    WriterTurns._is_open = lambda _self: False  # type: ignore[method-assign]

    def impatient(connection: Any, record: Any) -> None:
        prepare(connection, record)
        connection.execute("PRAGMA busy_timeout = 0")

    dialects._prepare = impatient
    dialects._begin = lambda connection, _statement: connection.exec_driver_sql("BEGIN")


def _memory_leaks() -> None:
    """Every write keeps two megabytes."""
    kept: list[bytearray] = []
    _before_each_write(lambda: kept.append(bytearray(os.urandom(2**10)) * 2**11))


def _files_stay_open() -> None:
    _before_each_write(lambda: os.open(os.devnull, os.O_RDONLY))


def _before_each_write(leak: Callable[[], object]) -> None:
    write = Database.write

    def leaking(database: Database) -> AbstractContextManager[Connection]:
        leak()
        return write(database)

    Database.write = leaking  # type: ignore[method-assign]


def _values_not_counted() -> None:
    """JSON is read however many values it has."""
    json_text.values_in = lambda _body: 0


def _bodies_of_any_size() -> None:
    """A body of JSON is held in memory, however long it is."""
    os.environ["NEXTBATCH_MAX_JSON_BYTES"] = str(1 << 40)

    async def whole(request: bodies._StrictRequest) -> bytes:
        return b"".join([piece async for piece in request.stream()])

    bodies._StrictRequest._whole_body = whole  # type: ignore[method-assign]


def _arrays_not_measured() -> None:
    """The arrays of an archive are unpacked, however large they are."""
    blocks._check_sizes = lambda *_call: None


def _nobody_notices_who_left() -> None:
    """Work goes on for clients that have left."""
    Demand.leave = lambda _demand: None  # type: ignore[method-assign]


def _first_come_first_served() -> None:
    """A key may hold every thread."""
    FairThreads._is_busy_for = lambda threads, _owner: threads._running.total() >= threads._threads  # type: ignore[method-assign]


def _lost_computations_are_refused() -> None:
    """Nobody repeats what a dead compute worker had begun."""
    supervision.ATTEMPTS = 1


def _repeats_forget_their_size() -> None:
    """What is sent to the second compute worker is not what was sent to the first."""
    send = SupervisedWorker._send

    def forgetful(worker: SupervisedWorker, computation: RemoteComputation) -> None:
        request = computation.request
        if computation.attempts and request.kind == "compute_batch":
            prefix, _, terms = request.arguments
            computation.request = replace(request, arguments=(prefix, BatchSize(1, 1), terms))
        send(worker, computation)

    SupervisedWorker._send = forgetful  # type: ignore[method-assign]


def _spent_budgets() -> None:
    """A batch is issued although results that came meanwhile have spent the study's budget."""
    ask.still_pays = lambda *_call, **_request: True


def _conditions_not_heeded() -> None:
    """Every candidate meets every condition."""
    meeting = FilteredTable.meeting
    FilteredTable.meeting = lambda *call: meeting(*call) | True  # type: ignore[method-assign]


def _repeats_on_actors_forget_their_size() -> None:
    """The same, and only on a Ray cluster."""
    honest = SupervisedWorker._send
    _repeats_forget_their_size()
    forgetful = SupervisedWorker._send

    def send(worker: SupervisedWorker, computation: RemoteComputation) -> None:
        is_on_ray = worker._program.module.endswith("gateway")
        (forgetful if is_on_ray else honest)(worker, computation)

    SupervisedWorker._send = send  # type: ignore[method-assign]


def _any_answer_is_a_delivery() -> None:
    """Whatever a target answers, it has heard the message."""
    outcome = Dispatcher._outcome
    Dispatcher._outcome = (  # type: ignore[method-assign]
        lambda sending, delivery, status, problem: outcome(sending, delivery, status and 204, problem)
    )


def _delivered_before_sent() -> None:
    """A message is settled when it is claimed: it goes out at most once."""
    claim = rows.claim

    def settled(connection: Connection, delivery: rows.Delivery, until: str) -> bool:
        claimed = claim(connection, delivery, until)
        return claimed and rows.settle(connection, delivery, until, state=rows.DELIVERED)

    rows.claim = settled


def _redirects_followed() -> None:
    """A message goes wherever the target says."""

    def follow(_allowed: targets.AllowedTargets, url: str, message: messages.Message) -> int:
        request = urllib.request.Request(url, message.body, dict(message.headers))  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=1) as answer:  # noqa: S310
                return int(answer.status)
        except (OSError, HTTPException, ValueError) as error:
            raise targets.NotDelivered(str(error)) from error

    dispatcher.post = follow  # type: ignore[attr-defined]


def _body_signed_alone() -> None:
    """A signature that leaves out the id and the time."""
    sign = messages.sign
    messages.sign = lambda content, message_id, seconds, secrets: replace(
        sign(content, message_id, seconds, secrets),
        headers=dict(sign(content, message_id, seconds, secrets).headers)
        | {"webhook-signature": sign(content, "", 0, secrets).headers["webhook-signature"]},
    )


BUGS: Mapping[str, Callable[[], None]] = {
    "commit after the answer": _commit_after_answer,
    "answers before the commit": _answer_before_the_commit,
    "neighbours are undone": _neighbours_are_undone,
    "tokens are not unique": _tokens_not_unique,
    "nobody looks whether a number is free": _numbers_not_looked_at,
    "a stale cache": _stale_cache,
    "a fork without its links": _forks_not_linked,
    "writers that do not wait": _writers_do_not_wait,
    "memory that is not given back": _memory_leaks,
    "files that stay open": _files_stay_open,
    "versions are not compared": _versions_not_compared,
    "errors that are not translated": _errors_not_translated,
    "values that nobody counts": _values_not_counted,
    "JSON of any size": _bodies_of_any_size,
    "arrays that nobody measures": _arrays_not_measured,
    "work for clients that left": _nobody_notices_who_left,
    "one key on every thread": _first_come_first_served,
    "lost computations are refused": _lost_computations_are_refused,
    "repeated computations forget their size": _repeats_forget_their_size,
    "budgets that results have spent": _spent_budgets,
    "conditions that nobody heeds": _conditions_not_heeded,
    "any answer is a delivery": _any_answer_is_a_delivery,
    "messages that count as delivered before they are sent": _delivered_before_sent,
    "redirects that are followed": _redirects_followed,
    "a signature of the body alone": _body_signed_alone,
    "what is repeated on actors forgets its size": _repeats_on_actors_forget_their_size,
}
