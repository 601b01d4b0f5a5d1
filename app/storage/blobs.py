"""Arrays in the database: raw little-endian bytes in rows of a megabyte, named by their SHA-256.

A blob never changes, so writing one again is harmless and any cache keyed by its digest is right forever.
Chunks are committed a few at a time, the last with the blob's own row: a blob that is listed is complete. What a crash
leaves behind is chunks without a blob; the next attempt completes them, or `sweeping` drops them.

A sweep may come at any moment, from any process. So whoever lists a blob looks whether its chunks are there, and
whoever names some looks whether they are listed, in one transaction that no sweep runs beside.
"""

import json
from collections.abc import Collection
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, delete, func, select

from app.domain.clock import now
from app.failpoints import reach
from app.storage.database import Database
from app.storage.inserting import insert_if_absent, insert_missing
from app.storage.tables import blob_chunks, blobs

CHUNK = 1 << 20
CHUNKS_PER_COMMIT = 16
_LOCK = 7_026_112_017  # any number, the same in every process

Array = NDArray[Any]


class DamagedBlob(Exception):
    """A blob is not there, or its bytes are not those it was named after."""


def store(database: Database, array: Array, scope: str = "") -> str:
    """Make `array` durable and return its digest. No second copy of the whole is made in memory.

    Blobs of different scopes never share a name, so those of a scope can be dropped without looking elsewhere.
    """
    content = _bytes(array)
    digest = name(array, scope)
    with database.read() as connection:
        if connection.execute(select(blobs.c.digest).where(blobs.c.digest == digest)).first():
            return digest
    *starts, last = range(0, max(1, len(content)), CHUNK * CHUNKS_PER_COMMIT)
    while True:
        for start in starts:
            with database.write() as connection:
                insert_missing(connection, blob_chunks, _chunks(digest, content, start))
            reach("chunks-stored")
        with database.write() as connection:
            _lock_shared(connection)
            insert_missing(connection, blob_chunks, _chunks(digest, content, last))
            reach("chunks-stored")
            if _is_whole(connection, digest, content):
                insert_if_absent(connection, blobs, _header(digest, array, scope))
                return digest


def must_be_listed(connection: Connection, digests: Collection[str]) -> None:
    """Before they are named: a blob that nothing named yet may have been swept since it was stored."""
    _lock_shared(connection)
    for digest in digests:
        _find(connection, digest)


def lock_alone(connection: Connection) -> None:
    """Until the transaction ends, nobody lists or names a blob. (SQLite has one writer anyway.)"""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_LOCK})")


def _lock_shared(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock_shared({_LOCK})")


def _is_whole(connection: Connection, digest: str, content: memoryview) -> bool:
    query = select(func.count()).select_from(blob_chunks).where(blob_chunks.c.digest == digest)
    return bool(connection.execute(query).scalar_one() == -(-len(content) // CHUNK))


def drop(connection: Connection, digests: Collection[str]) -> None:
    """Forget blobs that nothing names any more."""
    for digest in digests:
        connection.execute(delete(blobs).where(blobs.c.digest == digest))
        connection.execute(delete(blob_chunks).where(blob_chunks.c.digest == digest))


def name(array: Array, scope: str = "") -> str:
    """SHA-256 over scope, dtype, shape and bytes."""
    dtype, shape = _spelling(array)
    digest = sha256(f"{scope}\n{dtype} {shape}\n".encode())
    digest.update(_bytes(array))
    return digest.hexdigest()


def load(connection: Connection, digest: str) -> Array:
    """The whole array, checked against its name."""
    header = _find(connection, digest)
    array = _empty(header.dtype, json.loads(header.shape))
    _fill(connection, digest, array)
    if name(array, header.scope) != digest:
        raise DamagedBlob(digest)
    return array


def _fill(connection: Connection, digest: str, array: Array) -> None:
    target = _bytes(array)
    query = select(blob_chunks.c.content).where(blob_chunks.c.digest == digest).order_by(blob_chunks.c.number)
    filled = 0
    for (content,) in connection.execute(query.execution_options(yield_per=8)):
        if filled + len(content) > len(target):
            raise DamagedBlob(digest)
        target[filled : filled + len(content)] = content
        filled += len(content)
    if filled != len(target):
        raise DamagedBlob(digest)


def _find(connection: Connection, digest: str) -> Any:
    header = connection.execute(select(blobs).where(blobs.c.digest == digest)).first()
    if header is None:
        raise DamagedBlob(digest)
    return header


def _bytes(array: Array) -> memoryview:
    return np.ascontiguousarray(array).data.cast("B") if array.size else memoryview(b"")


def _empty(dtype: str, shape: list[int]) -> Array:
    return np.empty(shape, dtype=np.dtype(dtype))


def _spelling(array: Array) -> tuple[str, str]:
    little = array.dtype.newbyteorder("<")
    if little != array.dtype or array.dtype.hasobject:
        raise ValueError(f"only little-endian plain arrays are kept, not {array.dtype}")
    return little.str, json.dumps(array.shape)


def _header(digest: str, array: Array, scope: str) -> dict[str, Any]:
    dtype, shape = _spelling(array)
    size = array.nbytes
    return {"digest": digest, "scope": scope, "dtype": dtype, "shape": shape, "size": size, "created_at": now()}


def _chunks(digest: str, content: memoryview, start: int) -> list[dict[str, Any]]:
    """As many as are committed at a time."""
    stop = start + CHUNK * CHUNKS_PER_COMMIT
    return [
        {"digest": digest, "number": offset // CHUNK, "content": bytes(content[offset : offset + CHUNK])}
        for offset in range(start, min(stop, len(content)), CHUNK)
    ]
