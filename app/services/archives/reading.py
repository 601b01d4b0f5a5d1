"""An archive as a file: unpacked within bounds, its hashes and its signature checked."""

import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.arrays import Array
from app.domain.codec import Unreadable, canonical, from_plain, read_json
from app.domain.event_arrays import digests_of
from app.domain.events import ArchiveSignature
from app.domain.ledger import LedgerEntry, earlier_names, first_break, first_configuration
from app.domain.limits import MOST_LEDGER_BYTES, is_moment, is_name
from app.domain.studies import Configuration
from app.services.archives.blocks import must
from app.services.signing import Signer, is_signed, server_id
from app.storage import blobs

ARCHIVE_FORMAT = 1
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MOST_MANIFEST_BYTES = 10_000
LONGEST_LINE = 32 * 2**20  # bytes of one entry: a request of the largest JSON body fits
_SIGNED = b"nextbatch archive\n"  # so that a signature of anything else is none of an archive


@dataclass(frozen=True)
class Manifest:
    """What an archive says about itself. Its signature covers exactly this, and the head covers all the rest."""

    format: int
    study: str
    events: int
    head: str
    server: str | None = None
    exported_at: str | None = None

    def signed_bytes(self) -> bytes:
        return _SIGNED + canonical(vars(self)).encode()


@dataclass(frozen=True)
class Archive:
    """The contents of an archive, whole and unaltered since its hashes were made; true or not."""

    manifest: Manifest
    signature: ArchiveSignature
    entries: tuple[LedgerEntry, ...]
    arrays: Mapping[str, Array]  # by digest

    @property
    def first_configuration(self) -> Configuration:
        return first_configuration(self.entries)


def signature_file(manifest: Manifest, signer: Signer) -> str:
    signature = {"public_key": signer.public_key, "signature": signer.sign(manifest.signed_bytes())}
    return json.dumps(signature, indent=1)


def read_archive(path: Path, most_bytes: int, signer: Signer, trusted: frozenset[str]) -> Archive:
    """Read the file; `trusted` are the public keys of other servers whose word counts here."""
    with zipfile.ZipFile(path) as file:
        _refuse_bombs(file, most_bytes)
        manifest = from_plain(Manifest, read_json(_small(file, "manifest.json")))
        must(manifest.format == ARCHIVE_FORMAT, f"Its format is not {ARCHIVE_FORMAT}.")
        must(is_name(manifest.study), "Its study has a name that no study can have.")
        must(manifest.exported_at is None or is_moment(manifest.exported_at), "It was exported at no moment.")
        entries = _read_ledger(file, manifest)
        return Archive(manifest, _signature(file, manifest, signer, trusted), entries, _read_arrays(file, entries))


def _refuse_bombs(file: zipfile.ZipFile, most_bytes: int) -> None:
    members = file.infolist()
    must(sum(member.file_size for member in members) <= most_bytes, "It unpacks to more than this server accepts.")
    ledger = sum(member.file_size for member in members if member.filename == "ledger.jsonl")
    must(ledger <= MOST_LEDGER_BYTES, f"Its events take more than {MOST_LEDGER_BYTES >> 20} MB.")
    must(all(member.compress_type in COMPRESSIONS for member in members), "Its files must be stored or deflated.")
    must(len({member.filename for member in members}) == len(members), "Two of its files have the same name.")


def _small(file: zipfile.ZipFile, name: str) -> str:
    """A small member. No more of it is unpacked than allowed, whatever its header says."""
    with file.open(name) as member:
        content = member.read(MOST_MANIFEST_BYTES + 1)
    must(len(content) <= MOST_MANIFEST_BYTES, f"{name} is too long.")
    return content.decode()


def _signature(file: zipfile.ZipFile, manifest: Manifest, signer: Signer, trusted: frozenset[str]) -> ArchiveSignature:
    if "signature.json" not in file.namelist():
        must(manifest.server is None, "It names a server that did not sign it.")
        return "none"
    signature = json.loads(_small(file, "signature.json"))
    public_key, signed = signature["public_key"], signature["signature"]
    must(is_signed(manifest.signed_bytes(), public_key, signed), "Its signature is not that of its contents.")
    must(manifest.server == server_id(public_key), "It names another server than the one that signed it.")
    if public_key == signer.public_key:
        return "own"
    return "trusted" if public_key in trusted else "foreign"


def _read_ledger(file: zipfile.ZipFile, manifest: Manifest) -> tuple[LedgerEntry, ...]:
    entries = []
    with file.open("ledger.jsonl") as lines:
        while line := lines.readline(LONGEST_LINE + 1):
            must(len(line) <= LONGEST_LINE, "An event is longer than any that a server writes.")
            entries.append(from_plain(LedgerEntry, read_json(line.decode())))
            must(len(entries) <= manifest.events, "It has more events than it says.")
    broken = first_break(manifest.study, entries, earlier_names(entries))
    must(entries and broken is None, "Its chain of events is broken.")
    whole = (len(entries), entries[-1].hash) == (manifest.events, manifest.head)
    must(whole, "Events are missing at its end.")
    return tuple(entries)


def _read_arrays(file: zipfile.ZipFile, entries: tuple[LedgerEntry, ...]) -> dict[str, Array]:
    """Every array that the events name, checked against its digest."""
    digests: set[str] = set().union(*(digests_of(entry.event()) for entry in entries))
    arrays = {digest: _array(file.read(f"arrays/{digest}.npy")) for digest in sorted(digests)}
    same = all(blobs.name(array) == digest for digest, array in arrays.items())
    must(same, "The bytes of an array do not match its name.")
    return arrays


def _array(content: bytes) -> Array:
    """An array from `.npy` bytes. Its size is that of the bytes, whatever the header says."""
    file = io.BytesIO(content)
    if np.lib.format.read_magic(file) != (1, 0):
        raise Unreadable("another version of the format")
    shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(file)
    if fortran_order or dtype.hasobject:
        raise Unreadable("not a plain array")
    return np.frombuffer(content, dtype, offset=file.tell()).reshape(shape)
