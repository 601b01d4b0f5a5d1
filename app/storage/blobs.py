"""Arrays in the database: raw little-endian bytes in rows of a megabyte, named by their SHA-256.

A blob never changes. Writing one again is harmless, and a cache keyed by its digest never goes stale.
Chunks are committed a few at a time, the last ones together with the blob's own row, so a blob that is listed is
complete. A crash leaves chunks whose blob is not listed; the next attempt completes them, or `sweeping` drops them.

A sweep may run at any moment, in any process. So `store` lists a blob only if all its chunks exist, and
`must_be_listed` checks blobs before an event names them, each in a transaction that no sweep runs beside.
"""

import json
from collections.abc import Collection, Sequence
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import numpy as np
from sqlalchemy import Connection, delete, func, select

from app.arrays import Array
from app.domain.clock import now
from app.failpoints import reach
from app.storage.database import Database
from app.storage.dialects import Lock, hold, insert_if_absent, insert_missing
from app.storage.tables import blob_chunks, blobs

CHUNK = 1 << 20
MOST_IN_QUERY = 500  # digests
CHUNKS_PER_COMMIT = 4  # reports wait for a commit on SQLite, also for that of an upload


class DamagedBlob(Exception):
    """A blob does not exist, or its bytes do not match its digest."""


def store(database: Database, array: Array, scope: str = "") -> str:
    """Make `array` durable and return its digest, without a second copy of it in memory.

    Blobs of different scopes never share a digest, so those of one scope can be dropped without checking the others.
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
            hold(connection, Lock.BLOBS, shared=True)
            insert_missing(connection, blob_chunks, _chunks(digest, content, last))
            reach("chunks-stored")
            if _is_whole(connection, digest, content):
                insert_if_absent(connection, blobs, _header(digest, array, scope))
                return digest


def must_be_listed(connection: Connection, digests: Collection[str]) -> None:
    """Raise `DamagedBlob` if one of them was swept since it was stored. Call this before an event names them."""
    hold(connection, Lock.BLOBS, shared=True)
    for digest in digests:
        _find(connection, digest)


def _is_whole(connection: Connection, digest: str, content: memoryview) -> bool:
    query = select(func.count()).select_from(blob_chunks).where(blob_chunks.c.digest == digest)
    return bool(connection.execute(query).scalar_one() == -(-len(content) // CHUNK))


def drop(connection: Connection, digests: Collection[str]) -> None:
    """Delete blobs that nothing names any more."""
    for digest in digests:
        connection.execute(delete(blobs).where(blobs.c.digest == digest))
        connection.execute(delete(blob_chunks).where(blob_chunks.c.digest == digest))


def name(array: Array, scope: str = "") -> str:
    """SHA-256 over scope, dtype, shape and bytes."""
    dtype, shape = _dtype_and_shape(array)
    digest = sha256(f"{scope}\n{dtype} {shape}\n".encode())
    digest.update(_bytes(array))
    return digest.hexdigest()


def load(connection: Connection, digest: str) -> Array:
    """The whole array; raises `DamagedBlob` unless its bytes match its digest."""
    header = _find(connection, digest)
    array = _empty(header.dtype, json.loads(header.shape))
    _fill(connection, digest, array)
    if name(array, header.scope) != digest:
        raise DamagedBlob(digest)
    return array


def is_sound(connection: Connection, digest: str) -> bool:
    """Whether the bytes of a blob match its digest; they are read a few chunks at a time."""
    header = connection.execute(select(blobs).where(blobs.c.digest == digest)).first()
    if header is None:
        return False
    computed = sha256(f"{header.scope}\n{header.dtype} {header.shape}\n".encode())
    query = select(blob_chunks.c.content).where(blob_chunks.c.digest == digest).order_by(blob_chunks.c.number)
    with connection.execute(query.execution_options(yield_per=8)) as chunks:
        for (content,) in chunks:
            if not isinstance(content, bytes):  # SQLite keeps whatever it is given
                return False
            computed.update(content)
    return computed.hexdigest() == digest


def all_digests(connection: Connection) -> set[str]:
    """The digests of all arrays."""
    return set(connection.execute(select(blobs.c.digest)).scalars())


def size_of(connection: Connection, digest: str) -> int:
    """The bytes of an array."""
    return int(_find(connection, digest).size)


def total_size(connection: Connection, digests: Sequence[str]) -> int:
    """The bytes of some arrays together."""
    parts = (digests[start : start + MOST_IN_QUERY] for start in range(0, len(digests), MOST_IN_QUERY))
    query = select(func.coalesce(func.sum(blobs.c.size), 0))
    return sum(int(connection.execute(query.where(blobs.c.digest.in_(part))).scalar_one()) for part in parts)


def copy(connection: Connection, digest: str, file: IO[bytes]) -> None:
    """Write the bytes of an array to a file, a few chunks at a time; `DamagedBlob` unless they match its digest."""
    header = _find(connection, digest)
    computed = sha256(f"{header.scope}\n{header.dtype} {header.shape}\n".encode())
    query = select(blob_chunks.c.content).where(blob_chunks.c.digest == digest).order_by(blob_chunks.c.number)
    for (content,) in connection.execute(query.execution_options(yield_per=8)):
        computed.update(content)
        file.write(content)
    if computed.hexdigest() != digest:
        raise DamagedBlob(digest)


def open_copy(connection: Connection, digest: str, path: Path, *, is_checked: bool = False) -> Array:
    """The array in a file that `copy` wrote, mapped and read-only; raises `DamagedBlob` unless it is still the same.

    A file that is known to be the same is mapped without a look at its bytes.
    """
    header = _find(connection, digest)
    try:
        mapped = np.memmap(path, np.dtype(header.dtype), "r", shape=tuple(json.loads(header.shape)))
    except ValueError as error:  # it is shorter
        raise DamagedBlob(digest) from error
    array = np.asarray(mapped)
    if path.stat().st_size != array.nbytes or not (is_checked or name(array, header.scope) == digest):
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


def _dtype_and_shape(array: Array) -> tuple[str, str]:
    little = array.dtype.newbyteorder("<")
    if little != array.dtype or array.dtype.hasobject:
        raise ValueError(f"only little-endian plain arrays can be stored, not {array.dtype}")
    return little.str, json.dumps(array.shape)


def _header(digest: str, array: Array, scope: str) -> dict[str, Any]:
    dtype, shape = _dtype_and_shape(array)
    size = array.nbytes
    return {"digest": digest, "scope": scope, "dtype": dtype, "shape": shape, "size": size, "created_at": now()}


def _chunks(digest: str, content: memoryview, start: int) -> list[dict[str, Any]]:
    """The chunks of one commit."""
    stop = start + CHUNK * CHUNKS_PER_COMMIT
    return [
        {"digest": digest, "number": offset // CHUNK, "content": bytes(content[offset : offset + CHUNK])}
        for offset in range(start, min(stop, len(content)), CHUNK)
    ]
