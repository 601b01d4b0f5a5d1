"""How far a request walks through `app`: the files and functions that an upload, a report and an ask pass.

    python -m benchmarks.walks            # how many distinct files each walk touches
    python -m benchmarks.walks --calls    # and every function, in the order of its first call

The fewer files a reader must open to follow a request, the sooner they understand it. `docs/architecture.md` tells the
three walks in prose, and a test compares that page with what is traced here.
"""

import argparse
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

from fastapi.testclient import TestClient

from app.domain.access import Actor, Role
from app.main import create_app
from app.services.use_cases.access import SERVER, create_key
from app.settings import Settings
from app.storage.database import open_database
from app.storage.schema import migrate

ROOT = Path(__file__).parents[1]
LIST = "key,temperature,solvent\n" + "".join(f"A{i},{20 + i},{'DMF' if i % 3 else 'THF'}\n" for i in range(40))


@dataclass
class Walk:
    """The calls of one request, in the order of each function's first call: file below the root, qualified name."""

    calls: dict[tuple[str, str], None] = field(default_factory=dict)

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys(file for file, _ in self.calls))


class Tracer:
    """Records the calls into `app` of every thread that starts after it."""

    def __init__(self) -> None:
        self._walk: Walk | None = None
        self._inside = f"{ROOT / 'app'}/"
        threading.setprofile(self._profile)
        sys.setprofile(self._profile)

    @contextmanager
    def record(self) -> Iterator[Walk]:
        self._walk = walk = Walk()
        try:
            yield walk
        finally:
            self._walk = None

    def stop(self) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _profile(self, frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        if event == "call" and self._walk is not None and code.co_filename.startswith(self._inside):
            self._walk.calls.setdefault((Path(code.co_filename).relative_to(ROOT).as_posix(), code.co_qualname))


def walks() -> dict[str, Walk]:
    """An upload of a CSV list, the report of one result, and the ask that follows it."""
    tracer = Tracer()
    try:
        with TemporaryDirectory() as folder, _client(Path(folder)) as client:
            client.put("/v1/studies/s", json={}).raise_for_status()
            with tracer.record() as upload:
                sent = {"content": LIST, "headers": {"Content-Type": "text/csv"}}
                client.put("/v1/studies/s/candidates", **sent).raise_for_status()  # type: ignore[arg-type]
            first = client.post("/v1/studies/s/batches", json={"max_size": 5}).raise_for_status().json()
            suggestions = [suggestion["suggestion"] for suggestion in first["suggestions"]]
            for number, suggestion in enumerate(suggestions[:-1]):
                client.post("/v1/studies/s/observations", json={"suggestion": suggestion, "value": number})
            with tracer.record() as report:
                last = {"suggestion": suggestions[-1], "value": 7.5}
                client.post("/v1/studies/s/observations", json=last).raise_for_status()
            with tracer.record() as ask:
                client.post("/v1/studies/s/batches", json={"max_size": 5}).raise_for_status()
    finally:
        tracer.stop()
    return {"upload": upload, "report": report, "ask": ask}


@contextmanager
def _client(folder: Path) -> Iterator[TestClient]:
    """A server on a fresh SQLite database, with an admin's key."""
    settings = Settings(data=folder, allowed_hosts=("testserver",), log_level="error")
    database = open_database(settings.database_address)
    migrate(database)
    with database.write() as connection:
        key = create_key(connection, Actor(SERVER, "walks"), "walks", Role.ADMIN)[1]
    database.dispose()
    with TestClient(create_app(settings), headers={"Authorization": f"Bearer {key}"}) as client:
        yield client


def main() -> None:
    parser = argparse.ArgumentParser(description="Count the files that each kind of request touches.")
    parser.add_argument("--calls", action="store_true", help="list every function, in the order of its first call")
    wanted = parser.parse_args()
    for name, walk in walks().items():
        print(f"{name}: {len(walk.files)} files of app")
        if wanted.calls:
            print(*(f"  {file} {function}" for file, function in walk.calls), sep="\n")


if __name__ == "__main__":
    main()
