"""A whole study as one file: its ledger and its arrays, and tables for people. `restore` takes it in again.

manifest.json       format, name, number of events, hash of the last
ledger.jsonl        every event, one a line: all there is to know
arrays/DIGEST.npy   the candidates' arrays that the events name
candidates.csv, observations.csv    the same for spreadsheets; not read back
"""

import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np
from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.ledger import Event, canonical
from app.domain.studies import Study
from app.services import studies
from app.services.candidate_page import Query, table_rows
from app.services.candidate_set import CandidateSet
from app.services.intake.csv_rows import Cell, csv_text
from app.services.resources import Resources
from app.storage import candidates, ledger, observations

FORMAT = 1


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
                digests |= digests_of(event)
        for digest in sorted(digests):
            with archive.open(f"arrays/{digest}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, resources.arrays.load(connection, digest), allow_pickle=False)
        _write_csv(archive, "candidates.csv", _candidate_rows(connection, actor, resources, name))
        _write_csv(archive, "observations.csv", _observation_rows(connection, resources, study))


def digests_of(event: Event) -> set[str]:
    """The blobs that an event names."""
    if event.type not in ("candidates-uploaded", "candidates-added"):
        return set()
    return candidates.digests(json.loads(event.payload)["arrays"])


def _write_csv(archive: zipfile.ZipFile, name: str, rows: Iterator[Iterable[Cell]]) -> None:
    header = [str(cell) for cell in next(rows)]
    with archive.open(name, "w", force_zip64=True) as file:
        for piece in csv_text(header, (list(row) for row in rows)):
            file.write(piece.encode())


def _candidate_rows(connection: Connection, actor: Actor, resources: Resources, name: str) -> Iterator[Iterable[Cell]]:
    yield from table_rows(connection, actor, resources, name, Query(), {})


def _observation_rows(connection: Connection, resources: Resources, study: Study) -> Iterator[Iterable[Cell]]:
    yield ["observation", "version", "state", "key", "value", "batch", "rank", "replicate", "recorded_at", "reason"]
    here = CandidateSet(connection, resources.arrays, study)
    found = observations.page(connection, study, 0, None, every_version=True)
    keys = here.keys([one.candidate for one in found])
    for one, key in zip(found, keys, strict=True):
        place = (one.batch, one.rank, one.replicate)
        yield [one.number, one.version, one.state, key, one.value, *place, one.recorded_at, one.reason]
