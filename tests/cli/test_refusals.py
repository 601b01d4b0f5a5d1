"""What the command refuses, it refuses in one clear line and with exit code 1."""

from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli import main

Refused = Callable[..., str]


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Refused:
    """What `nextbatch …` says when it gives up."""

    def run(*arguments: str, **settings: str) -> str:
        for name, value in ({"NEXTBATCH_DATA": str(tmp_path)} | settings).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("COLUMNS", "500")
        monkeypatch.setattr("sys.argv", ["nextbatch", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 1
        said = capsys.readouterr().err
        assert said.count("\n") == 1, said
        return said

    return run


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "lab.example"])  # noqa: S104
def test_a_public_address_without_the_flag(refused: Refused, host: str, tmp_path: Path) -> None:
    said = refused("serve", "--host", host)
    assert f"refusing to listen on {host}" in said
    assert "NEXTBATCH_ALLOW_PUBLIC_BIND" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("setting", "value", "said"),
    [
        ("PORT", "no", "port"),
        ("WORKERS", "0", "workers"),
        ("FAILPOINTS", '{"before-commit": 1}', "refusing NEXTBATCH_FAILPOINTS"),
        ("DATABASE_URL", "what", "database_url"),
        ("DATABASE_URL", "mysql://x/y", "database_url"),
        ("DATABASE_URL", "postgresql://nobody:secret@127.0.0.1:1/none", "database does not answer"),
        ("DATABASE_URL", "sqlite:////nowhere/at/all.sqlite3", "database does not answer"),
    ],
)
def test_a_setting_that_cannot_work(refused: Refused, setting: str, value: str, said: str) -> None:
    line = refused("migrate", **{f"NEXTBATCH_{setting}": value})
    assert said in line
    assert "secret" not in line


def test_a_healthcheck_without_a_server(refused: Refused) -> None:
    assert "refused" in refused("healthcheck", "--port", "1")


def test_keys_of_a_database_that_was_never_migrated(refused: Refused) -> None:
    assert "nextbatch migrate" in refused("keys", "list")
