"""Every setting of the server, read once from NEXTBATCH_* and frozen. docs/settings.md lists them."""

import json
import os
from collections.abc import Mapping
from difflib import get_close_matches
from hashlib import sha256
from importlib.util import find_spec
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal

from platformdirs import user_data_path
from pydantic import Field, PositiveInt, SecretStr, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from app import failpoints
from app.domain.access import Role

PREFIX = "NEXTBATCH_"
OF_THE_CLIENT = ("URL", "KEY")
LISTS = ("allowed_hosts", "trusted_proxies", "trusted_servers", "webhook_targets", "cors_origins", "sso_roles")
HERE = Path("data")  # where `make serve` keeps its data
ADMIN_KEY, DATABASE = "admin.key", "nextbatch.sqlite3"


def data_folder() -> Path:
    """`./data` if a server keeps its data there, else the platform's folder for data."""
    kept_here = any((HERE / name).exists() for name in (ADMIN_KEY, DATABASE))
    return HERE if kept_here else user_data_path("nextbatch")


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix=PREFIX, frozen=True, extra="ignore")

    data: Path = Field(
        default_factory=data_folder,
        description="Folder of the SQLite database, the first admin key and the signing key.",
    )
    database_url: str | None = Field(
        default=None,
        pattern=r"^(postgresql(\+psycopg)?://|sqlite:///)",
        description="`postgresql://…` or `sqlite:///…`; by default SQLite in the data folder.",
    )
    host: str = Field(default="127.0.0.1", description="Address to listen on.")
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on.")
    allow_public_bind: bool = Field(default=False, description="Allow a host other than loopback.")
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = Field(
        default=("localhost", "127.0.0.1", "[::1]"),
        description="Host names this server answers to, separated by commas; * for any.",
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        default=("127.0.0.1", "::1"),
        description="Addresses of proxies whose X-Forwarded-For and -Proto are believed, separated by commas.",
    )
    trusted_servers: Annotated[tuple[Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")], ...], NoDecode] = Field(
        default=(),
        description="Public keys of other servers whose archives need no further flag, separated by commas.",
    )
    webhook_targets: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(),
        description="Addresses that webhooks may send to, and private networks they may reach, separated by commas.",
    )
    webhook_hours: float = Field(
        default=72, gt=0, le=8760, description="Hours after which an undelivered message of a webhook is given up."
    )
    cors_origins: Annotated[tuple[Annotated[str, Field(pattern=r"^https?://[A-Za-z0-9.\-\[\]:]+$")], ...], NoDecode] = (
        Field(
            default=(),
            description="Origins of other pages that may call the API from a browser, separated by commas.",
        )
    )
    sso_issuer: str | None = Field(
        default=None,
        pattern=r"^(https://|http://(localhost|127\.0\.0\.1|\[::1\])[:/]?)",
        description="Address of the OpenID provider at which people may sign on (needs the extra `sso`).",
    )
    sso_client_id: str | None = Field(default=None, description="The id of this server at the provider.")
    sso_client_secret: SecretStr | None = Field(
        default=None, description="The secret of this server at the provider; none for a public client."
    )
    sso_roles: Annotated[tuple[str, ...], NoDecode] = Field(
        default=(), description="Roles by group, such as `lab-admins=admin,chemists=scientist`."
    )
    sso_groups_claim: str = Field(default="groups", description="The claim of the token that lists a person's groups.")
    sso_scopes: str = Field(default="", description="Further scopes to ask the provider for, separated by spaces.")
    sso_name: str = Field(default="single sign-on", description="What the page calls the provider.")
    sso_hours: float = Field(default=12, gt=0, le=720, description="Hours after which people sign on anew.")
    workers: int = Field(default=1, ge=1, le=64, description="Server processes.")
    compute: Literal["processes", "ray"] = Field(
        default="processes", description="Where batches are computed: `processes` of this machine, or actors on `ray`."
    )
    ray_address: str | None = Field(
        default=None,
        pattern=r"^[^/]+:\d+$",
        description="Address of a Ray cluster, `host:port`; by default the server starts one on this machine.",
    )
    compute_workers: int | None = Field(
        default=None,
        ge=0,
        le=64,
        description="Compute workers or actors per server process; 0 computes in the server process itself.",
    )
    database_connections: int = Field(default=10, ge=2, le=200, description="Database connections per process.")
    max_body_bytes: int = Field(default=512 * 2**20, ge=1024, description="Largest request body, for uploads.")
    max_json_bytes: int = Field(default=32 * 2**20, ge=1024, description="Largest JSON body.")
    max_candidates: int = Field(default=2_000_000, ge=1, description="Most candidates in a study.")
    max_columns: int = Field(default=5_000, ge=1, description="Most columns of a candidate.")
    max_cells: int = Field(
        default=20_000_000,
        ge=1,
        description="Most cells of a study's list, and of the features that the model makes of it.",
    )
    cache_bytes: int = Field(default=128 * 2**20, ge=0, description="Memory for cached arrays, per process.")
    array_folder: Path | None = Field(
        default=None,
        description="Folder in which large candidate arrays are files that all processes map; by default, each process "
        "reads its own copies into memory.",
    )
    model_bytes: int = Field(default=384 * 2**20, ge=0, description="Memory for cached models, per process.")
    work_bytes: int = Field(
        default=768 * 2**20, ge=2**20, description="Memory that requests in progress may take together, per process."
    )
    engine_threads: int = Field(
        default=2, ge=1, le=64, description="Batches computed at the same time, per process that computes."
    )
    sweep_threads: int = Field(
        default=1, ge=1, le=64, description="Threads that share each sweep over a long list, per batch."
    )
    spread_candidates: int = Field(
        default=2_000_000,
        ge=1,
        description="A list in shards with as many candidates is spread over the nodes of a Ray cluster.",
    )
    engine_seconds: float = Field(default=120, gt=0, description="Seconds one computation may take.")
    work_seconds: float = Field(default=300, gt=0, description="Seconds a long read, upload or check may take.")
    engine_queue: int = Field(default=64, ge=0, description="Asks that may wait for a thread, per process.")
    max_waiting: int = Field(default=200, ge=1, description="Requests that may wait for a thread, per process.")
    max_requests_per_second: float = Field(
        default=200,
        ge=0,
        description="Sustained requests per second of one key, per process; 0 for no limit.",
    )
    body_seconds: float = Field(
        default=30, gt=0, description="Seconds a body may take to arrive, plus one for every 10 kB of it."
    )
    max_streams: int = Field(default=200, ge=0, description="Open event streams, per process.")
    max_streams_per_key: int = Field(default=100, ge=0, description="Open event streams of one key, per process.")
    keep_answers_days: int = Field(
        default=30,
        ge=1,
        description="Days an Idempotency-Key is remembered by a running server.",
    )
    delete_days: int = Field(
        default=30, ge=0, le=36500, description="Days a deleted study can be restored; then it is erased for good."
    )
    audit_reads: bool = Field(
        default=False, description="Record every read of every key in the audit log, too; each then costs a write."
    )
    log_format: Literal["json", "console"] = Field(
        default="json", description="Format of log lines: `json` or `console`."
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Lowest level that is logged."
    )

    development: bool = Field(default=False, description="Allow settings for development; loopback only.")
    failpoints: dict[str, PositiveInt] = Field(
        default={},
        description='Where the process kills itself, as JSON: {"before-commit": 3} the third time it gets there.',
    )

    @field_validator(*LISTS, mode="before")
    @classmethod
    def _listed(cls, given: Any) -> Any:
        """A list as people write it, `a.example, b.example`, or as JSON."""
        if not isinstance(given, str):
            return given
        if given.lstrip().startswith("["):
            try:
                return json.loads(given)
            except ValueError:
                pass  # an IPv6 address has brackets, too
        return [entry for entry in map(str.strip, given.split(",")) if entry]

    @field_validator("webhook_targets")
    @classmethod
    def _targets(cls, targets: tuple[str, ...]) -> tuple[str, ...]:
        for target in targets:
            if not target.startswith(("https://", "http://")) and not _is_network(target):
                raise ValueError(f"write addresses like https://hooks.example.org or 10.1.0.0/16, not {target}")
        return targets

    @model_validator(mode="after")
    def _fails_only_in_development(self) -> "Settings":
        if self.failpoints and not self.development:
            raise ValueError(
                "refusing NEXTBATCH_FAILPOINTS: they kill the server. They need NEXTBATCH_DEVELOPMENT=true."
            )
        if self.development and not _is_loopback(self.host):
            raise ValueError(f"refusing to listen on {self.host} with NEXTBATCH_DEVELOPMENT=true.")
        if unknown := self.failpoints.keys() - failpoints.NAMES:
            raise ValueError(f"no such failpoint: {', '.join(sorted(unknown))}.")
        return self

    @model_validator(mode="after")
    def _signs_on(self) -> "Settings":
        if self.sso_issuer is not None and not (self.sso_client_id and self.sso_roles):
            raise ValueError("NEXTBATCH_SSO_ISSUER needs NEXTBATCH_SSO_CLIENT_ID and NEXTBATCH_SSO_ROLES.")
        for entry in self.sso_roles:
            if entry.rpartition("=")[2].strip() not in set(Role) or "=" not in entry:
                raise ValueError(f"NEXTBATCH_SSO_ROLES: write group=role with one of {', '.join(Role)}, not {entry}.")
        if self.sso_issuer is not None and find_spec("authlib") is None:
            raise ValueError("NEXTBATCH_SSO_ISSUER needs the extra `sso`: pip install 'nextbatch-server[sso]'.")
        return self

    @model_validator(mode="after")
    def _binds_safely(self) -> "Settings":
        if not self.allow_public_bind and not _is_loopback(self.host):
            raise ValueError(
                f"refusing to listen on {self.host}: other machines could reach it. "
                "If that is meant, set NEXTBATCH_ALLOW_PUBLIC_BIND=true and NEXTBATCH_ALLOWED_HOSTS."
            )
        return self

    @model_validator(mode="after")
    def _can_compute(self) -> "Settings":
        if self.compute != "ray":
            if self.ray_address is not None:
                raise ValueError("NEXTBATCH_RAY_ADDRESS is for NEXTBATCH_COMPUTE=ray: set both, or neither.")
            return self
        if self.compute_workers == 0:
            raise ValueError("NEXTBATCH_COMPUTE=ray needs at least one actor: NEXTBATCH_COMPUTE_WORKERS is 0.")
        if find_spec("ray") is None:
            raise ValueError("NEXTBATCH_COMPUTE=ray needs Ray: pip install 'nextbatch-server[ray]'.")
        return self

    @property
    def database_address(self) -> str:
        return self.database_url or f"sqlite:///{self.data / DATABASE}"

    @property
    def heads_file(self) -> Path:
        """Where the newest heads are remembered: beside a SQLite database, else in the data folder."""
        address = self.database_address
        if address.startswith("sqlite:///"):
            return Path(f"{address.removeprefix('sqlite:///').partition('?')[0]}-heads")
        return self.data / f"heads-{sha256(address.rpartition('@')[2].encode()).hexdigest()[:12]}"

    @property
    def admin_key_file(self) -> Path:
        return self.data / ADMIN_KEY

    @property
    def signing_key_file(self) -> Path:
        return self.data / "signing.key"


