"""How a command finds its server: by an option, by the environment, else the one on this machine."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, TypeAlias

import typer

from .. import Client, Study, SyncConnection

Url = Annotated[
    str | None, typer.Option("--url", envvar="NEXTBATCH_URL", help="The server; by default the one on this machine.")
]
KeyOption = Annotated[
    str | None, typer.Option("--key", envvar="NEXTBATCH_KEY", help="The API key.", show_default=False, show_envvar=True)
]
StudyName = Annotated[str, typer.Argument(help="The study's name.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]

LocalServer: TypeAlias = Callable[[], tuple[str, str | None]]
"""The address of the server on this machine, and its key if this person may read it."""

_local_servers: list[LocalServer] = []


def know_local_server(find: LocalServer) -> None:
    """Find the server on this machine in this way: the server's own command knows its port and where its key is."""
    _local_servers[:] = [find]


def find_server(url: str | None, key: str | None) -> tuple[str | None, str | None]:
    """The address and key that are given, else those of the server on this machine. Its key goes nowhere else."""
    if url is not None or not _local_servers:
        return url, key
    here, key_here = _local_servers[0]()
    return here, key or key_here


def connect(url: str | None, key: str | None) -> Client:
    """A client of the given server, or of the one on this machine."""
    return Client(*find_server(url, key))


@contextmanager
def open_study(study: str, url: str | None, key: str | None) -> Iterator[Study[SyncConnection]]:
    """A study, and a client that is closed at the end of the block."""
    with connect(url, key) as client:
        yield client.study(study)
