"""Arrays in the database come back bit for bit, and damage is found."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sqlalchemy import delete, func, select, update

from app.storage import blobs
from app.storage.database import Database
from app.storage.tables import blob_chunks
from app.storage.tables import blobs as headers

DTYPES = ("<f8", "<i4", "<i8", "<u8", "|u1", "|b1")


@hypothesis_settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    array=st.sampled_from(DTYPES).flatmap(lambda dtype: arrays.arrays(np.dtype(dtype), arrays.array_shapes(min_side=0)))
)
def test_an_array_comes_back_bit_for_bit(database: Database, array: np.ndarray) -> None:
    digest = blobs.store(database, array)
    with database.read() as connection:
        again = blobs.load(connection, digest)
    assert again.dtype == array.dtype
    assert again.shape == array.shape
    assert again.tobytes() == array.tobytes()


def test_a_large_array_is_kept_in_chunks_of_a_megabyte(database: Database) -> None:
    array = np.random.default_rng(0).standard_normal((700_000, 4))
    digest = blobs.store(database, array)
    with database.read() as connection:
        chunks = connection.execute(select(func.count(), func.max(func.length(blob_chunks.c.content)))).one()
        assert np.array_equal(blobs.load(connection, digest), array)
    assert tuple(chunks) == (-(-array.nbytes // blobs.CHUNK), blobs.CHUNK)


def test_storing_the_same_array_again_adds_nothing(database: Database) -> None:
    array = np.arange(10.0)
    assert blobs.store(database, array) == blobs.store(database, array.copy())
    with database.read() as connection:
        assert connection.execute(select(func.count()).select_from(headers)).scalar_one() == 1


def test_a_store_that_was_cut_off_is_completed_by_the_next(database: Database) -> None:
    array = np.arange(300_000.0)
    digest = blobs.store(database, array)
    with database.write() as connection:
        connection.execute(delete(headers))
        connection.execute(delete(blob_chunks).where(blob_chunks.c.number == 1))
    with database.read() as connection, pytest.raises(blobs.DamagedBlob):
        blobs.load(connection, digest)
    assert blobs.store(database, array) == digest
    with database.read() as connection:
        assert np.array_equal(blobs.load(connection, digest), array)


@pytest.mark.parametrize("damage", ["altered", "shortened", "missing"])
def test_damage_is_found(database: Database, damage: str) -> None:
    digest = blobs.store(database, np.arange(300_000.0))
    last = blob_chunks.c.number == 2
    with database.write() as connection:
        content = connection.execute(select(blob_chunks.c.content).where(last)).scalar_one()
        if damage == "missing":
            connection.execute(delete(blob_chunks).where(last))
        else:
            wrong = content[:-8] if damage == "shortened" else bytes([content[0] ^ 1]) + content[1:]
            connection.execute(update(blob_chunks).where(last).values(content=wrong))
    with database.read() as connection, pytest.raises(blobs.DamagedBlob):
        blobs.load(connection, digest)


def test_an_array_of_objects_or_of_the_other_byte_order_is_refused(database: Database) -> None:
    for array in (np.array([None]), np.array([1.0], dtype=">f8")):
        with pytest.raises(ValueError, match="only little-endian plain arrays"):
            blobs.store(database, array)
