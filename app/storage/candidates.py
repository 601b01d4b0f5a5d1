"""Candidates: blocks of rows whose arrays are blobs, and the few that are switched off."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select

from app.domain.ledger import canonical
from app.domain.studies import Study
from app.storage.tables import batches, candidate_blocks, observations, unavailable_candidates

_OF_STUDY = candidate_blocks.c.study_id == bindparam("study")
_BLOCKS = select(candidate_blocks).where(_OF_STUDY).order_by(candidate_blocks.c.number)
_UNAVAILABLE = select(unavailable_candidates).where(unavailable_candidates.c.study_id == bindparam("study"))


@dataclass(frozen=True)
class Block:
    """Rows `first` … `first + rows - 1`; `arrays` names each part's blob by its digest."""

    first: int
    rows: int
    arrays: Mapping[str, Any]


@dataclass(frozen=True)
class Unavailable:
    reason: str
    seq: int


def digests(arrays: Any) -> set[str]:
    """The blobs that a block's `arrays` name."""
    if isinstance(arrays, Mapping):
        return set().union(*(digests(part) for part in arrays.values()))
    return {arrays} if isinstance(arrays, str) else set()


def blocks(connection: Connection, study: Study) -> tuple[Block, ...]:
    rows = connection.execute(_BLOCKS, {"study": study.id})
    return tuple(Block(row.first, row.rows, json.loads(row.arrays)) for row in rows)


def add_block(connection: Connection, study: Study, block: Block) -> None:
    number = 1 + len(blocks(connection, study))
    connection.execute(
        insert(candidate_blocks).values(
            study_id=study.id,
            number=number,
            first=block.first,
            rows=block.rows,
            arrays=canonical(block.arrays),
            seq=study.seq,
        )
    )


def drop_blocks(connection: Connection, study: Study) -> None:
    for table in (candidate_blocks, unavailable_candidates):
        connection.execute(delete(table).where(table.c.study_id == study.id))


def are_in_use(connection: Connection, study: Study) -> bool:
    """Whether a batch or an observation refers to them."""
    return any(
        connection.execute(select(table.c.study_id).where(table.c.study_id == study.id).limit(1)).first()
        for table in (batches, observations)
    )


def unavailable(connection: Connection, study: Study) -> dict[int, Unavailable]:
    """The candidates that are switched off."""
    rows = connection.execute(_UNAVAILABLE, {"study": study.id})
    return {row.candidate: Unavailable(row.reason, row.seq) for row in rows}


def switch_off(connection: Connection, study: Study, candidate: int, reason: str) -> None:
    switch_on(connection, study, candidate)
    row = {"study_id": study.id, "candidate": candidate, "reason": reason, "seq": study.seq}
    connection.execute(insert(unavailable_candidates).values(**row))


def switch_on(connection: Connection, study: Study, candidate: int) -> None:
    table = unavailable_candidates
    connection.execute(delete(table).where(table.c.study_id == study.id, table.c.candidate == candidate))
