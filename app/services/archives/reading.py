"""What an archive says: its manifest and who signed it, then its events, whose hashes are checked."""

import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.deadline import check_deadline
from app.domain.codec import canonical, from_plain, read_json
from app.domain.event_arrays import digests_of
from app.domain.events import ArchiveSignature
from app.domain.ledger import LedgerEntry, earlier_names, first_break, first_configuration
from app.domain.limits import is_moment, is_name
from app.domain.studies import Configuration
from app.services.archives.zip_reading import LEDGER, ArchivedArrays, must, small_text
from app.services.signing import Signer, is_signed, server_id

ARCHIVE_FORMAT = 1
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
    arrays: ArchivedArrays

    @property
    def first_configuration(self) -> Configuration:
        return first_configuration(self.entries)


def signature_file(manifest: Manifest, signer: Signer) -> str:
    signature = {"public_key": signer.public_key, "signature": signer.sign(manifest.signed_bytes())}
    return json.dumps(signature, indent=1)


def read_manifest(file: zipfile.ZipFile) -> Manifest:
    """What the archive says about itself."""
    manifest = from_plain(Manifest, read_json(small_text(file, "manifest.json")))
    must(manifest.format == ARCHIVE_FORMAT, f"Its format is not {ARCHIVE_FORMAT}.")
    must(is_name(manifest.study), "Its study has a name that no study can have.")
    must(manifest.exported_at is None or is_moment(manifest.exported_at), "It was exported at no moment.")
    return manifest


def read_signature(
    file: zipfile.ZipFile, manifest: Manifest, signer: Signer, trusted: frozenset[str]
) -> ArchiveSignature:
    """Who signed the manifest; `trusted` are the public keys of other servers whose word counts here."""
    if "signature.json" not in file.namelist():
        must(manifest.server is None, "It names a server that did not sign it.")
        return "none"
    signature = json.loads(small_text(file, "signature.json"))
    public_key, signed = signature["public_key"], signature["signature"]
    must(is_signed(manifest.signed_bytes(), public_key, signed), "Its signature is not that of its contents.")
    must(manifest.server == server_id(public_key), "It names another server than the one that signed it.")
    if public_key == signer.public_key:
        return "own"
    return "trusted" if public_key in trusted else "foreign"


def read_archive(file: zipfile.ZipFile, manifest: Manifest, signature: ArchiveSignature) -> Archive:
    """All events, whose hashes must agree with the manifest, and the arrays that they name."""
    entries = _read_ledger(file, manifest)
    digests: set[str] = set().union(*(digests_of(entry.event()) for entry in _in_time(entries)))
    return Archive(manifest, signature, entries, ArchivedArrays(file, digests))


def _read_ledger(file: zipfile.ZipFile, manifest: Manifest) -> tuple[LedgerEntry, ...]:
    entries = []
    with file.open(LEDGER) as lines:
        while line := lines.readline(LONGEST_LINE + 1):
            check_deadline()
            must(len(line) <= LONGEST_LINE, "An event is longer than any that a server writes.")
            entries.append(from_plain(LedgerEntry, read_json(line.decode())))
            must(len(entries) <= manifest.events, "It has more events than it says.")
    broken = first_break(manifest.study, _in_time(entries), earlier_names(entries))
    must(entries and broken is None, "Its chain of events is broken.")
    whole = (len(entries), entries[-1].hash) == (manifest.events, manifest.head)
    must(whole, "Events are missing at its end.")
    return tuple(entries)


def _in_time(entries: Iterable[LedgerEntry]) -> Iterator[LedgerEntry]:
    for entry in entries:
        check_deadline()
        yield entry
