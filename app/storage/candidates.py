"""Candidates as they are written: blocks whose arrays are blobs, and the candidates that are switched off."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import Connection, bindparam, delete, func, insert, select

from app.arrays import Array
from app.domain.candidates import AttributeArrays, BlockArrays, CandidateBlock, CellValue, KeyArrays
from app.domain.codec import canonical, to_plain
from app.domain.studies import Study
from app.storage import blobs
from app.storage.database import Database
from app.storage.packed_strings import index_strings, pack_strings
from app.storage.tables import batches, candidate_blocks, observations, unavailable_candidates

_OF_STUDY = candidate_blocks.c.study_id == bindparam("study")
_COUNT_BLOCKS = select(func.count()).where(_OF_STUDY)


@dataclass(frozen=True)
class BlockContents:
    """The contents of a block before they are stored: numbers (rows, …), codes (rows, …), keys and attributes."""

    numbers: Array
    codes: Array
    keys: Sequence[str] | None
    attributes: Mapping[str, Sequence[CellValue]]
    fingerprints: Mapping[str, Array] = field(default_factory=dict)

    def arrays(self) -> dict[str, Array]:
        """Every array to store, by its place in the block."""
        arrays = {"numbers": self.numbers, "codes": self.codes}
        if self.keys is not None:
            ends, content = pack_strings(self.keys)
            hashes, rows = index_strings(self.keys)
            arrays |= {"keys ends": ends, "keys content": content, "keys hashes": hashes, "keys rows": rows}
        for name, cells in self.attributes.items():
            arrays |= {f"attribute {part} {name}": array for part, array in _attribute_arrays(cells).items()}
        return arrays | {f"fingerprint {name}": array for name, array in self.fingerprints.items()}

    def named(self, digests: Mapping[str, str]) -> BlockArrays:
        """The block's arrays, given the digest of each."""
        keys = None
        if self.keys is not None:
            keys = KeyArrays(**{part: digests[f"keys {part}"] for part in ("ends", "content", "hashes", "rows")})
        attributes = {
            name: AttributeArrays(
                **{part: digests.get(f"attribute {part} {name}") for part in ("numbers", "ends", "content")}
            )
            for name in self.attributes
        }
        fingerprints = {name: digests[f"fingerprint {name}"] for name in self.fingerprints}
        return BlockArrays(digests["numbers"], digests["codes"], keys, attributes, fingerprints)


def store_arrays(database: Database, contents: BlockContents) -> BlockArrays:
    """Make every array of a block durable."""
    return contents.named({place: blobs.store(database, array) for place, array in contents.arrays().items()})


def name_arrays(contents: BlockContents) -> BlockArrays:
    """As `store_arrays`, but nothing is stored."""
    return contents.named({place: blobs.name(array) for place, array in contents.arrays().items()})


def name_attribute(cells: Sequence[CellValue]) -> AttributeArrays:
    """The digests that the arrays of one attribute have once they are stored."""
    return AttributeArrays(**{part: blobs.name(array) for part, array in _attribute_arrays(cells).items()})


def _attribute_arrays(cells: Sequence[CellValue]) -> dict[str, Array]:
    """Numbers and booleans as float64 with NaN for a missing one; anything else as text."""
    if any(isinstance(cell, str) for cell in cells):
        ends, content = pack_strings([None if cell is None else str(cell) for cell in cells])
        return {"ends": ends, "content": content}
    return {"numbers": np.array([np.nan if cell is None else float(cell) for cell in cells], dtype="<f8")}


def add_block(connection: Connection, study: Study, block: CandidateBlock) -> None:
    number = 1 + connection.execute(_COUNT_BLOCKS, {"study": study.id}).scalar_one()
    connection.execute(
        insert(candidate_blocks).values(
            study_id=study.id,
            number=number,
            first=block.first,
            rows=block.rows,
            arrays=canonical(to_plain(block.arrays)),
            stored_in=block.stored_in,
            seq=study.seq,
        )
    )


def drop_blocks(connection: Connection, study: Study) -> None:
    for table in (candidate_blocks, unavailable_candidates):
        connection.execute(delete(table).where(table.c.study_id == study.id))


def are_in_use(connection: Connection, study: Study) -> bool:
    """Whether a batch or an observation refers to the candidates."""
    return any(
        connection.execute(select(table.c.study_id).where(table.c.study_id == study.id).limit(1)).first()
        for table in (batches, observations)
    )


def switch_off(connection: Connection, study: Study, reasons: Mapping[int, str]) -> None:
    """Switch candidates off, each for its reason."""
    switch_on(connection, study, tuple(reasons))
    rows = [
        {"study_id": study.id, "candidate": candidate, "reason": reason, "seq": study.seq}
        for candidate, reason in reasons.items()
    ]
    if rows:
        connection.execute(insert(unavailable_candidates), rows)


def switch_on(connection: Connection, study: Study, candidates: Sequence[int]) -> None:
    table = unavailable_candidates
    this = (table.c.study_id == bindparam("study")) & (table.c.candidate == bindparam("number"))
    if candidates:
        connection.execute(delete(table).where(this), [{"study": study.id, "number": number} for number in candidates])
