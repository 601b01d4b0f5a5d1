"""How remote commands find their server: by an option, by the environment, else the one on this machine."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from app.settings import Settings
    from nextbatch import Client, Study, SyncConnection

Url = Annotated[
    str | None, typer.Option("--url", envvar="NEXTBATCH_URL", help="The server; by default the one on this machine.")
]
KeyOption = Annotated[
    str | None, typer.Option("--key", envvar="NEXTBATCH_KEY", help="The API key.", show_default=False, show_envvar=True)
]
StudyName = Annotated[str, typer.Argument(help="The study's name.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


def connect(url: str | None, key: str | None) -> "Client":
    """A client of the given server, or of the one on this machine with the admin key that `serve` stored here."""
    from app.settings import Settings
    from nextbatch import Client

    settings = Settings()
    if url is not None:
        return Client(url, key)
    return Client(f"http://{settings.host}:{settings.port}", key or _admin_key(settings))


@contextmanager
def open_study(study: str, url: str | None, key: str | None) -> Iterator["Study[SyncConnection]"]:
    """A study, and a client that is closed at the end of the block."""
    with connect(url, key) as client:
        yield client.study(study)


def _admin_key(settings: "Settings") -> str | None:
    with suppress(OSError):
        return settings.admin_key_file.read_text().strip()
    return None
