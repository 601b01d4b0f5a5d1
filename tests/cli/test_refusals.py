"""What the command refuses, it refuses in one clear line and with exit code 1."""

import re
import socket
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
        ("PORT", "no", "NEXTBATCH_PORT: Input should be a valid integer"),
        ("WORKERS", "0", "NEXTBATCH_WORKERS: Input should be greater"),
        ("PRT", "9000", "there is no setting NEXTBATCH_PRT. Do you mean NEXTBATCH_PORT?"),
        ("XYZ", "1", "there is no setting NEXTBATCH_XYZ. docs/settings.md lists them all."),
        ("FAILPOINTS", '{"before-commit": 1}', "refusing NEXTBATCH_FAILPOINTS"),
        ("DATABASE_URL", "what", "NEXTBATCH_DATABASE_URL: write postgresql://"),
        ("DATABASE_URL", "mysql://x/y", "NEXTBATCH_DATABASE_URL: write postgresql://"),
        (
            "DATABASE_URL",
            "postgresql://nobody:secret@127.0.0.1:1/none",
            ":***@127.0.0.1:1/none does not answer: ",
        ),
        ("DATABASE_URL", "sqlite:////nowhere/at/all.sqlite3", "sqlite:////nowhere/at/all.sqlite3 does not answer: "),
    ],
)
def test_a_setting_that_cannot_work(refused: Refused, setting: str, value: str, said: str) -> None:
    line = refused("migrate", **{f"NEXTBATCH_{setting}": value})
    assert said in line
    assert "secret" not in line


def test_a_healthcheck_without_a_server(refused: Refused) -> None:
    assert "refused" in refused("healthcheck", "--port", "1")


def test_keys_of_a_database_that_was_never_migrated(refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "nextbatch.sqlite3").touch()
    assert "nextbatch migrate" in refused("keys", "list")


def test_a_port_that_another_program_has(refused: Refused, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused("serve", "--port", str(port))
    assert f"cannot listen on http://127.0.0.1:{port}" in said
    assert "--port" in said
    assert list(tmp_path.iterdir()) == []


def test_a_database_that_is_not_where_the_command_looks(refused: Refused, tmp_path: Path) -> None:
    said = refused("keys", "list")
    assert f"no database at {tmp_path / 'nextbatch.sqlite3'}" in said
    assert "NEXTBATCH_DATA" in said


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)
def test_a_database_that_was_never_created(refused: Refused, address: str) -> None:
    said = refused("migrate", NEXTBATCH_DATABASE_URL=re.sub(r"/test_\w+", "/nowhere", address))
    assert 'database "nowhere" does not exist' in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--objective", "yeild"), "column yeild: "),
        (("--objective", "yield", "--smiles", "solvent"), "row 3, column solvent: "),
        (("--objective", "yield"), "at least 3 candidates are needed, and 2 have some"),
        (("--objective", "yield", "--settings", "settings.json"), "`goal`"),
    ],
)
def test_a_file_that_cannot_be_backtested_is_refused_with_the_place(
    refused: Refused, arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "known.csv").write_text("heat,solvent,yield\n20,CCO,1\n30,water,2\n")
    (tmp_path / "settings.json").write_text('{"gaol": "explore"}')
    assert said in refused("backtest", "known.csv", *arguments)
