"""Settings: read once from the environment, frozen, safe by default, and every one documented."""

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from app.settings import Settings

ROOT = Path(__file__).parents[1]
VARIABLES = {f"NEXTBATCH_{name.upper()}" for name in Settings.model_fields}


def _rows(document: str) -> dict[str, str]:
    """The rows of its table of settings, by the variable."""
    rows = re.findall(r"^(\| `(NEXTBATCH_[A-Z_]+)` \|.*)$", (ROOT / document).read_text(), re.MULTILINE)
    return {variable: row for row, variable in rows}


def test_every_setting_is_documented_and_nothing_else() -> None:
    assert sorted(_rows("docs/settings.md")) == sorted(VARIABLES)


def test_the_readme_says_of_settings_what_their_page_says() -> None:
    assert _rows("README.md").items() <= _rows("docs/settings.md").items()
    assert _rows("README.md")


def test_what_is_documented_is_what_the_code_says() -> None:
    text = (ROOT / "docs/settings.md").read_text()
    missing = [name for name, field in Settings.model_fields.items() if str(field.description) not in text]
    assert missing == []


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXTBATCH_PORT", "9000")
    settings = Settings()
    assert settings.port == 9000


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("lab.example.org", ("lab.example.org",)),
        ("lab.example.org, [::1],", ("lab.example.org", "[::1]")),
        ("[::1], localhost", ("[::1]", "localhost")),
        ('["lab.example", "localhost"]', ("lab.example", "localhost")),
        ("*", ("*",)),
    ],
)
def test_a_list_is_written_with_commas_or_as_json(
    monkeypatch: pytest.MonkeyPatch, written: str, meant: tuple[str, ...]
) -> None:
    monkeypatch.setenv("NEXTBATCH_ALLOWED_HOSTS", written)
    assert Settings().allowed_hosts == meant


def test_the_data_of_a_server_in_this_folder_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEXTBATCH_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    assert Settings().data != Path("data")
    (tmp_path / "data").mkdir()
    assert Settings().data != Path("data")
    (tmp_path / "data" / "admin.key").touch()
    assert Settings().data == Path("data")


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().port = 1


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
def test_this_machine_is_a_safe_place_to_listen(host: str) -> None:
    assert Settings(host=host).host == host


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "lab.example", ""])  # noqa: S104
def test_another_place_needs_the_flag(host: str) -> None:
    with pytest.raises(ValidationError, match="NEXTBATCH_ALLOW_PUBLIC_BIND"):
        Settings(host=host)
    assert Settings(host=host, allow_public_bind=True).host == host


def test_failpoints_need_development() -> None:
    with pytest.raises(ValidationError, match="NEXTBATCH_DEVELOPMENT"):
        Settings(failpoints={"locked": 1})
    assert Settings(failpoints={"locked": 1}, development=True).failpoints == {"locked": 1}


def test_development_stays_on_this_machine() -> None:
    with pytest.raises(ValidationError, match="NEXTBATCH_DEVELOPMENT"):
        Settings(development=True, host="10.0.0.1", allow_public_bind=True)


@pytest.mark.parametrize("points", [{"nowhere": 1}, {"locked": 0}])
def test_a_failpoint_that_cannot_work_is_refused(points: dict[str, int]) -> None:
    with pytest.raises(ValidationError, match=r"no such failpoint|greater than 0"):
        Settings(failpoints=points, development=True)


def test_the_database_is_sqlite_in_the_data_folder_unless_said(tmp_path: Path) -> None:
    assert Settings(data=tmp_path).database_address == f"sqlite:///{tmp_path / 'nextbatch.sqlite3'}"
    assert Settings(database_url="postgresql://x/y").database_address == "postgresql://x/y"
