"""Reads an uploaded file into a candidate table, with the reader for its media type."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.domain.candidates import Column
from app.domain.errors import UnsupportedMediaType
from app.services.intake import json_text
from app.services.intake.arrow_reading import read_arrow, read_parquet
from app.services.intake.columns import Declared
from app.services.intake.csv_reading import read_csv
from app.services.intake.descriptors import join_descriptors
from app.services.intake.findings import refuse
from app.services.intake.json_reading import read_json_rows
from app.services.intake.keys import keys_from_lines
from app.services.intake.limits import IntakeLimits
from app.services.intake.npy_reading import read_npy
from app.services.intake.space.reading import read_space
from app.services.intake.table import CandidateTable, fit_to_columns
from app.services.intake.xlsx import XLSX, xlsx_as_csv, xlsx_memory
from app.services.memory import PER_COMPRESSED_BYTE, PER_MAPPED_BYTE, PER_TABLE_BYTE

SPACE_MEMORY = 384 * 2**20  # whatever a space describes: how many points it has is known only once they are made
_PARQUET = "application/vnd.apache.parquet"


@dataclass(frozen=True)
class Upload:
    """A body stored in a file, its media type, and what the sender declares about the columns."""

    media_type: str
    path: Path
    declared: Declared
    keys: Path | None = None
    """For a .npy file: a text file with one key per line."""
    names: tuple[str, ...] | None = None
    """For a .npy file: the names of its columns."""
    smiles: tuple[str, ...] = ()
    """The columns that hold molecules."""

    @property
    def memory(self) -> int:
        """The bytes of memory that reading it takes, about; the description of a space is small, its points are not."""
        files = [path for path in (self.path, self.keys) if path is not None]
        size = sum(path.stat().st_size for path in files)
        if self.media_type == "application/json":
            return max(PER_TABLE_BYTE * size, SPACE_MEMORY if b'"parameters"' in self.path.read_bytes() else 0)
        if self.media_type == "application/x-npy":
            return PER_MAPPED_BYTE * self.path.stat().st_size + PER_TABLE_BYTE * (size - self.path.stat().st_size)
        if self.media_type == XLSX:
            return xlsx_memory(self.path)
        return size * (PER_COMPRESSED_BYTE if self.media_type == _PARQUET else PER_TABLE_BYTE)


def read_table(upload: Upload, limits: IntakeLimits, known: Sequence[Column] = ()) -> CandidateTable:
    """The candidates in an upload; if the study has columns already, fitted to these `known` columns."""
    read = READERS.get(upload.media_type)
    if read is None:
        raise UnsupportedMediaType(f"Candidates cannot be sent as this Content-Type. Use one of: {', '.join(READERS)}.")
    declared = Declared.from_columns(known) if known else upload.declared
    table = read(upload, declared, limits)
    return fit_to_columns(known, table) if known else table


def _csv(upload: Upload, declared: Declared, limits: IntakeLimits) -> CandidateTable:
    return read_csv(upload.path, declared, limits)


def _xlsx(upload: Upload, declared: Declared, limits: IntakeLimits) -> CandidateTable:
    return read_csv(xlsx_as_csv(upload.path), declared, limits)


def _json(upload: Upload, declared: Declared, limits: IntakeLimits) -> CandidateTable:
    """`{"candidates": [{…}, …]}` lists the candidates, with `descriptors` of their levels or without; `{"parameters":
    {…}, …}` describes them.
    """
    body = json_text.loads(upload.path.read_bytes())
    if isinstance(body, dict) and "parameters" in body:
        if declared.expenses:
            message = "A described space has no cost or duration. Send its candidates as a list that has them."
            raise refuse("expense-of-a-space", message)
        return read_space(body, limits)
    if isinstance(body, dict) and body.keys() == {"candidates"}:
        return read_json_rows(body["candidates"], declared, limits)
    if isinstance(body, dict) and body.keys() == {"candidates", "descriptors"}:
        return read_json_rows(join_descriptors(body["candidates"], body["descriptors"]), declared, limits)
    raise refuse(
        "members", 'Send {"candidates": […]}, with "descriptors" or without, or {"parameters": {…}} with its options.'
    )


def _npy(upload: Upload, declared: Declared, limits: IntakeLimits) -> CandidateTable:
    keys = keys_from_lines(upload.keys) if upload.keys else None
    return read_npy(upload.path, keys, upload.names, declared, limits)


def _parquet(upload: Upload, declared: Declared, limits: IntakeLimits) -> CandidateTable:
    return read_parquet(upload.path, declared, limits)


def _arrow(upload: Upload, declared: Declared, limits: IntakeLimits) -> CandidateTable:
    return read_arrow(upload.path, declared, limits)


READERS: Mapping[str, Callable[[Upload, Declared, IntakeLimits], CandidateTable]] = {
    "text/csv": _csv,
    XLSX: _xlsx,
    "application/json": _json,
    "application/x-npy": _npy,
    _PARQUET: _parquet,
    "application/vnd.apache.arrow.file": _arrow,
}
