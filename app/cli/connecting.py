"""How the remote commands find their server: options, then the environment, then this machine's own."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated

import typer

from app.settings import Settings
from nextbatch import Blocking, Client, Study

Url = Annotated[
    str | None, typer.Option("--url", envvar="NEXTBATCH_URL", help="The server; by default the one on this machine.")
]
Key = Annotated[
    str | None, typer.Option("--key", envvar="NEXTBATCH_KEY", help="The API key.", show_default=False, show_envvar=True)
]
StudyName = Annotated[str, typer.Argument(help="The study's name.", show_default=False)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for scripts.")]


def connect(url: str | None, key: str | None) -> Client:
    """A client; without a key, with the first admin's key that `serve` left on this machine."""
    settings = Settings()
    return Client(url or f"http://{settings.host}:{settings.port}", key or (None if url else _own_key(settings)))


@contextmanager
def opened(study: str, url: str | None, key: str | None) -> Iterator[Study[Blocking]]:
    """A study, for as long as the block lasts."""
    with connect(url, key) as client:
        yield client.study(study)


def _own_key(settings: Settings) -> str | None:
    with suppress(OSError):
        return settings.admin_key_file.read_text().strip()
    return None
