"""Deleted studies can be erased and their names used again; keys have several secrets, and say when they were used.

The ledger stays append-only but for one change: the payload and the reason of an event may be emptied, if the last
event of its study says that the study was erased. Everything that the chain of hashes needs stays.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_KEPT = ("study_id", "seq", "type", "format", "actor", "recorded_at", "request_id", "previous", "hash")
_SAME = " AND ".join(f"NEW.{name} = OLD.{name}" for name in _KEPT)
_LAST = "(SELECT type FROM events WHERE study_id = OLD.study_id ORDER BY seq DESC LIMIT 1) = 'study-erased'"
_ERASING = f"NEW.payload = '' AND NEW.reason IS NULL AND OLD.type <> 'study-erased' AND {_SAME} AND {_LAST}"
_REFUSE = "BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END"

_NEW = {
    "sqlite": [
        "DROP TRIGGER events_refuse_update",
        f"CREATE TRIGGER events_refuse_update BEFORE UPDATE ON events WHEN NOT ({_ERASING}) {_REFUSE}",
    ],
    "postgresql": [
        "DROP TRIGGER events_append_only ON events",
        """CREATE TRIGGER events_append_only BEFORE DELETE OR TRUNCATE ON events
           FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()""",
        f"""CREATE FUNCTION refuse_unless_erasing() RETURNS trigger LANGUAGE plpgsql AS
           $$ BEGIN
             IF {_ERASING} THEN RETURN NEW; END IF;
             RAISE EXCEPTION 'the ledger is append-only';
           END $$""",
        """CREATE TRIGGER events_only_erased BEFORE UPDATE ON events
           FOR EACH ROW EXECUTE FUNCTION refuse_unless_erasing()""",
    ],
}
_OLD = {
    "sqlite": [
        "DROP TRIGGER events_refuse_update",
        f"CREATE TRIGGER events_refuse_update BEFORE UPDATE ON events {_REFUSE}",
    ],
    "postgresql": [
        "DROP TRIGGER events_only_erased ON events",
        "DROP FUNCTION refuse_unless_erasing()",
        "DROP TRIGGER events_append_only ON events",
        """CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON events
           FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()""",
    ],
}


def upgrade() -> None:
    op.add_column("studies", sa.Column("sealed_as", sa.String(length=100), nullable=True))
    for statement in _NEW[op.get_bind().dialect.name]:
        op.execute(statement)
    op.add_column("api_keys", sa.Column("last_used_at", sa.String(length=32), nullable=True))
    op.add_column("api_keys", sa.Column("subject", sa.String(length=500), nullable=True))
    op.create_index("uq_api_keys_subject", "api_keys", ["subject"], unique=True)
    op.create_table(
        "key_secrets",
        sa.Column("key_id", sa.String(length=20), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("expires_at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["key_id"], ["api_keys.id"], name=op.f("fk_key_secrets_key_id")),
        sa.PrimaryKeyConstraint("key_id", "secret_hash", name=op.f("pk_key_secrets")),
    )
    op.create_table(
        "stream_tickets",
        sa.Column("ticket_hash", sa.String(length=64), nullable=False),
        sa.Column("key_id", sa.String(length=20), nullable=False),
        sa.Column("study", sa.String(length=100), nullable=False),
        sa.Column("expires_at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["key_id"], ["api_keys.id"], name=op.f("fk_stream_tickets_key_id")),
        sa.PrimaryKeyConstraint("ticket_hash", name=op.f("pk_stream_tickets")),
    )


def downgrade() -> None:
    """Deleted studies whose names were used again keep the names that they have now; their hashes need the old ones.

    Secrets from before a rotation, and browsers that signed on elsewhere, are refused from now on.
    """
    op.drop_table("stream_tickets")
    op.drop_table("key_secrets")
    op.drop_index("uq_api_keys_subject", "api_keys")
    op.drop_column("api_keys", "subject")
    op.drop_column("api_keys", "last_used_at")
    for statement in _OLD[op.get_bind().dialect.name]:
        op.execute(statement)
    op.drop_column("studies", "sealed_as")
