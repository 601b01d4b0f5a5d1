"""Read models for many who poll: each state of a study is computed once, and who knows it already gets 304.

The head of the ledger names everything that is known of a study, so a request costs one look at the row of its study,
which all requests that wait at the same time share. Only a state that nobody has asked for yet touches the model.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from typing import Annotated

from fastapi import Depends, Request
from starlette.responses import Response

from app.api.dependencies import allowed
from app.api.limits import LongWork, run_short
from app.api.schemas.shape import Shape
from app.domain.access import Actor, Scope
from app.domain.clock import now
from app.domain.studies import Study
from app.fair_threads import Job
from app.services.transactions import ReadTransactions, read_for_all
from app.services.use_cases import studies

MOST_BYTES = 16 * 2**20
MOST_BYTES_OF_ONE = 2**20

PROGRAM = version("nextbatch-server")  # another version may tell more of the same state

Look = tuple[str, str]
"""The id of a key, and the name of a study."""


@dataclass(frozen=True)
class SharedAnswer:
    etag: str
    body: bytes


class SharedAnswers:
    """The newest answer of each address, up to a number of bytes, and those that are being computed."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, SharedAnswer] = OrderedDict()
        self._size = 0
        self._jobs: dict[tuple[str, str], Job[bytes]] = {}

    def find(self, address: str, etag: str) -> bytes | None:
        answer = self._answers.get(address)
        if answer is None or answer.etag != etag:
            return None
        self._answers.move_to_end(address)
        return answer.body

    async def compute(
        self, request: Request, long_work: LongWork, address: str, etag: str, make: Callable[[], bytes]
    ) -> bytes:
        """Compute an answer, or wait for the request that computes it already."""
        job = self._jobs.get((address, etag))
        if job is None or job.future.done() or not job.demand.join():
            job = long_work.start(request.scope["key_id"], make)
            self._jobs[address, etag] = job
        try:
            body = await long_work.wait(request, job)
        finally:
            if job.future.done() and self._jobs.get((address, etag)) is job:
                del self._jobs[address, etag]
        self._keep(address, SharedAnswer(etag, body))
        return body

    def _keep(self, address: str, answer: SharedAnswer) -> None:
        before = self._answers.pop(address, None)
        self._size -= len(before.body) if before else 0
        if len(answer.body) > MOST_BYTES_OF_ONE:
            return
        self._answers[address] = answer
        self._size += len(answer.body)
        while self._size > MOST_BYTES:
            self._size -= len(self._answers.popitem(last=False)[1].body)


class StudyLooks:
    """Looks at the rows of studies: one transaction, on one thread, for all requests that wait at the same time."""

    def __init__(self) -> None:
        self._waiting: dict[Look, tuple[ReadTransactions, asyncio.Future[Study]]] = {}
        self._task: asyncio.Task[None] | None = None

    async def find(self, tx: ReadTransactions, name: str) -> Study:
        """The study as it is now, or later, if the key may see it."""
        loop = asyncio.get_running_loop()
        _, found = self._waiting.setdefault((tx.actor.key.id, name), (tx, loop.create_future()))
        if self._task is None or self._task.done():
            self._task = loop.create_task(self._look())
        return await asyncio.shield(found)

    async def _look(self) -> None:
        while self._waiting:
            looked_for, self._waiting = self._waiting, {}
            outcomes: Mapping[Look, Study | Exception]
            try:
                outcomes = await run_short(partial(_find_all, {key: tx for key, (tx, _) in looked_for.items()}))
            except Exception as error:
                outcomes = dict.fromkeys(looked_for, error)
            for key, (_, found) in looked_for.items():
                outcome = outcomes[key]
                if isinstance(outcome, Study):
                    found.set_result(outcome)
                else:
                    found.set_exception(outcome)
                    found.exception()  # it was retrieved, even if everyone who waited has left


def _find_all(looked_for: Mapping[Look, ReadTransactions]) -> Mapping[Look, Study | Exception]:
    """The studies of some keys, or why they may not see them, on one snapshot."""
    return read_for_all(looked_for, lambda connection, actor, key: studies.find(connection, actor, key[1]))


def etag_of(study: Study) -> str:
    """The state of a study, and the program that tells of it; what depends on the clock changes by the minute."""
    timed = study.configuration.overdue_hours is not None or study.configuration.stop.date is not None
    state = sha256(f"{PROGRAM} {study.head} {now()[:16] if timed else ''}".encode()).hexdigest()[:32]
    return f'W/"{state}"'


@dataclass(frozen=True)
class SharedReader:
    """Answers one request from what is shared; `tx` is in the name of its key."""

    request: Request
    tx: ReadTransactions

    async def answer(self, study: str, make: Callable[[], Shape]) -> Response:
        """304 if the reader has this state of the study already, else what `make` gives, made once for everybody."""
        return await self.answer_bytes(study, lambda: make().model_dump_json().encode(), "application/json")

    async def answer_bytes(self, study: str, make: Callable[[], bytes], media_type: str) -> Response:
        """As `answer`, for what is no JSON."""
        state = self.request.app.state
        etag = etag_of(await state.study_looks.find(self.tx, study))
        headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
        if etag in self.request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        address = f"{self.request.url.path}?{self.request.url.query}"
        shared: SharedAnswers = state.shared_answers
        body = shared.find(address, etag)
        if body is None:
            body = await shared.compute(self.request, state.long_work, address, etag, make)
        return Response(body, media_type=media_type, headers=headers)


async def get_reader(
    request: Request, actor: Annotated[Actor, Depends(allowed(Scope.READ, from_memory=True))]
) -> SharedReader:
    return SharedReader(request, ReadTransactions(request.app.state.resources.database, actor))


Reader = Annotated[SharedReader, Depends(get_reader)]
