"""Start the server: migrate the database, create the first admin key, serve."""

import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import parent_process
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Annotated, TypeVar
from urllib.request import Request, urlopen

import typer
from rich.console import Console

from app.cli.local import explaining_silence
from app.domain.access import Actor, Role
from app.domain.errors import DatabaseBusy
from app.temporary_folders import TemporaryFolder, delete_abandoned

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess as ParentProcess

    from fastapi import FastAPI

    from app.settings import Settings
    from app.storage.database import Database

T = TypeVar("T")
console = Console(highlight=False)

SHUTDOWN_SECONDS = 10
BUSY_SECONDS = 120.0  # from the first refusal; the database itself waits a while before each
BUSY_PAUSE = 0.2
Port = Annotated[int | None, typer.Option(help="Port the server listens on.")]


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 for any free one.")] = None,
    workers: Annotated[int | None, typer.Option(help="Server processes.")] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of the database and the first admin key.")] = None,
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="Start even if the database lacks events that were acknowledged.")
    ] = False,
) -> None:
    """Migrate the database and start the server."""
    import uvicorn

    from app import logs
    from app.cli.connections import IDLE_SECONDS, allow_many_files
    from app.settings import read_settings

    settings = read_settings(host=host, port=port, workers=workers, data=data)
    port = _usable_port(settings)
    logs.configure(settings.log_format, settings.log_level)
    logs.hear_python()
    database = prepare(settings, accept_loss=accept_loss)
    new_key = retry_while_busy(lambda: first_admin_key(database, settings.admin_key_file))
    retry_while_busy(lambda: tidy(database, settings))
    database.dispose()
    _export_settings(settings, port)
    with suppress(OSError):  # standard output may be full or closed
        _announce(settings, port, new_key)
    allow_many_files()
    metrics = _shared_metrics(settings)  # kept until the server ends
    uvicorn.run(
        "app.cli.serving:application",
        factory=True,
        http="app.cli.connections:HttpConnection",
        host=settings.host,
        port=port,
        workers=settings.workers,
        log_config=None,
        access_log=False,
        server_header=False,
        forwarded_allow_ips=list(settings.trusted_proxies),
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    if metrics is not None:
        metrics.discard()


def application() -> "FastAPI":
    """The application that each server process runs."""
    from app import logs
    from app.compute.on_ray.cluster import PREFIX as RAY_PREFIX
    from app.main import create_app

    delete_abandoned()
    delete_abandoned(RAY_PREFIX)
    created = create_app()
    logs.hear_python()
    supervisor = parent_process()
    if supervisor is not None:
        Thread(target=_end_with, args=(supervisor,), daemon=True).start()
    return created


def _end_with(supervisor: "ParentProcess") -> None:
    """End this worker process, in good order, when the process that started it is gone."""
    supervisor.join()
    os.kill(os.getpid(), signal.SIGTERM)


def migrate_database(
    to: Annotated[
        str | None, typer.Option(help="Go back to this older schema, for an older version. Stop all servers first.")
    ] = None,
) -> None:
    """Bring the database to this build's schema, or back to an older one."""
    from app.settings import read_settings
    from app.storage.database import open_database
    from app.storage.schema import downgrade

    if to is None:
        prepare(read_settings()).dispose()
        console.print("The database is up to date.")
        return
    database = open_database(read_settings().database_address)
    try:
        downgrade(database, to)
    finally:
        database.dispose()
    console.print(f"The database has schema {to}. Start the version that has it; this one would upgrade it again.")


def healthcheck(port: Port = None) -> None:
    """Exit with 0 if the server on this machine is ready (for containers)."""
    console.print(ask_whether_ready(port))


def ask_whether_ready(port: int | None) -> str:
    """What the server on this machine says when it is ready; an error otherwise."""
    from app.settings import read_settings

    settings = read_settings()
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host  # noqa: S104
    name = settings.allowed_hosts[0] if "*" not in settings.allowed_hosts else host
    request = Request(f"http://{_bracketed(host)}:{port or settings.port}/readyz", headers={"Host": name})
    with urlopen(request, timeout=3) as answer:  # noqa: S310
        text: str = answer.read().decode()
    return text


def prepare(settings: "Settings", *, accept_loss: bool = False) -> "Database":
    """Open and migrate the database; create the data folder, which only its owner can read.

    A database that lacks events which this server acknowledged is refused before anything is written to it.
    """
    from app.services.maintenance import must_have_kept_heads
    from app.storage.database import open_database
    from app.storage.database_file import make_private
    from app.storage.schema import migrate

    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with explaining_silence(settings):
        database = retry_while_busy(lambda: open_database(settings.database_address, settings.database_connections))
    try:
        retry_while_busy(lambda: must_have_kept_heads(database, settings.heads_file, accept_loss=accept_loss))
        if database.file is not None:
            make_private(database.file.file)
        with explaining_silence(settings):
            retry_while_busy(lambda: migrate(database))
    except BaseException:
        database.dispose()
        raise
    return database


def retry_while_busy(step: Callable[[], T]) -> T:
    """Run a step of the start, again for up to two minutes while other processes keep the database busy."""
    import structlog

    deadline: float | None = None
    while True:
        try:
            return step()
        except DatabaseBusy:
            deadline = deadline or monotonic() + BUSY_SECONDS
            seconds_left = deadline - monotonic()
            if seconds_left <= 0:
                raise
            structlog.get_logger().warning("the database is busy; waiting", seconds_left=round(seconds_left))
            sleep(BUSY_PAUSE)


def tidy(database: "Database", settings: "Settings") -> None:
    """Delete blobs that nothing needs any more, and studies whose time has come. (Stored answers expire later.)"""
    import structlog

    from app.services.maintenance import sweep_array_files, sweep_blobs
    from app.services.workflows.purge import erase_due

    erased, swept = erase_due(database, settings.delete_days), sweep_blobs(database)
    if settings.array_folder is not None:
        sweep_array_files(database, settings.array_folder)
    if swept or erased:
        structlog.get_logger().info("tidied", blobs=swept, erased=erased)


def first_admin_key(database: "Database", file: Path) -> str | None:
    """Create the first admin key and write it to a file that only its owner can read; None if there are keys."""
    from app.services.use_cases.access import SERVER, create_key
    from app.storage import keys

    with database.read() as connection:
        if keys.exist(connection):  # a restart need not wait to write
            return None
    with database.write() as connection:
        if keys.exist(connection):
            return None
        _, plaintext_key = create_key(connection, Actor(SERVER, "first-run"), "first admin", Role.ADMIN)
        file.unlink(missing_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as opened:
            opened.write(f"{plaintext_key}\n")
    return plaintext_key


def _export_settings(settings: "Settings", port: int) -> None:
    """Pass the command line's settings to the worker processes, through the environment."""
    os.environ["NEXTBATCH_HOST"] = settings.host
    os.environ["NEXTBATCH_PORT"] = str(port)
    os.environ["NEXTBATCH_DATA"] = str(settings.data)
    if settings.compute_workers is None:
        os.environ["NEXTBATCH_COMPUTE_WORKERS"] = str(default_compute_workers(settings.workers))
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")  # several BLAS threads slow each other down here


def _shared_metrics(settings: "Settings") -> TemporaryFolder | None:
    """The folder in which several server processes share their metrics, unless the operator has named one."""
    if settings.workers == 1 or "PROMETHEUS_MULTIPROC_DIR" in os.environ:
        return None
    folder = TemporaryFolder()
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder.path)
    return folder


def default_compute_workers(server_processes: int) -> int:
    """One for every two cores, shared out among the server processes; each has one at least and four at the most."""
    return max(1, min(4, (os.cpu_count() or 1) // 2 // server_processes))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _usable_port(settings: "Settings") -> int:
    """The port of the settings, or a free one; refused before anything else happens if another program has it."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        with socket.create_server((settings.host, settings.port), family=family) as listener:
            return int(listener.getsockname()[1])
    except OSError as error:
        where = f"http://{_bracketed(settings.host)}:{settings.port}"
        raise ValueError(
            f"cannot listen on {where}: {error.strerror}. Stop the program that does, or choose another with --port."
        ) from error


def _announce(settings: "Settings", port: int, new_key: str | None) -> None:
    from sqlalchemy import make_url

    host = _bracketed(settings.host)
    console.print(f"[bold]Nextbatch[/] listens on http://{host}:{port}")
    console.print(f"  the page      http://{host}:{port}/")
    console.print(f"  the API       http://{host}:{port}/openapi.json")
    console.print(f"  the database  {make_url(settings.database_address).render_as_string()}", soft_wrap=True)
    if new_key:
        console.print("\n  [bold]The admin key[/], shown once and stored in", settings.admin_key_file, soft_wrap=True)
        console.print(f"  {new_key}\n", soft_wrap=True)
