"""Webhooks: where messages go, how far each has read the ledger, and every delivery.

They are no part of a ledger, so nothing else changes, and older processes may go on beside this one.
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "webhooks",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("types", sa.Text(), nullable=False),
        sa.Column("salt", sa.String(length=32), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("earlier_until", sa.String(length=32), nullable=True),
        sa.Column("seen", sa.Integer(), nullable=False),
        sa.Column("checked_at", sa.String(length=32), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.Column("ended_at", sa.String(length=32), nullable=True),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name=op.f("fk_webhooks_study_id")),
        sa.PrimaryKeyConstraint("study_id", "number", name=op.f("pk_webhooks")),
    )
    op.create_table(
        "webhook_deliveries",
        sa.Column("study_id", sa.Integer(), nullable=False),
        sa.Column("webhook", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("subject", sa.String(length=100), nullable=False),
        sa.Column("type", sa.String(length=50), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("batch", sa.Integer(), nullable=True),
        sa.Column("rule", sa.String(length=50), nullable=True),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", sa.String(length=32), nullable=False),
        sa.Column("claimed_until", sa.String(length=32), nullable=False),
        sa.Column("created_at", sa.String(length=32), nullable=False),
        sa.Column("attempted_at", sa.String(length=32), nullable=True),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("problem", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["study_id", "webhook"],
            ["webhooks.study_id", "webhooks.number"],
            name=op.f("fk_webhook_deliveries_webhook"),
        ),
        sa.PrimaryKeyConstraint("study_id", "webhook", "number", name=op.f("pk_webhook_deliveries")),
        sa.UniqueConstraint(
            "study_id", "webhook", "subject", name=op.f("uq_webhook_deliveries_study_id_webhook_subject")
        ),
    )
    op.create_index("ix_webhook_deliveries_state", "webhook_deliveries", ["state"])


def downgrade() -> None:
    """Webhooks and the record of their deliveries go. The studies stay as they are."""
    op.drop_table("webhook_deliveries")
    op.drop_table("webhooks")
