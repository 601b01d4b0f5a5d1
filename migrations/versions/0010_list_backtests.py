"""Backtests of lists that belong to no study: how far they are, and what came out.

Nothing else changes, and older processes may go on beside this one.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "list_backtests",
        sa.Column("key_id", sa.String(length=20), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.Column("updated_at", sa.String(length=32), nullable=False),
        sa.ForeignKeyConstraint(["key_id"], ["api_keys.id"], name=op.f("fk_list_backtests_key_id")),
        sa.PrimaryKeyConstraint("key_id", "number", name=op.f("pk_list_backtests")),
    )
    op.create_index("ix_list_backtests_created_at", "list_backtests", ["created_at"])


def downgrade() -> None:
    """The results of these backtests go."""
    op.drop_table("list_backtests")
