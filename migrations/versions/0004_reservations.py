"""Reservations: which candidates somebody will measure without a batch.

They are derived from the events `candidates-reserved` and those that end a reservation. The row of the study holds
them, so that an ask and a report, which read that row in any case, need no further statement.

A ledger of before this version has no such event, so there is nothing to fill the column with.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """No study that exists has a reservation.

    The default of the column serves older processes, which go on while this one upgrades.
    """
    with op.batch_alter_table("studies") as studies:
        studies.add_column(sa.Column("reservations", sa.Text(), nullable=False, server_default="[]"))


def downgrade() -> None:
    """The column goes. The events that it is derived from stay in the ledger."""
    with op.batch_alter_table("studies") as studies:
        studies.drop_column("reservations")
