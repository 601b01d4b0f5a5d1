"""A disk that remembers the order of everything, or refuses to write: a layer between SQLite and the file system.

SQLite reaches files through a table of functions (its VFS). Here the functions that write, truncate and sync are
replaced, in the very build that the server uses; the rest is SQLite's own.
"""

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int64, c_void_p
from importlib import import_module
from typing import Any

from app.storage import dialects

OK, IO_ERROR_WRITE, IO_ERROR_FSYNC, FULL = 0, 10 | 3 << 8, 10 | 4 << 8, 13

_Close = CFUNCTYPE(c_int, c_void_p)
_Write = CFUNCTYPE(c_int, c_void_p, c_void_p, c_int, c_int64)
_Truncate = CFUNCTYPE(c_int, c_void_p, c_int64)
_Sync = CFUNCTYPE(c_int, c_void_p, c_int)
_Open = CFUNCTYPE(c_int, c_void_p, c_void_p, c_void_p, c_int, c_void_p)


class _Methods(Structure):
    """sqlite3_io_methods, of which only these are touched."""

    _fields_ = [
        ("version", c_int),
        ("close", _Close),
        ("read", c_void_p),
        ("write", _Write),
        ("truncate", _Truncate),
        ("sync", _Sync),
        ("others", c_void_p * 13),
    ]


class _File(Structure):
    _fields_ = [("methods", POINTER(_Methods))]


class _Vfs(Structure):
    """sqlite3_vfs"""

    _fields_ = [
        ("version", c_int),
        ("file_size", c_int),
        ("longest_path", c_int),
        ("next", c_void_p),
        ("name", c_char_p),
        ("data", c_void_p),
        ("open", _Open),
        ("others", c_void_p * 14),
    ]


class Disk:
    """What happened, in order: ("write", file, offset, bytes), ("truncate", file, size), ("sync", file), and notes."""

    def __init__(self) -> None:
        self.log: list[tuple[Any, ...]] = []
        self.refusal: Callable[[str], int] = lambda _operation: OK  # a result code for "write" or "sync"
        self._kept: list[object] = []  # C has pointers to these
        self._paths: dict[int, str] = {}
        self._methods: dict[int, _Methods] = {}  # by the table that they replace

    def note(self, *what: Any) -> None:
        self.log.append(what)

    def vfs(self, original: _Vfs) -> _Vfs:
        """SQLite's own, with another way to open files."""
        copied = _Vfs.from_buffer_copy(original)
        copied.name, copied.next = b"remembering", None
        opening = original.open

        def open_file(_vfs: int, name: int | None, file: int, flags: int, out: int | None) -> int:
            """SQLite keeps the pointer to the name, so it is passed on as it is."""
            result = opening(ctypes.addressof(original), name, file, flags, out)
            if result == OK and name is not None:
                self._paths[file] = ctypes.string_at(name).decode()
                opened = ctypes.cast(file, POINTER(_File)).contents
                opened.methods = ctypes.pointer(self._watched(opened.methods.contents))
            return result

        copied.open = _Open(open_file)
        self._kept += [copied, original]
        return copied

    def _watched(self, own: _Methods) -> _Methods:
        known = ctypes.addressof(own)
        if known not in self._methods:
            self._methods[known] = self._replaced(own)
        return self._methods[known]

    def _replaced(self, own: _Methods) -> _Methods:
        watched = _Methods.from_buffer_copy(own)

        def write(file: int, content: int, size: int, offset: int) -> int:
            refused = self.refusal("write")
            if refused != OK:
                return refused
            self.note("write", self._paths[file], offset, ctypes.string_at(content, size))
            return int(own.write(file, content, size, offset))

        def truncate(file: int, size: int) -> int:
            self.note("truncate", self._paths[file], size)
            return int(own.truncate(file, size))

        def sync(file: int, flags: int) -> int:
            refused = self.refusal("sync")
            if refused != OK:
                return refused
            self.note("sync", self._paths[file])
            return int(own.sync(file, flags))

        watched.write, watched.truncate, watched.sync = _Write(write), _Truncate(truncate), _Sync(sync)
        self._kept.append(own)
        return watched


@contextmanager
def remembering() -> Iterator[Disk]:
    """Every SQLite file that this process opens inside the block, through the server's own driver, is watched."""
    library = ctypes.CDLL(import_module(f"{dialects.sqlite_driver().__package__}._sqlite3").__file__)
    library.sqlite3_vfs_find.restype = POINTER(_Vfs)
    library.sqlite3_vfs_find.argtypes = [c_char_p]
    original = library.sqlite3_vfs_find(None).contents
    disk = Disk()
    watching = disk.vfs(original)
    library.sqlite3_vfs_register(ctypes.byref(watching), 1)
    try:
        yield disk
    finally:
        library.sqlite3_vfs_unregister(ctypes.byref(watching))
        library.sqlite3_vfs_register(ctypes.byref(original), 1)
