"""The tables, once for both databases. Alembic's migrations make them; a test compares the two."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


def _study_id() -> Column[int]:
    return Column("study_id", Integer, ForeignKey("studies.id"), primary_key=True)


studies = Table(
    "studies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(100), nullable=False),
    Column("state", String(20), nullable=False),
    Column("configuration", Text, nullable=False),
    Column("requested", Text, nullable=False),  # the configuration as created: the same request again is no conflict
    Column("columns", Text, nullable=False),
    Column("candidates", Integer, nullable=False),
    Column("reservations", Text, nullable=False, server_default="[]"),  # candidates that are measured without a batch
    Column("imports", Text, nullable=False, server_default="[]"),  # which events came in archives, and from where
    Column("version", Integer, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("head", String(64), nullable=False),
    Column("created_at", String(32), nullable=False),
    Column("sealed_as", String(100)),  # its earlier name, if it was deleted and another study has that name now
    UniqueConstraint("name"),
)

# Append-only: triggers refuse UPDATE and DELETE (see the first migration).
events = Table(
    "events",
    metadata,
    _study_id(),
    Column("seq", Integer, primary_key=True),
    Column("type", String(50), nullable=False),
    Column("format", Integer, nullable=False),
    Column("payload", Text, nullable=False),
    Column("actor", String(50), nullable=False),
    Column("reason", Text),
    Column("recorded_at", String(32), nullable=False),
    Column("request_id", String(100), nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
)

# A blob is one array, named by the SHA-256 of its bytes. It is listed here only when all its chunks are stored.
blobs = Table(
    "blobs",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("scope", String(100), nullable=False),
    Column("dtype", String(10), nullable=False),
    Column("shape", String(100), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("created_at", String(32), nullable=False),
)

blob_chunks = Table(
    "blob_chunks",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

# One upload is one block of rows; `arrays` names its blobs by their digests.
candidate_blocks = Table(
    "candidate_blocks",
    metadata,
    _study_id(),
    Column("number", Integer, primary_key=True),
    Column("first", Integer, nullable=False),
    Column("rows", Integer, nullable=False),
    Column("arrays", Text, nullable=False),
    Column("stored_in", String(20), nullable=False),
    Column("seq", Integer, nullable=False),
)

unavailable_candidates = Table(
    "unavailable_candidates",
    metadata,
    _study_id(),
    Column("candidate", Integer, primary_key=True),
    Column("reason", Text, nullable=False),
    Column("seq", Integer, nullable=False),
)

batches = Table(
    "batches",
    metadata,
    _study_id(),
    Column("number", Integer, primary_key=True),
    Column("worker", String(100), nullable=False),
    Column("state", String(20), nullable=False),
    Column("size", Integer, nullable=False),
    Column("basis_seq", Integer, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("record", Text, nullable=False),
    Column("computation", Text, nullable=False),
    Column("created_at", String(32), nullable=False),
    CheckConstraint("number >= 1", name="numbered_from_one"),
)
Index(
    "uq_batches_open_worker",
    batches.c.study_id,
    batches.c.worker,
    unique=True,
    sqlite_where=text("state = 'open'"),
    postgresql_where=text("state = 'open'"),
)

suggestions = Table(
    "suggestions",
    metadata,
    _study_id(),
    Column("batch", Integer, primary_key=True),
    Column("rank", Integer, primary_key=True),
    Column("candidate", Integer, nullable=False),
    Column("replicates", Integer, nullable=False),
    Column("state", String(20), nullable=False),
    Column("why", Text, nullable=False),
    ForeignKeyConstraint(["study_id", "batch"], ["batches.study_id", "batches.number"], name="fk_suggestions_batch"),
    Index("ix_suggestions_study_id_state", "study_id", "state"),
    Index("ix_suggestions_study_id_candidate", "study_id", "candidate"),
)

observations = Table(
    "observations",
    metadata,
    _study_id(),
    Column("number", Integer, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("current", Boolean, nullable=False),
    Column("kind", String(20), nullable=False),
    Column("candidate", Integer, nullable=False),
    Column("batch", Integer),
    Column("rank", Integer),
    Column("replicate", Integer),
    Column("values", Text, nullable=False),  # JSON: SQLite's REAL would turn −0.0 into 0.0
    Column("ref", String(200)),
    Column("measured_at", String(40)),
    Column("measured_by", String(200)),
    Column("note", Text),
    Column("actor", String(50), nullable=False),
    Column("reason", Text),
    Column("recorded_at", String(32), nullable=False),
    Column("seq", Integer, nullable=False),
    ForeignKeyConstraint(
        ["study_id", "batch", "rank"],
        ["suggestions.study_id", "suggestions.batch", "suggestions.rank"],
        name="fk_observations_suggestion",
    ),
    Index("ix_observations_study_id_candidate", "study_id", "candidate"),
)
Index(
    "uq_observations_replicate",
    observations.c.study_id,
    observations.c.batch,
    observations.c.rank,
    observations.c.replicate,
    unique=True,
    sqlite_where=text("version = 1 AND replicate IS NOT NULL"),
    postgresql_where=text("version = 1 AND replicate IS NOT NULL"),
)
Index(
    "uq_observations_ref",
    observations.c.study_id,
    observations.c.ref,
    unique=True,
    sqlite_where=text("version = 1 AND ref IS NOT NULL"),
    postgresql_where=text("version = 1 AND ref IS NOT NULL"),
)

# A cache: lost or damaged rows are computed again from the ledger. `head` is the hash of the event that it follows.
snapshots = Table(
    "snapshots",
    metadata,
    _study_id(),
    Column("head", String(64), primary_key=True),
    Column("build", String(200), primary_key=True),
    Column("seq", Integer, nullable=False),
    Column("record", Text, nullable=False),
    Column("checksum", String(64), nullable=False),
    Column("created_at", String(32), nullable=False),
)

snapshot_blobs = Table(
    "snapshot_blobs",
    metadata,
    _study_id(),
    Column("head", String(64), primary_key=True),
    Column("build", String(200), primary_key=True),
    Column("digest", String(64), primary_key=True),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", String(20), primary_key=True),
    Column("name", String(100), nullable=False),
    Column("role", String(20), nullable=False),
    Column("secret_hash", String(64), nullable=False),
    Column("created_at", String(32), nullable=False),
    Column("expires_at", String(32)),
    Column("revoked_at", String(32)),
    Column("last_used_at", String(32)),
    Column("subject", String(500)),  # the person who signs on elsewhere: issuer and subject
    Index("uq_api_keys_subject", "subject", unique=True),
)

# Further secrets of a key, each for a while: the one before a rotation, and those of browsers that signed on elsewhere.
key_secrets = Table(
    "key_secrets",
    metadata,
    Column("key_id", String(20), ForeignKey("api_keys.id"), primary_key=True),
    Column("secret_hash", String(64), primary_key=True),
    Column("expires_at", String(32), nullable=False),
)

# A ticket opens one event stream, once, within a minute.
stream_tickets = Table(
    "stream_tickets",
    metadata,
    Column("ticket_hash", String(64), primary_key=True),
    Column("key_id", String(20), ForeignKey("api_keys.id"), nullable=False),
    Column("study", String(100), nullable=False),
    Column("expires_at", String(32), nullable=False),
)

grants = Table(
    "grants",
    metadata,
    Column("key_id", String(20), ForeignKey("api_keys.id"), primary_key=True),
    Column("study_id", Integer, ForeignKey("studies.id"), primary_key=True),
    Index("ix_grants_study_id", "study_id"),
)

# Append-only: triggers refuse UPDATE and DELETE (see the migration that made it).
audit = Table(
    "audit",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("action", String(50), nullable=False),
    Column("actor", String(50), nullable=False),
    Column("details", Text, nullable=False),
    Column("address", String(100)),
    Column("recorded_at", String(32), nullable=False),
    Column("request_id", String(100), nullable=False),
    Column("previous", String(64), nullable=False),
    Column("hash", String(64), nullable=False),
)

# Simulations that people asked for; not derived from the ledger, and no part of it.
backtests = Table(
    "backtests",
    metadata,
    _study_id(),
    Column("number", Integer, primary_key=True),
    Column("state", String(20), nullable=False),
    Column("plan", Text, nullable=False),
    Column("done", Integer, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("result", Text),
    Column("problem", Text),
    Column("created_at", String(32), nullable=False),
    Column("updated_at", String(32), nullable=False),
)

# Backtests of lists that belong to no study: of the key that sent them, and dropped after a while.
list_backtests = Table(
    "list_backtests",
    metadata,
    Column("key_id", String(20), ForeignKey("api_keys.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("state", String(20), nullable=False),
    Column("plan", Text, nullable=False),
    Column("done", Integer, nullable=False),
    Column("result", Text),
    Column("problem", Text),
    Column("created_at", String(32), nullable=False),
    Column("updated_at", String(32), nullable=False),
    Index("ix_list_backtests_created_at", "created_at"),
)

idempotency = Table(
    "idempotency",
    metadata,
    Column("key_id", String(20), primary_key=True),
    Column("token", String(200), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("status", Integer),
    Column("headers", Text),
    Column("body", LargeBinary),
    Column("created_at", String(32), nullable=False),
    Index("ix_idempotency_created_at", "created_at"),
)
