"""The audit log: who managed keys and access, signed in, exported and deleted, when, and from where.

Append-only like the ledger: triggers on both databases refuse UPDATE and DELETE (and TRUNCATE on PostgreSQL). What
happened before this version was never recorded, so the log begins empty.
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

_APPEND_ONLY = {
    "sqlite": [
        f"""CREATE TRIGGER audit_refuse_{action.lower()} BEFORE {action} ON audit
            BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END"""
        for action in ("UPDATE", "DELETE")
    ],
    "postgresql": [
        """CREATE TRIGGER audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
           FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()""",
    ],
}


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("seq", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("action", sa.String(length=50), nullable=False),
        sa.Column("actor", sa.String(length=50), nullable=False),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("address", sa.String(length=100), nullable=True),
        sa.Column("recorded_at", sa.String(length=32), nullable=False),
        sa.Column("request_id", sa.String(length=100), nullable=False),
        sa.Column("previous", sa.String(length=64), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_audit")),
    )
    for statement in _APPEND_ONLY[op.get_bind().dialect.name]:
        op.execute(statement)


def downgrade() -> None:
    """The log goes, and with it the record of who did what. Save it first: `nextbatch audit --json`."""
    op.drop_table("audit")
