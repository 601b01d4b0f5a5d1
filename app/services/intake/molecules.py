"""Molecules in a candidate table: the SMILES of a column are checked, and each gets a fingerprint of counts.

A child process with RDKit (`molecule_child`) reads the SMILES, because a strange one may take long or break it. What
people wrote stays as it is; the model compares fingerprints. RDKit comes with the extra `chem`. Nothing but new
molecules and pictures needs it: the counts are stored with the candidates.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec

import numpy as np

from app.arrays import Array, CodeArray
from app.domain.candidates import Column, Fingerprint
from app.domain.errors import Finding, Invalid, InvalidCandidates
from app.services.intake.children import ChildTooSlow, run_child
from app.services.intake.findings import Findings, refuse
from app.services.intake.table import CandidateTable

RADIUS = 2
COUNTS = 512
MOST_COUNT = 255  # of one fragment in one molecule
CHILD_SECONDS = 120.0
SHOWN_SMILES = 80  # characters of a molecule in a message

NOT_INSTALLED = Finding(
    "chem-not-installed",
    "This server was installed without the extra `chem`, so it cannot read molecules. Install it: `pip install"
    ' "nextbatch-server[chem]"`; or declare the column as text.',
)


@dataclass(frozen=True)
class ReadMolecule:
    """What RDKit says of one SMILES; `canonical` is None if it is none."""

    canonical: str | None = None
    fragments: int = 1
    stereo: int = 0  # stereocentres and double bonds that are stated
    open_stereo: int = 0  # those that are left open
    counts: Mapping[str, int] | None = None  # position in the fingerprint → count


def must_have_rdkit() -> None:
    """Refuse what needs RDKit, and say what to install."""
    if find_spec("rdkit") is None:
        raise Invalid([NOT_INSTALLED])


def with_molecules(
    table: CandidateTable, names: Sequence[str], known: Mapping[str, Array] | None = None
) -> CandidateTable:
    """The table with fingerprints for the named columns; `known` are those of the first levels, made earlier."""
    if not names:
        return table
    must_have_rdkit()
    features = {column.name: column for column in table.columns if (column.role, column.kind) == ("feature", "text")}
    findings = Findings()
    for name in names:
        if name not in features:
            message = "This column is declared as SMILES, but it is no feature of texts. Check its name."
            findings.error("unknown-column", message, column=name)
    findings.stop_if_any()
    columns, fingerprints = dict[str, Column](), dict[str, Array]()
    for position, (name, column) in enumerate(features.items()):
        if name in names:
            reader = _ColumnReader(column, table.codes[:, position], table.first_row, findings)
            columns[name], fingerprints[name] = reader.read((known or {}).get(name))
    findings.stop_if_any()
    kept = [finding for finding in table.warnings if finding.column not in columns or finding.code not in _OF_TEXTS]
    return replace(
        table,
        columns=tuple(columns.get(column.name, column) for column in table.columns),
        fingerprints=fingerprints,
        warnings=(*kept, *findings.warnings),
    )


_OF_TEXTS = {"looks-like-identifier"}  # warnings that make no sense for molecules


class _ColumnReader:
    """Reads the molecules of one column, and records what a chemist wants to know about them."""

    def __init__(self, column: Column, codes: CodeArray, first_row: int, findings: Findings) -> None:
        self._column, self._codes = column, codes
        self._first_row, self._findings = first_row, findings

    def read(self, known: Array | None) -> tuple[Column, Array]:
        """The column with its fingerprint's settings, and the counts (levels, COUNTS) of all levels."""
        levels = self._column.levels[0 if known is None else len(known) :]
        version, molecules = _run_child(levels) if levels else ("", [])
        first = len(self._column.levels) - len(levels)
        self._check(first, molecules)
        fingerprint = self._column.fingerprint or Fingerprint(RADIUS, COUNTS, version)
        if known is not None and version not in ("", fingerprint.rdkit):
            message = f"RDKit {version} reads the new molecules, and {fingerprint.rdkit} read the earlier ones."
            self._findings.warning("other-rdkit", message, column=self._column.name)
        counts = _counts(molecules, fingerprint.counts)
        if known is None:
            return replace(self._column, fingerprint=fingerprint), counts
        self._warn_about_earlier(known, counts, molecules)
        return replace(self._column, fingerprint=fingerprint), np.vstack((known, counts))

    def _check(self, first: int, molecules: Sequence[ReadMolecule]) -> None:
        rows = [self._row(first + place) for place in range(len(molecules))]
        bad = [rows[place] for place, molecule in enumerate(molecules) if molecule.canonical is None]
        message = "This is not a molecule in SMILES. Check brackets, ring numbers and valences."
        self._findings.errors_in_rows("bad-smiles", message, np.array(bad, dtype=np.intp), self._column.name)
        self._warn(
            "salt", "several parts, as a salt has; all of them count", rows, [m.fragments > 1 for m in molecules]
        )
        if any(molecule.stereo for molecule in molecules):
            left_open = [molecule.open_stereo > 0 for molecule in molecules]
            message = "an open stereocentre, while others state theirs; they count as different molecules"
            self._warn("open-stereo", message, rows, left_open)
        self._warn_about_repeats(rows, molecules)

    def _row(self, level: int) -> int:
        return int(np.argmax(self._codes == level)) + self._first_row

    def _warn(self, code: str, what: str, rows: Sequence[int], concerned: Sequence[bool]) -> None:
        found = [row for row, is_concerned in zip(rows, concerned, strict=True) if is_concerned]
        if found:
            have = "1 molecule has" if len(found) == 1 else f"{len(found):,} molecules have"
            message = f"{have} {what}. The first is in row {found[0]}."
            self._findings.warning(code, message, row=found[0], column=self._column.name)

    def _warn_about_repeats(self, rows: Sequence[int], molecules: Sequence[ReadMolecule]) -> None:
        seen: dict[str, int] = {}
        repeats = []
        for row, molecule in zip(rows, molecules, strict=True):
            if molecule.canonical is not None:
                earlier = seen.setdefault(molecule.canonical, row)
                if earlier != row:
                    repeats.append((row, earlier))
        if repeats:
            row, earlier = repeats[0]
            have = "1 molecule is" if len(repeats) == 1 else f"{len(repeats):,} molecules are"
            message = f"{have} there in another spelling. Row {row} has the molecule of row {earlier}."
            self._findings.warning("same-molecule", message, row=row, column=self._column.name)

    def _warn_about_earlier(self, known: Array, counts: Array, molecules: Sequence[ReadMolecule]) -> None:
        """Name the new molecules that an earlier upload has, spelt otherwise.

        Their fingerprints are equal. The reverse need not hold, so RDKit reads those few of the earlier ones again.
        """
        alike = _alike(known, counts)
        if not alike:
            return
        earlier = sorted({level for levels in alike.values() for level in levels})
        spelt = [self._column.levels[level] for level in earlier]
        canonical = dict(zip(earlier, (molecule.canonical for molecule in _run_child(spelt)[1]), strict=True))
        repeats = [
            (self._row(len(known) + place), level)
            for place, levels in alike.items()
            for level in [level for level in levels if canonical[level] == molecules[place].canonical][:1]
        ]
        if repeats:
            row, level = min(repeats)
            have = "1 molecule is" if len(repeats) == 1 else f"{len(repeats):,} molecules are"
            message = f"{have} in the list already, in another spelling. That of row {row} is there as"
            message = f"{message} {self._column.levels[level][:SHOWN_SMILES]}."
            self._findings.warning("same-molecule", message, row=row, column=self._column.name)


