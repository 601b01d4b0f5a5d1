"""Makes `kept/<schema>.sqlite3`, the database file a release leaves behind, through the server itself.

    python -m tests.storage.keep

Every release keeps one, so that a test can upgrade it. Until 0.1.0 is released the schema may still change, and the
file of its first version is made anew.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from alembic.script import ScriptDirectory
from fastapi.testclient import TestClient

from app.cli.serving import first_admin_key, prepare
from app.main import create_app
from app.settings import Settings
from app.storage.schema import alembic_config

KEPT = Path(__file__).parent / "kept"
CANDIDATES = "key,temperature,solvent\nA1,90,DMF\nA2,100,THF\n"


def keep() -> Path:
    with TemporaryDirectory() as folder:
        settings = Settings(data=Path(folder), database_url=None, allowed_hosts=("testserver",))
        database = prepare(settings)
        key = first_admin_key(database, settings.admin_key_file)
        with TestClient(create_app(settings), headers={"Authorization": f"Bearer {key}"}) as client:
            _fill(client)
        version = ScriptDirectory.from_config(alembic_config()).get_current_head()
        path = KEPT / f"{version}.sqlite3"
        path.parent.mkdir(exist_ok=True)
        path.unlink(missing_ok=True)
        with database.reader.connect() as connection:  # outside of a transaction
            connection.connection.execute(f"VACUUM INTO '{path}'")
        database.dispose()
    return path


def _fill(client: TestClient) -> None:
    client.put("/v1/studies/kept", json={"objective": "yield"}).raise_for_status()
    csv = {"Content-Type": "text/csv"}
    client.put("/v1/studies/kept/candidates", content=CANDIDATES, headers=csv).raise_for_status()
    switched = {"available": False, "reason": "out of stock"}
    client.patch("/v1/studies/kept/candidates/A2", json=switched).raise_for_status()
    client.post("/v1/keys", json={"name": "a key", "role": "client", "studies": ["kept"]}).raise_for_status()


if __name__ == "__main__":
    keep()
