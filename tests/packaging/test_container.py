"""The container's files: linted, non-root, no secret in them, and a healthcheck. No engine runs here."""

import re
import subprocess
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())


def test_the_dockerfile_is_lint_free() -> None:
    hadolint = Path(sys.executable).with_name("hadolint")
    linted = subprocess.run([hadolint, ROOT / "Dockerfile"], capture_output=True, text=True, check=False)
    assert linted.stdout == ""


def test_what_runs_has_no_rights_and_tells_its_health() -> None:
    last_stage = DOCKERFILE.split("FROM ")[-1]
    assert re.search(r"^USER (?!0\b)\d+:\d+$", last_stage, re.MULTILINE)
    assert "HEALTHCHECK" in last_stage
    assert '["nextbatch", "healthcheck"]' in last_stage
    assert "COPY --from=build" in last_stage
    assert "pip" not in last_stage


def test_everything_from_an_index_is_checked_by_hash() -> None:
    installs = re.findall(r"pip install ([^\n&]+)", DOCKERFILE)
    assert installs
    assert all("--require-hashes" in line or "--no-index" in line for line in installs)


def test_what_is_copied_is_there_and_not_ignored() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    for sources in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE):
        for source in sources.split():
            assert list(ROOT.glob(source))
            assert source.split("/")[0] in kept or source in kept


def test_the_compose_file_has_no_password_and_a_read_only_server() -> None:
    server, database = COMPOSE["services"]["server"], COMPOSE["services"]["database"]
    assert server["read_only"] is True
    assert server["cap_drop"] == ["ALL"]
    assert any(mount.startswith("/tmp") for mount in server["tmpfs"])  # noqa: S108
    assert server["ports"] == ["127.0.0.1:8000:8000"]
    assert "POSTGRES_PASSWORD" not in database["environment"]
    assert database["environment"]["POSTGRES_PASSWORD_FILE"] == "/run/secrets/postgres-password"  # noqa: S105
    assert COMPOSE["secrets"]["postgres-password"]["file"] not in ("", None)
    ignored = subprocess.run(["git", "check-ignore", "-q", "secrets/postgres-password"], cwd=ROOT, check=False)
    assert ignored.returncode == 0
