"""Ask for the next batch: read, compute with no transaction open, commit if nothing stands against it; else again."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from app.domain.access import Actor
from app.domain.answers import Answer
from app.domain.batches import Batch, Suggestion
from app.domain.errors import BatchNotFound, Conflict, Invalid, Overloaded, Refusal
from app.domain.findings import Finding
from app.domain.studies import Configuration, Study
from app.failpoints import reach
from app.services import stopping, studies
from app.services.bridge.drafting import Draft, Wanted, draft
from app.services.bridge.model import Model
from app.services.bridge.views import View
from app.services.candidate_set import Candidate, CandidateSet
from app.services.resources import Resources
from app.services.tally import Tally
from app.services.transactions import Writing
from app.storage import batches, candidates, ledger

ATTEMPTS = 200  # an attempt in vain means that somebody else got a batch, so a crowd is served, one after the other


@dataclass(frozen=True)
class AskRequest:
    """Who asks, and for how much."""

    worker: str
    min_size: int | None = None
    max_size: int | None = None


@dataclass(frozen=True)
class Asked:
    """The batch, its suggestions, and whether it is new or the worker's open one."""

    study: Study
    batch: Batch
    suggestions: tuple[Suggestion, ...]
    candidates: Mapping[int, Candidate]  # those suggested, and those they were compared with
    new: bool


Render = Callable[[Asked], Answer]


def ask(resources: Resources, write: Writing, name: str, request: AskRequest, render: Render) -> Future[Answer]:
    """The worker's open batch, or a new one, later; the computation goes on even if nobody waits for it."""
    study = write.kept_or(studies.find, name)
    if isinstance(study, Answer):
        return _already(study)
    asked_as = (write.actor.key.id, write.token, write.fingerprint) if write.token else None
    return resources.jobs.start(
        (study.id, request.worker, asked_as), lambda: _compute(resources, write, name, request, render)
    )


def _already(answer: Answer) -> Future[Answer]:
    job: Future[Answer] = Future()
    job.set_result(answer)
    return job


def _compute(resources: Resources, write: Writing, name: str, request: AskRequest, render: Render) -> Answer:
    for _ in range(ATTEMPTS):
        try:
            basis = write(_basis, resources, name, request.worker)
            if basis is None:
                return write.once(render, _again, resources, name, request.worker)
            study, tally = basis
            model = resources.models.at(study, tally)
            stopping.must_go_on(tally, View(model))
            wanted = _wanted(tally.configuration, len(tally.issued) + 1, request)
            issue = Issue(resources, study.version, request.worker, wanted, tally, draft(model, wanted))
            reach("computed")
            answer = write.once(render, _issue, name, issue)
        except _Outdated:
            continue
        if resources.models.are_worth_keeping(study):
            with suppress(Overloaded):
                resources.snapshots.start(study.id, partial(_remember, resources, study, model))
        return answer
    raise Conflict("Too many ask at the same time; try again.")


@dataclass(frozen=True)
class Issue:
    """A computed batch on its way into the ledger."""

    resources: Resources
    version: int  # of the study it was computed for
    worker: str
    wanted: Wanted
    basis: Tally
    draft: Draft

    def payload(self) -> dict[str, Any]:
        return {
            "number": self.wanted.number,
            "worker": self.worker,
            "min_size": self.wanted.min_size,
            "max_size": self.wanted.max_size,
            "basis_seq": self.basis.seq,
            "basis_hash": self.basis.head,
            "seconds": self.draft.seconds,  # the one thing a replay does not repeat
            "record": self.draft.record,
            "suggestions": list(self.draft.suggestions),
        }


class _Outdated(Exception):
    """Another batch was issued meanwhile, or the study is not what it was."""


def _again(connection: Connection, actor: Actor, resources: Resources, name: str, worker: str) -> Asked:
    study = studies.find(connection, actor, name)
    batch = batches.open_of(connection, study, worker)
    if batch is None:
        raise _Outdated
    return asked(connection, resources, study, batch, batches.suggestions_of(connection, study, [batch.number]))


def asked(
    connection: Connection,
    resources: Resources,
    study: Study,
    batch: Batch,
    suggestions: Sequence[Suggestion],
    *,
    new: bool = False,
) -> Asked:
    """A batch with everything that is shown of it."""
    compared = {near["candidate"] for one in suggestions for near in one.record["nearest"]}
    numbers = sorted(compared | {one.candidate for one in suggestions})
    known = CandidateSet(connection, resources.arrays, study).read(numbers)
    return Asked(study, batch, tuple(suggestions), {one.number: one for one in known}, new)


def _basis(
    connection: Connection, actor: Actor, resources: Resources, name: str, worker: str
) -> tuple[Study, Tally] | None:
    """The prefix of the ledger that the batch will be computed from; None if the worker has one open."""
    study = studies.find(connection, actor, name)
    if batches.open_of(connection, study, worker) is not None:
        return None
    study.must_be_active()
    tally = resources.models.tally(connection, study)
    stopping.must_go_on(tally)
    return study, tally


def _wanted(configuration: Configuration, number: int, request: AskRequest) -> Wanted:
    """The sizes asked for, within the study's own limits."""
    most = min(request.max_size or configuration.max_batch, configuration.max_batch)
    least = max(request.min_size or 1, min(configuration.min_batch, most))
    if least > most:
        raise Invalid([Finding("sizes", f"min_size is above what the study allows: {most}.", pointer="/min_size")])
    return Wanted(number, least, most)


def _issue(connection: Connection, actor: Actor, name: str, issue: Issue) -> Asked:
    """Commit the batch, if its number is still free and the study still what it was computed for."""
    study = studies.lock(connection, actor, name)
    study.must_be_active()
    number = issue.wanted.number
    if study.version != issue.version or batches.last_number(connection, study) != number - 1:
        raise _Outdated
    switched_off = candidates.unavailable(connection, study)
    if any(line["candidate"] in switched_off for line in issue.draft.suggestions):
        raise _Outdated
    study = ledger.append(connection, study, actor, "batch-issued", issue.payload())
    batch = batches.find(connection, study, number)
    suggestions = batches.suggestions_of(connection, study, [number])
    if batch is None:
        raise BatchNotFound
    return asked(connection, issue.resources, study, batch, suggestions, new=True)


def _remember(resources: Resources, study: Study, model: Model) -> None:
    """Keep the model for the next process, after the answer. Nothing that goes wrong here matters to anyone."""
    try:
        resources.models.save(study, model)
    except (Refusal, SQLAlchemyError) as error:
        structlog.get_logger().warning("snapshot not kept", study=study.name, error=repr(error))
