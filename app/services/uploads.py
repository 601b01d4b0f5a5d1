"""An uploaded file as a candidate table, by its media type."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.domain.candidates import Column
from app.domain.errors import InvalidCandidates, UnsupportedMediaType
from app.domain.findings import Finding
from app.services import json_text
from app.services.intake.arrow import read_arrow, read_parquet
from app.services.intake.csv_file import read_csv
from app.services.intake.declared import Declared, declared_by
from app.services.intake.extend import extend
from app.services.intake.json_rows import read_json_rows
from app.services.intake.key_list import keys_from_lines
from app.services.intake.limits import Limits
from app.services.intake.npy import read_npy
from app.services.intake.space.table import read_space
from app.services.intake.table import CandidateTable


@dataclass(frozen=True)
class Upload:
    """A body on the disk, what it is, and what its sender said about the columns."""

    media_type: str
    path: Path
    declared: Declared
    keys: Path | None = None  # of a .npy: one key a line
    names: tuple[str, ...] | None = None  # of a .npy's columns


def read_table(upload: Upload, limits: Limits, known: Sequence[Column] = ()) -> CandidateTable:
    """The candidates; for a study that has some, in its columns and codes."""
    read = READERS.get(upload.media_type)
    if read is None:
        raise UnsupportedMediaType(f"Candidates come as one of: {', '.join(READERS)}.")
    declared = declared_by(known) if known else upload.declared
    table = read(upload, declared, limits)
    return extend(known, table) if known else table


def _csv(upload: Upload, declared: Declared, limits: Limits) -> CandidateTable:
    return read_csv(upload.path, declared, limits)


def _json(upload: Upload, declared: Declared, limits: Limits) -> CandidateTable:
    """`{"candidates": [{…}, …]}` lists them, `{"parameters": {…}, …}` describes them."""
    body = json_text.loads(upload.path.read_bytes())
    if isinstance(body, dict) and "parameters" in body:
        return read_space(body, limits)
    if isinstance(body, dict) and body.keys() == {"candidates"}:
        return read_json_rows(body["candidates"], declared, limits)
    raise InvalidCandidates([Finding("members", 'Give {"candidates": […]} or {"parameters": {…}}, nothing else.')])


def _npy(upload: Upload, declared: Declared, limits: Limits) -> CandidateTable:
    keys = keys_from_lines(upload.keys) if upload.keys else None
    return read_npy(upload.path, keys, upload.names, declared, limits)


def _parquet(upload: Upload, declared: Declared, limits: Limits) -> CandidateTable:
    return read_parquet(upload.path, declared, limits)


def _arrow(upload: Upload, declared: Declared, limits: Limits) -> CandidateTable:
    return read_arrow(upload.path, declared, limits)


READERS: Mapping[str, Callable[[Upload, Declared, Limits], CandidateTable]] = {
    "text/csv": _csv,
    "application/json": _json,
    "application/x-npy": _npy,
    "application/vnd.apache.parquet": _parquet,
    "application/vnd.apache.arrow.file": _arrow,
}