def read_settings(**given: object) -> Settings:
    """The settings of the environment, except those given. One line says what is wrong, under the variable's name."""
    must_be_known(os.environ)
    try:
        return Settings(**{name: value for name, value in given.items() if value is not None})  # type: ignore[arg-type]
    except ValidationError as error:
        raise ValueError("; ".join(map(_finding, error.errors()))) from error


def must_be_known(variables: Mapping[str, str]) -> None:
    """Refuse a variable that looks like a setting and is none: somebody relies on it."""
    known = {*(name.upper() for name in Settings.model_fields), *OF_THE_CLIENT}
    for variable in sorted(variables):
        name = variable.upper().removeprefix(PREFIX)
        if variable.upper().startswith(PREFIX) and name not in known:
            likely = get_close_matches(name, known, n=1)
            meant = f"Do you mean {PREFIX}{likely[0]}?" if likely else "docs/settings.md lists them all."
            raise ValueError(f"there is no setting {variable}. {meant}")


def _finding(error: ErrorDetails) -> str:
    name = ".".join(str(part) for part in error["loc"])
    words = error["msg"].removeprefix("Value error, ")
    if name == "database_url":
        words = "write postgresql://user:password@host/database, or sqlite:///path/to/a/file"
    return f"{PREFIX}{name.upper()}: {words}" if name else words


def _is_network(text: str) -> bool:
    try:
        ip_network(text)
    except ValueError:
        return False
    return True


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
