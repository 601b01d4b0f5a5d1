"""Forks: a study that begins as another one was, under its own name and settings.

The fork takes over the entries of the other study as they are, sealed under its name, so that every batch in them names
the prefix it was computed from and can be computed again. Then each ledger names an entry of the other by its hash.

A fork of a fork that begins before the first fork did begins as the study behind both: all it takes over was sealed
under the name of that one.
"""

from collections.abc import Callable, Iterator

from sqlalchemy import Connection

from app.domain.access import Actor, Role
from app.domain.errors import Finding, Invalid, StudyExists
from app.domain.events import (
    AccessGranted,
    ForkStarted,
    ObservationCorrected,
    ObservationsReported,
    ObservationsReportedAgain,
    StudyForked,
)
from app.domain.ledger import LedgerEntry, first_configuration, name_at
from app.domain.studies import Configuration, Study
from app.modelling.engine_settings import check_configuration
from app.services.use_cases import studies
from app.storage import ledger
from app.storage import studies as rows
from app.storage.derived import Difference


def fork(
    connection: Connection,
    actor: Actor,
    name: str,
    new_name: str,
    at: int | None,
    settings: Callable[[Configuration], Configuration],
    reason: str | None,
) -> tuple[Study, bool]:
    """The fork, and whether it is new. The same request again returns it, whatever has happened to it since.

    Without `at` the fork begins as the study is now. So a request without it is the same as an earlier one only while
    nothing but forking has happened to the study that is forked.
    """
    study = studies.lock(connection, actor, name)
    if at is not None and at > study.seq:
        raise Invalid([Finding("at", f"The ledger of {name} ends with event {study.seq}.", pointer="/at")])
    entries = list(ledger.read(connection, study.id, until=at or study.seq))
    configuration = _configuration(entries, settings)
    sealed_under = name_at(study.ledger_name, entries[-1].seq, ledger.names_before(connection, study.id))
    started = ForkStarted(sealed_under, entries[-1].hash, configuration)
    copy = rows.create(connection, new_name, first_configuration(entries), entries[0].recorded_at)
    if copy is None:
        return _existing(connection, actor, new_name, started, _same_beginnings(entries, at)), False
    for entry in entries:
        copy = ledger.add(connection, copy, entry, entry.event())
    copy = ledger.append(connection, copy, actor, started, reason)
    ledger.append(connection, study, actor, StudyForked(copy.name, entries[-1].seq, copy.head), reason)
    if actor.key.role is not Role.ADMIN:
        copy = ledger.append(connection, copy, actor, AccessGranted(actor.key.id))
    return copy, True


def _configuration(entries: list[LedgerEntry], settings: Callable[[Configuration], Configuration]) -> Configuration:
    """The settings at the end of these entries, changed; every objective must be among what was measured."""
    before, measured = Configuration(), set[str]()
    for entry in entries:
        event = entry.event()
        before = getattr(event, "configuration", before)
        if isinstance(event, ObservationsReported | ObservationsReportedAgain):
            measured.update(name for reported in event.observations for name in reported.values)
        elif isinstance(event, ObservationCorrected):
            measured.update(event.values)
    after = settings(before)
    check_configuration(after)
    findings = [
        Finding("not-measured", _not_measured(measured), pointer=f"/configuration/objectives/{number}/name")
        for number, objective in enumerate(after.objectives)
        if measured and objective.name not in measured
    ]
    if findings:
        raise Invalid(findings)
    return after


def _not_measured(measured: set[str]) -> str:
    return f"No result that the fork takes over has a value of this. They have {', '.join(sorted(measured))}."


def _same_beginnings(entries: list[LedgerEntry], at: int | None) -> set[str]:
    """The hashes of the events that a fork of these entries may have begun after."""
    last = len(entries) - 1
    heads = {entries[last].hash}
    while at is None and entries[last].type == StudyForked.type:
        last -= 1
        heads.add(entries[last].hash)
    return heads


def _existing(connection: Connection, actor: Actor, name: str, started: ForkStarted, heads: set[str]) -> Study:
    """The study that an earlier request of the same kind has made."""
    study = studies.find(connection, actor, name)
    source = study.fork_of
    if source is None:
        raise StudyExists
    [entry] = ledger.read(connection, study.id, source.seq - 1, until=source.seq)
    made = entry.event()
    wanted = (started.study, started.configuration)
    if not isinstance(made, ForkStarted) or (made.study, made.configuration) != wanted or made.head not in heads:
        raise StudyExists
    return study


def broken_links(connection: Connection, study: Study) -> Iterator[Difference]:
    """The other studies of this server whose ledgers do not have the entries that this one names."""
    for entry in ledger.of_types(connection, study.id, (ForkStarted.type, StudyForked.type)):
        event = entry.event()
        if study.origin_of(entry.seq) is not None:  # what it names is in another ledger, or on another server
            continue
        if isinstance(event, ForkStarted):
            other, seq, expected = event.study, entry.seq - 1, event.head
        elif isinstance(event, StudyForked):
            other, seq, expected = event.fork, event.at + 1, event.head
        else:
            continue
        hashes = {ledger.hash_of(connection, other_id, seq) for other_id in rows.ids_of(connection, other)}
        if hashes and expected not in hashes:
            yield Difference("events", f"seq {seq} of study {other}, which event {entry.seq} names", "altered")
