"""Start the server, and what has to be there before it starts."""

import os
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.request import Request, urlopen

import typer
from rich.console import Console

from app.domain.access import Actor, Role
from app.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from app.storage.database import Database

console = Console(highlight=False)

SHUTDOWN_SECONDS = 10


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 for any free one.")] = None,
    workers: Annotated[int | None, typer.Option(help="Server processes.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of the database and the first admin key.")] = None,
) -> None:
    """Migrate the database and start the server."""
    import uvicorn

    from app import logs
    from app.cli.connections import allow_many_files
    from app.cli.patience import patiently

    settings = _settings(host=host, port=port, workers=workers, data=data)
    logs.configure(settings.log_format, settings.log_level)
    logs.hear_python()
    database = prepare(settings)
    fresh = patiently(lambda: first_admin_key(database, settings.admin_key_file))
    patiently(lambda: tidy(database, settings))
    database.dispose()
    port = settings.port or _free_port(settings.host)
    _hand_down(settings, port)
    _announce(settings, port, fresh)
    allow_many_files()
    uvicorn.run(
        "app.cli.serving:application",
        factory=True,
        http="app.cli.connections:Connection",
        host=settings.host,
        port=port,
        workers=settings.workers,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )


def application() -> "FastAPI":
    """What each process of the server runs."""
    from app import logs
    from app.main import create_app

    created = create_app()
    logs.hear_python()
    return created


def migrate_database() -> None:
    """Bring the database to this build's schema."""
    prepare(Settings()).dispose()
    console.print("The database is up to date.")


def healthcheck(port: Annotated[int | None, typer.Option(help="Port the server listens on.")] = None) -> None:
    """Exit with 0 if the server on this machine is ready (for containers)."""
    settings = Settings()
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host  # noqa: S104
    name = settings.allowed_hosts[0] if "*" not in settings.allowed_hosts else host
    request = Request(f"http://{_shown(host)}:{port or settings.port}/readyz", headers={"Host": name})
    with urlopen(request, timeout=3) as answer:  # noqa: S310
        console.print(answer.read().decode())


def prepare(settings: Settings) -> "Database":
    """The database of these settings, migrated; the data folder is the owner's alone."""
    from app.cli.patience import patiently
    from app.storage.database import open_database
    from app.storage.schema import migrate

    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    database = patiently(lambda: open_database(settings.database_address, settings.database_connections))
    patiently(lambda: migrate(database))
    return database


def tidy(database: "Database", settings: Settings) -> None:
    """Drop what nobody needs any more."""
    import structlog

    from app.services.transactions import forget_old_answers, sweep_blobs

    forgotten, swept = forget_old_answers(database, settings.keep_answers_days), sweep_blobs(database)
    if forgotten or swept:
        structlog.get_logger().info("tidied", answers=forgotten, blobs=swept)


def first_admin_key(database: "Database", file: Path) -> str | None:
    """On the first run an admin's key, also written to a file only its owner can read; later None."""
    from app.services.access import SERVER, create_key
    from app.storage import keys

    with database.read() as connection:
        if keys.exist(connection):  # so that a restart need not wait for its turn to write
            return None
    with database.write() as connection:
        if keys.exist(connection):
            return None
        _, spelling = create_key(connection, Actor(SERVER, "first-run"), "first admin", Role.ADMIN)
        file.unlink(missing_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as opened:
            opened.write(f"{spelling}\n")
    return spelling


def _settings(**given: object) -> Settings:
    return Settings(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]


def _hand_down(settings: Settings, port: int) -> None:
    """What was given on the command line reaches the worker processes through the environment."""
    os.environ["NEXTBATCH_HOST"] = settings.host
    os.environ["NEXTBATCH_PORT"] = str(port)
    os.environ["NEXTBATCH_DATA"] = str(settings.data)
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")  # threads of BLAS get in each other's way here
    if settings.workers > 1 and "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix="nextbatch-metrics-")


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _free_port(host: str) -> int:
    with socket.create_server((host, 0)) as listener:
        return int(listener.getsockname()[1])


def _announce(settings: Settings, port: int, fresh: str | None) -> None:
    from sqlalchemy import make_url

    shown = _shown(settings.host)
    console.print(f"[bold]Nextbatch[/] listens on http://{shown}:{port}")
    console.print(f"  the page      http://{shown}:{port}/")
    console.print(f"  the API       http://{shown}:{port}/openapi.json")
    console.print(f"  the database  {make_url(settings.database_address).render_as_string()}", soft_wrap=True)
    if fresh:
        console.print(
            "\n  [bold]The admin key[/], shown this once and kept in", settings.admin_key_file, soft_wrap=True
        )
        console.print(f"  {fresh}\n", soft_wrap=True)