def _alike(known: Array, counts: Array) -> dict[int, list[int]]:
    """Place of a new molecule → the earlier levels with the same fingerprint."""
    places: dict[bytes, list[int]] = {}
    for place, row in enumerate(counts):
        places.setdefault(row.tobytes(), []).append(place)
    alike: dict[int, list[int]] = {}
    for level, row in enumerate(known):
        for place in places.get(row.tobytes(), ()):
            alike.setdefault(place, []).append(level)
    return alike


def _counts(molecules: Sequence[ReadMolecule], width: int) -> Array:
    counts = np.zeros((len(molecules), width), dtype="|u1")
    for place, molecule in enumerate(molecules):
        for position, count in (molecule.counts or {}).items():
            counts[place, int(position)] = min(count, MOST_COUNT)
    return counts


def _run_child(levels: Sequence[str]) -> tuple[str, list[ReadMolecule]]:
    """The version of RDKit, and what it says of each SMILES."""
    request = {"smiles": list(levels), "radius": RADIUS, "counts": COUNTS}
    try:
        written = run_child("app.services.intake.molecule_child", json.dumps(request).encode(), CHILD_SECONDS)
        answer = json.loads(written or b"")
    except ChildTooSlow:
        raise _unread(f"Reading the molecules took more than {CHILD_SECONDS:g} seconds.") from None
    except ValueError:
        raise _unread("RDKit could not read the molecules of this list.") from None
    return answer["rdkit"], [ReadMolecule(**molecule) for molecule in answer["molecules"]]


def _unread(reason: str) -> InvalidCandidates:
    return refuse("molecules", f"{reason} Leave out unusual ones, or declare the column as text.")
