"""Where a study's events come from: the imports that brought some of them.

A study that was imported before this version has no such mark, and looks native.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table("studies") as studies:
        studies.add_column(sa.Column("imports", sa.Text(), nullable=False, server_default="[]"))


def downgrade() -> None:
    """The column goes; the events that it was made from stay in the ledger."""
    with op.batch_alter_table("studies") as studies:
        studies.drop_column("imports")
