"""Large arrays as files: the same arrays, shared, checked, and never needed."""

import os
from pathlib import Path
from time import sleep, time

import numpy as np
import pytest

from app.arrays import Array
from app.services.maintenance import sweep_array_files
from app.storage import blobs, mapped_arrays
from app.storage.array_cache import ArrayCache
from app.storage.blobs import DamagedBlob
from app.storage.database import Database
from app.storage.mapped_arrays import CHECKED, MappedArrays


@pytest.fixture(autouse=True)
def few_bytes_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped_arrays, "LARGE", 1000)


@pytest.fixture
def numbers() -> Array:
    return np.random.default_rng(1).random((200, 3))


def loaded(database: Database, folder: Path, digest: str) -> Array:
    """As a process that has just started reads it."""
    with database.read() as connection:
        return ArrayCache(0, MappedArrays(folder)).load(connection, digest)


def is_mapped(array: Array) -> bool:
    return isinstance(array.base, np.memmap)


def test_a_large_array_is_a_file_and_a_small_one_is_not(database: Database, tmp_path: Path, numbers: Array) -> None:
    folder = tmp_path / "arrays"
    large, small = blobs.store(database, numbers), blobs.store(database, numbers[:3])
    for _ in range(2):  # written, and found
        array = loaded(database, folder, large)
        assert is_mapped(array)
        assert not array.flags.writeable
        np.testing.assert_array_equal(array, numbers)
    assert not is_mapped(loaded(database, folder, small))
    assert {path.name.removesuffix(CHECKED) for path in folder.iterdir()} == {large}
    assert folder.stat().st_mode & 0o077 == 0


def test_a_process_maps_an_array_once_however_small_its_cache_is(
    database: Database, tmp_path: Path, numbers: Array
) -> None:
    cache, digest = ArrayCache(0, MappedArrays(tmp_path)), blobs.store(database, numbers)
    with database.read() as connection:
        assert cache.load(connection, digest) is cache.load(connection, digest)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arrays whose bytes were looked at, by their names."""
    seen: list[str] = []
    name = blobs.name

    def noted(array: Array, scope: str = "") -> str:
        seen.append(name(array, scope))
        return seen[-1]

    monkeypatch.setattr(blobs, "name", noted)
    return seen


def test_the_bytes_of_a_file_are_looked_at_once(
    database: Database, tmp_path: Path, numbers: Array, looks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapped_arrays, "SETTLED_SECONDS", -1.0)
    digest = blobs.store(database, numbers)
    counts = []
    for _ in range(4):  # written, checked, and found twice
        looks.clear()
        np.testing.assert_array_equal(loaded(database, tmp_path, digest), numbers)
        counts.append(len(looks))
    assert counts == [0, 1, 0, 0]
    os.utime(tmp_path / f"{digest}{CHECKED}", (1.0, 1.0))  # a note of long ago
    loaded(database, tmp_path, digest)
    assert looks == [digest]


def test_a_file_that_is_changed_after_it_was_looked_at_is_written_again(
    database: Database, tmp_path: Path, numbers: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapped_arrays, "SETTLED_SECONDS", -1.0)
    digest = blobs.store(database, numbers)
    path = tmp_path / digest
    for _ in range(2):
        loaded(database, tmp_path, digest)
    assert (tmp_path / f"{digest}{CHECKED}").exists()
    times = path.stat().st_atime_ns, path.stat().st_mtime_ns
    whole = path.read_bytes()
    sleep(0.02)  # more than a tick of a file's clock
    path.write_bytes(whole[:-1] + b"x")
    os.utime(path, ns=times)  # an old date is no excuse: the system has one of its own
    np.testing.assert_array_equal(loaded(database, tmp_path, digest), numbers)
    assert path.read_bytes() == whole


def test_a_file_that_was_just_written_is_not_noted(
    database: Database, tmp_path: Path, numbers: Array, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapped_arrays, "SETTLED_SECONDS", 3600.0)
    digest = blobs.store(database, numbers)
    for _ in range(2):
        loaded(database, tmp_path, digest)
    assert [path.name for path in tmp_path.iterdir()] == [digest]


@pytest.mark.parametrize("harm", ["shorter", "longer", "other bytes"])
def test_a_damaged_file_is_written_again(database: Database, tmp_path: Path, numbers: Array, harm: str) -> None:
    digest = blobs.store(database, numbers)
    loaded(database, tmp_path, digest)
    path = tmp_path / digest
    whole = path.read_bytes()
    path.write_bytes({"shorter": whole[:-8], "longer": whole + b"x", "other bytes": whole[:-1] + b"x"}[harm])
    np.testing.assert_array_equal(loaded(database, tmp_path, digest), numbers)
    assert path.read_bytes() == whole


def test_where_no_file_can_be_written_the_array_is_read_into_memory(
    database: Database, tmp_path: Path, numbers: Array
) -> None:
    digest, no_folder = blobs.store(database, numbers), tmp_path / "file"
    no_folder.write_text("not a folder")
    array = loaded(database, no_folder, digest)
    assert not is_mapped(array)
    np.testing.assert_array_equal(array, numbers)


def test_a_blob_that_is_gone_is_not_there(database: Database, tmp_path: Path) -> None:
    with pytest.raises(DamagedBlob):
        loaded(database, tmp_path, "0" * 64)
    assert list(tmp_path.iterdir()) == []


def test_a_start_deletes_what_the_database_has_no_more_and_nothing_else(
    database: Database, tmp_path: Path, numbers: Array
) -> None:
    kept, dropped = blobs.store(database, numbers), blobs.store(database, numbers + 1)
    for digest in (kept, dropped):
        loaded(database, tmp_path, digest)
        (tmp_path / f"{digest}{CHECKED}").write_text("x")
    abandoned, fresh, foreign = (tmp_path / name for name in (".unfinished-a", ".unfinished-b", "thesis.txt"))
    for path in (abandoned, fresh, foreign):
        path.write_text("x")
    os.utime(abandoned, (time() - 7200, time() - 7200))
    with database.write() as connection:
        blobs.drop(connection, [dropped])
    assert sweep_array_files(database, tmp_path) == 3
    assert {path.name for path in tmp_path.iterdir()} == {kept, f"{kept}{CHECKED}", fresh.name, foreign.name}
    assert sweep_array_files(database, tmp_path / "nowhere") == 0
