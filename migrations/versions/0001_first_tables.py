"""The first tables: studies, ledger, candidates, batches, observations, keys.

The ledger is append-only: triggers on both databases refuse UPDATE and DELETE (and TRUNCATE on PostgreSQL).
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


_APPEND_ONLY = {
    "sqlite": [
        f"""CREATE TRIGGER events_refuse_{action.lower()} BEFORE {action} ON events
            BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"""
        for action in ("UPDATE", "DELETE")
    ],
    "postgresql": [
        """CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$""",
        """CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
           FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()""",
        # Arrays of floats do not compress: keep them out of line as they are.
        "ALTER TABLE blob_chunks ALTER COLUMN content SET STORAGE EXTERNAL",
    ],
}


def upgrade() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.Column("expires_at", sa.String(length=32), nullable=True),
        sa.Column("revoked_at", sa.String(length=32), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
    )
    op.create_table(
        "blob_chunks",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("digest", "number", name=op.f("pk_blob_chunks")),
    )
    op.create_table(
        "blobs",
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("scope", sa.String(length=100), nullable=False),
        sa.Column("dtype", sa.String(length=10), nullable=False),
        sa.Column("shape", sa.String(length=100), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_blobs")),
    )
    op.create_table(
        "idempotency",
        sa.Column("key_id", sa.String(length=20), nullable=False),
        sa.Column("token", sa.String(length=200), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("headers", sa.Text(), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("key_id", "token", name=op.f("pk_idempotency")),
    )
    with op.batch_alter_table("idempotency", schema=None) as batch_op:
        batch_op.create_index("ix_idempotency_created_at", ["created_at"], unique=False)

    op.create_table(
        "studies",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("configuration", sa.Text(), nullable=False),
        sa.Column("requested", sa.Text(), nullable=False),
        sa.Column("columns", sa.Text(), nullable=False),
        sa.Column("candidates", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("head", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_studies")),
        sa.UniqueConstraint("name", name=op.f("uq_studies_name")),
    )
    op.create_table(
        "batches",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=100), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("basis_seq", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.Column("computation", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.CheckConstraint("number >= 1", name=op.f("ck_batches_numbered_from_one")),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name=op.f("fk_batches_study_id")),
        sa.PrimaryKeyConstraint("study_id", "number", name=op.f("pk_batches")),
    )
    with op.batch_alter_table("batches", schema=None) as batch_op:
        batch_op.create_index(
            "uq_batches_open_worker",
            ["study_id", "worker"],
            unique=True,
            sqlite_where=sa.text("state = 'open'"),
            postgresql_where=sa.text("state = 'open'"),
        )

    op.create_table(
        "candidate_blocks",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("first", sa.Integer(), nullable=False),
        sa.Column("rows", sa.Integer(), nullable=False),
        sa.Column("arrays", sa.Text(), nullable=False),
        sa.Column("stored_in", sa.String(length=20), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name=op.f("fk_candidate_blocks_study_id")),
        sa.PrimaryKeyConstraint("study_id", "number", name=op.f("pk_candidate_blocks")),
    )
    op.create_table(
        "events",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("type", sa.String(length=50), nullable=False),
        sa.Column("format", sa.Integer(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.Column("actor", sa.String(length=50), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("recorded_at", sa.String(length=32), nullable=False),
        sa.Column("request_id", sa.String(length=100), nullable=False),
        sa.Column("previous", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name=op.f("fk_events_study_id")),
        sa.PrimaryKeyConstraint("study_id", "seq", name=op.f("pk_events")),
    )
    op.create_table(
        "grants",
        sa.Column("key_id", sa.String(length=20), nullable=False),
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["key_id"], ["api_keys.id"], name=op.f("fk_grants_key_id")),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name=op.f("fk_grants_study_id")),
        sa.PrimaryKeyConstraint("key_id", "study_id", name=op.f("pk_grants")),
    )
    with op.batch_alter_table("grants", schema=None) as batch_op:
        batch_op.create_index("ix_grants_study_id", ["study_id"], unique=False)

    op.create_table(
        "snapshot_blobs",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("head", sa.String(length=64), nullable=False),
        sa.Column("build", sa.String(length=200), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name=op.f("fk_snapshot_blobs_study_id")),
        sa.PrimaryKeyConstraint("study_id", "head", "build", "digest", name=op.f("pk_snapshot_blobs")),
    )
    op.create_table(
        "snapshots",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("head", sa.String(length=64), nullable=False),
        sa.Column("build", sa.String(length=200), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("record", sa.Text(), nullable=False),
        sa.Column("checksum", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name=op.f("fk_snapshots_study_id")),
        sa.PrimaryKeyConstraint("study_id", "head", "build", name=op.f("pk_snapshots")),
    )
    op.create_table(
        "unavailable_candidates",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("candidate", sa.Integer(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name=op.f("fk_unavailable_candidates_study_id")),
        sa.PrimaryKeyConstraint("study_id", "candidate", name=op.f("pk_unavailable_candidates")),
    )
    op.create_table(
        "suggestions",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("candidate", sa.Integer(), nullable=False),
        sa.Column("replicates", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id", "batch"], ["batches.study_id", "batches.number"], name="fk_suggestions_batch"
        ),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name=op.f("fk_suggestions_study_id")),
        sa.PrimaryKeyConstraint("study_id", "batch", "rank", name=op.f("pk_suggestions")),
    )
    with op.batch_alter_table("suggestions", schema=None) as batch_op:
        batch_op.create_index("ix_suggestions_study_id_candidate", ["study_id", "candidate"], unique=False)
        batch_op.create_index("ix_suggestions_study_id_state", ["study_id", "state"], unique=False)

    op.create_table(
        "observations",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("current", sa.Boolean(), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("candidate", sa.Integer(), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=True),
        sa.Column("rank", sa.Integer(), nullable=True),
        sa.Column("replicate", sa.Integer(), nullable=True),
        sa.Column("values", sa.Text(), nullable=False),
        sa.Column("ref", sa.String(length=200), nullable=True),
        sa.Column("measured_at", sa.String(length=40), nullable=True),
        sa.Column("measured_by", sa.String(length=200), nullable=True),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("actor", sa.String(length=50), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("recorded_at", sa.String(length=32), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["study_id", "batch", "rank"],
            ["suggestions.study_id", "suggestions.batch", "suggestions.rank"],
            name="fk_observations_suggestion",
        ),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name=op.f("fk_observations_study_id")),
        sa.PrimaryKeyConstraint("study_id", "number", "version", name=op.f("pk_observations")),
    )
    with op.batch_alter_table("observations", schema=None) as batch_op:
        batch_op.create_index("ix_observations_study_id_candidate", ["study_id", "candidate"], unique=False)
        batch_op.create_index(
            "uq_observations_ref",
            ["study_id", "ref"],
            unique=True,
            sqlite_where=sa.text("version = 1 AND ref IS NOT NULL"),
            postgresql_where=sa.text("version = 1 AND ref IS NOT NULL"),
        )
        batch_op.create_index(
            "uq_observations_replicate",
            ["study_id", "batch", "rank", "replicate"],
            unique=True,
            sqlite_where=sa.text("version = 1 AND replicate IS NOT NULL"),
            postgresql_where=sa.text("version = 1 AND replicate IS NOT NULL"),
        )
    for statement in _APPEND_ONLY[op.get_bind().dialect.name]:
        op.execute(statement)


def downgrade() -> None:
    with op.batch_alter_table("observations", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_observations_replicate",
            sqlite_where=sa.text("version = 1 AND replicate IS NOT NULL"),
            postgresql_where=sa.text("version = 1 AND replicate IS NOT NULL"),
        )
        batch_op.drop_index(
            "uq_observations_ref",
            sqlite_where=sa.text("version = 1 AND ref IS NOT NULL"),
            postgresql_where=sa.text("version = 1 AND ref IS NOT NULL"),
        )
        batch_op.drop_index("ix_observations_study_id_candidate")

    op.drop_table("observations")
    with op.batch_alter_table("suggestions", schema=None) as batch_op:
        batch_op.drop_index("ix_suggestions_study_id_state")
        batch_op.drop_index("ix_suggestions_study_id_candidate")

    op.drop_table("suggestions")
    op.drop_table("unavailable_candidates")
    with op.batch_alter_table("grants", schema=None) as batch_op:
        batch_op.drop_index("ix_grants_study_id")

    op.drop_table("grants")
    op.drop_table("events")
    op.drop_table("snapshots")
    op.drop_table("snapshot_blobs")
    op.drop_table("candidate_blocks")
    with op.batch_alter_table("batches", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_batches_open_worker", sqlite_where=sa.text("state = 'open'"), postgresql_where=sa.text("state = 'open'")
        )

    op.drop_table("batches")
    op.drop_table("studies")
    with op.batch_alter_table("idempotency", schema=None) as batch_op:
        batch_op.drop_index("ix_idempotency_created_at")

    op.drop_table("idempotency")
    op.drop_table("blobs")
    op.drop_table("blob_chunks")
    op.drop_table("api_keys")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION refuse_change()")
