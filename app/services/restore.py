"""Take in a study from its archive: the same events, the same rows, the same next batch.

Whoever made the file may have made anything: it is checked as a whole before any of it is stored.
"""

import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection
from sqlalchemy.exc import DataError, IntegrityError

from app.domain.access import Actor, Role
from app.domain.answers import Answer
from app.domain.errors import Invalid, Overloaded, StudyExists
from app.domain.findings import Finding
from app.domain.ledger import Event, first_break
from app.domain.studies import Study, configuration_from
from app.services import studies
from app.services.archive import FORMAT, digests_of
from app.services.bridge.checks import check_configuration
from app.services.resources import Resources
from app.services.tally import Tally, after
from app.services.transactions import Writing
from app.storage import blobs, ledger
from app.storage import studies as study_rows
from app.storage.candidates import Block

MOST_EXPANSION = 20  # times the size limit of a body: what an archive may unpack to
ATTEMPTS = 5
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
LONGEST = {"type": 50, "actor": 50, "recorded_at": 32, "request_id": 100, "payload": 2**30}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

# What reading something else than an archive comes to.
_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError),  # the last by a place before the beginning
    *(KeyError, IndexError, ValueError, TypeError, AttributeError, OverflowError),
    *(DataError, IntegrityError),
)

Render = Callable[[tuple[Study, bool]], Answer]
Array = NDArray[Any]


def take_in(resources: Resources, write: Writing, path: Path, render: Render) -> Answer:
    """A study from an archive; the same archive again finds it."""
    kept = write.kept()
    if kept is not None:
        return kept
    try:
        with zipfile.ZipFile(path) as archive:
            _refuse_bombs(archive, resources.settings.max_body_bytes * MOST_EXPANSION)
            name, events = _read_ledger(archive)
            arrays = _read_arrays(archive, events)
        _check_story(events, arrays)
        return _stored(resources, write, render, name, events, arrays)
    except _BROKEN as error:
        raise _not_an_archive("It is no archive of a study.") from error


def _stored(
    resources: Resources, write: Writing, render: Render, name: str, events: list[Event], arrays: Mapping[str, Array]
) -> Answer:
    for _ in range(ATTEMPTS):
        for array in arrays.values():
            blobs.store(resources.database, array)
        try:
            return write.once(render, _restore, name, events, frozenset(arrays))
        except blobs.DamagedBlob:  # they were swept before they were named
            continue
    raise Overloaded


def _restore(
    connection: Connection, actor: Actor, name: str, events: list[Event], digests: frozenset[str]
) -> tuple[Study, bool]:
    blobs.must_be_listed(connection, digests)
    study = study_rows.create(connection, name, _first_configuration(events), events[0].recorded_at)
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


def _first_configuration(events: list[Event]) -> Any:
    return configuration_from(json.loads(events[0].payload)["configuration"])


def _refuse_bombs(archive: zipfile.ZipFile, most: int) -> None:
    entries = archive.infolist()
    if sum(entry.file_size for entry in entries) > most:
        raise _not_an_archive("It unpacks to more than this server takes.")
    if any(entry.compress_type not in COMPRESSIONS for entry in entries):
        raise _not_an_archive("Its files must be stored or deflated.")


def _read_ledger(archive: zipfile.ZipFile) -> tuple[str, list[Event]]:
    manifest = json.loads(archive.read("manifest.json"))
    if manifest["format"] != FORMAT:
        raise _not_an_archive(f"Its format is not {FORMAT}.")
    with archive.open("ledger.jsonl") as lines:
        events = [Event(**json.loads(line)) for line in lines]
    name = manifest["study"]
    if not _NAME.fullmatch(name) or not all(_is_plain(event) for event in events):
        raise _not_an_archive("It has names or texts that no study can have.")
    if not events or events[0].type != "study-created" or first_break(name, events) is not None:
        raise _not_an_archive("Its chain of events is broken.")
    return name, events


def _is_plain(event: Event) -> bool:
    """Whether the tables can hold it."""
    texts = {"reason": event.reason or "", **{field: getattr(event, field) for field in LONGEST}}
    return all(len(text) <= LONGEST.get(field, 10_000) and "\0" not in text for field, text in texts.items())


def _read_arrays(archive: zipfile.ZipFile, events: Iterable[Event]) -> dict[str, Array]:
    """Every array that the events name, checked against its name."""
    digests: set[str] = set().union(*(digests_of(event) for event in events))
    arrays = {digest: _array(archive.read(f"arrays/{digest}.npy")) for digest in sorted(digests)}
    if any(blobs.name(array) != digest for digest, array in arrays.items()):
        raise _not_an_archive("One of its arrays is not what it was.")
    return arrays


def _array(content: bytes) -> Array:
    """An array from `.npy` bytes; its size is what is there, not what its header says."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise ValueError("another version of the format")
    shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(file)
    if fortran_order or dtype.hasobject:
        raise ValueError("not a plain array")
    return np.frombuffer(content, dtype, offset=file.tell()).reshape(shape)


def _check_story(events: list[Event], arrays: dict[str, Array]) -> None:
    """What the events tell can have happened: the candidates are there, the values are finite."""
    check_configuration(_first_configuration(events))
    tally = after(Tally(), events)
    first = 0
    for block in tally.blocks:
        _check_block(tally, block, arrays, first)
        first += block.rows
    chosen = np.array([one.candidate for one in tally.pending.values()], dtype=np.int64)
    named = np.concatenate([tally.candidates, chosen, list(tally.unavailable)])
    if not (np.isfinite(tally.values).all() and (named >= 0).all() and (named < first).all()):
        raise _not_an_archive("It speaks of candidates or values that cannot be.")


def _check_block(tally: Tally, block: Block, arrays: dict[str, Array], first: int) -> None:
    features = [column for column in tally.columns if column.role == "feature"]
    texts = sum(column.kind == "text" for column in features)
    numbers, codes = arrays[block.arrays["numbers"]], arrays[block.arrays["codes"]]
    wanted = ((block.rows, len(features) - texts), (block.rows, texts))
    keys = block.arrays["keys"]
    lengths = {len(arrays[keys[part]]) for part in ("ends", "hashes", "rows")} if keys else {block.rows}
    right = (numbers.shape, codes.shape) == wanted and (numbers.dtype.str, codes.dtype.str) == ("<f8", "<i4")
    if not right or lengths != {block.rows} or block.first != first:
        raise _not_an_archive("Its candidates are not as many as it says.")


def _not_an_archive(message: str) -> Invalid:
    return Invalid([Finding("archive", message)])
