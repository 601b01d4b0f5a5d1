"""A whole study as one file: its ledger and its arrays, and tables for people; and back, into any server.

manifest.json       format, name, number of events, hash of the last
ledger.jsonl        every event, one a line: all there is to know
arrays/DIGEST.npy   the candidates' arrays that the events name
candidates.csv, observations.csv    the same for spreadsheets; not read back
"""

import io
import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from sqlalchemy import Connection

from app.domain.access import Actor, Role
from app.domain.answers import Answer
from app.domain.errors import Invalid, StudyExists
from app.domain.findings import Finding
from app.domain.ledger import Event, canonical, first_break
from app.domain.studies import Study, configuration_from
from app.services import studies
from app.services.candidate_page import Query, table_rows
from app.services.candidate_set import CandidateSet
from app.services.intake.csv_rows import Cell, csv_text
from app.services.resources import Resources
from app.services.transactions import Writing
from app.storage import blobs, ledger, observations
from app.storage import studies as study_rows

FORMAT = 1
MOST_EXPANSION = 20  # times the size limit of a body: what an archive may unpack to


def write_archive(connection: Connection, actor: Actor, resources: Resources, name: str, path: Path) -> None:
    """Write the study to `path` as one consistent snapshot."""
    study = studies.find(connection, actor, name)
    digests: set[str] = set()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        manifest = {"format": FORMAT, "study": study.name, "events": study.seq, "head": study.head}
        archive.writestr("manifest.json", json.dumps(manifest, indent=1))
        with archive.open("ledger.jsonl", "w", force_zip64=True) as lines:
            for event in ledger.read(connection, study):
                lines.write(f"{canonical(asdict(event))}\n".encode())
                digests |= _digests(event)
        for digest in sorted(digests):
            with archive.open(f"arrays/{digest}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, resources.arrays.load(connection, digest), allow_pickle=False)
        _write_csv(archive, "candidates.csv", _candidate_rows(connection, actor, resources, name))
        _write_csv(archive, "observations.csv", _observation_rows(connection, resources, study))


def take_in(resources: Resources, write: Writing, path: Path, render: Any) -> Answer:
    """A study from an archive: the same events, the same rows, the same next batch."""
    kept = write.kept()
    if kept is not None:
        return kept
    try:
        with zipfile.ZipFile(path) as archive:
            _refuse_bombs(archive, resources.settings.max_body_bytes * MOST_EXPANSION)
            name, events = _read_ledger(archive)
            _store_arrays(resources, archive, events)
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, UnicodeDecodeError) as error:
        raise _not_an_archive("It is no archive of a study.") from error
    return write.once(render, _restore, name, events)


def _restore(connection: Connection, actor: Actor, name: str, events: list[Event]) -> tuple[Study, bool]:
    configuration = configuration_from(json.loads(events[0].payload)["configuration"])
    study = study_rows.create(connection, name, configuration)
    if study is None:
        existing = studies.find(connection, actor, name)
        if existing.head != events[-1].hash:
            raise StudyExists("A study of this name exists, with another history.")
        return existing, False
    for event in events:
        study = ledger.take_in(connection, study, event)
    if actor.key.role is not Role.ADMIN:
        study_rows.grant(connection, actor.key.id, study)
    return study, True


def _read_ledger(archive: zipfile.ZipFile) -> tuple[str, list[Event]]:
    manifest = json.loads(archive.read("manifest.json"))
    if manifest["format"] != FORMAT:
        raise _not_an_archive(f"Its format is not {FORMAT}.")
    with archive.open("ledger.jsonl") as lines:
        events = [Event(**json.loads(line)) for line in lines]
    name = str(manifest["study"])
    if not events or events[0].type != "study-created" or first_break(name, events) is not None:
        raise _not_an_archive("Its chain of events is broken.")
    return name, events


def _store_arrays(resources: Resources, archive: zipfile.ZipFile, events: Iterable[Event]) -> None:
    for digest in sorted(set().union(*(_digests(event) for event in events))):
        content = io.BytesIO(archive.read(f"arrays/{digest}.npy"))
        array = np.lib.format.read_array(content, allow_pickle=False)
        if blobs.name(array) != digest:
            raise _not_an_archive("One of its arrays is not what it was.")
        blobs.store(resources.database, array)


def _digests(event: Event) -> set[str]:
    """The blobs that an event names."""
    if event.type not in ("candidates-uploaded", "candidates-added"):
        return set()
    return set(_leaves(json.loads(event.payload)["arrays"]))


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for part in value.values():
            yield from _leaves(part)
    elif isinstance(value, str):
        yield value


def _refuse_bombs(archive: zipfile.ZipFile, most: int) -> None:
    if sum(entry.file_size for entry in archive.infolist()) > most:
        raise _not_an_archive("It unpacks to more than this server takes.")


def _not_an_archive(message: str) -> Invalid:
    return Invalid([Finding("archive", message)])


def _write_csv(archive: zipfile.ZipFile, name: str, rows: Iterator[Iterable[Cell]]) -> None:
    header = [str(cell) for cell in next(rows)]
    with archive.open(name, "w", force_zip64=True) as file:
        for piece in csv_text(header, (list(row) for row in rows)):
            file.write(piece.encode())


def _candidate_rows(connection: Connection, actor: Actor, resources: Resources, name: str) -> Iterator[Iterable[Cell]]:
    yield from table_rows(connection, actor, resources, name, Query(), {})


def _observation_rows(connection: Connection, resources: Resources, study: Study) -> Iterator[Iterable[Cell]]:
    yield ["observation", "version", "state", "key", "value", "batch", "rank", "replicate", "recorded_at", "reason"]
    candidates = CandidateSet(connection, resources.arrays, study)
    found = observations.page(connection, study, 0, None, every_version=True)
    keys = candidates.keys([one.candidate for one in found])
    for one, key in zip(found, keys, strict=True):
        place = (one.batch, one.rank, one.replicate)
        yield [one.number, one.version, one.state, key, one.value, *place, one.recorded_at, one.reason]
