"""A whole study as one file: its ledger, its arrays, and tables for people. `import_archive` reads it back.

manifest.json       format, name, number of events, hash of the last entry, server, moment
signature.json      the server's public key, and its signature of the manifest
ledger.jsonl        every entry, one per line: all there is to know
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
from app.domain.candidates import CellValue
from app.domain.clock import now
from app.domain.codec import canonical
from app.domain.event_arrays import digests_of
from app.domain.studies import Study
from app.services.archives.reading import ARCHIVE_FORMAT, Manifest, signature_file
from app.services.intake.csv_writing import csv_text
from app.services.resources import Resources
from app.services.use_cases import studies
from app.services.use_cases.candidates import CandidateQuery, table_rows
from app.services.use_cases.observations import with_keys
from app.storage import ledger, observations


def write_archive(connection: Connection, actor: Actor, resources: Resources, name: str, path: Path) -> None:
    """Write the study to `path` as one consistent snapshot."""
    study = studies.find(connection, actor, name)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        manifest = Manifest(ARCHIVE_FORMAT, study.name, study.seq, study.head, resources.signer.server, now())
        archive.writestr("manifest.json", json.dumps(vars(manifest), indent=1))
        archive.writestr("signature.json", signature_file(manifest, resources.signer))
        for digest in sorted(_write_ledger(connection, study, archive)):
            with archive.open(f"arrays/{digest}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, resources.arrays.load(connection, digest), allow_pickle=False)
        candidates = table_rows(connection, actor, resources, name, CandidateQuery(), None)
        _write_csv(archive, "candidates.csv", candidates)
        _write_csv(archive, "observations.csv", _observation_rows(connection, resources, study))


def _write_ledger(connection: Connection, study: Study, archive: zipfile.ZipFile) -> set[str]:
    """Write every entry; the digests of the arrays that the events name."""
    digests: set[str] = set()
    with archive.open("ledger.jsonl", "w", force_zip64=True) as lines:
        for entry in ledger.read(connection, study.id):
            lines.write(f"{canonical(asdict(entry))}\n".encode())
            digests |= digests_of(entry.event())
    return digests


def _write_csv(archive: zipfile.ZipFile, name: str, rows: Iterator[Iterable[CellValue]]) -> None:
    header = [str(cell) for cell in next(rows)]
    with archive.open(name, "w", force_zip64=True) as file:
        for piece in csv_text(header, (list(row) for row in rows)):
            file.write(piece.encode())


def _observation_rows(connection: Connection, resources: Resources, study: Study) -> Iterator[Iterable[CellValue]]:
    yield ["observation", "version", "state", "key", "value", "suggestion", "replicate", "recorded_at", "reason"]
    versions = observations.page(connection, study, 0, None, every_version=True)
    for keyed in with_keys(connection, resources, study, versions):
        observation = keyed.observation
        suggestion = str(observation.suggestion) if observation.suggestion else None
        row: list[CellValue] = [observation.number, observation.version, observation.state, keyed.key, keyed.value]
        yield [*row, suggestion, observation.replicate, observation.recorded_at, observation.reason]
