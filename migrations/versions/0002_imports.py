"""Where a study's events come from: the imports that brought some of them.

Reads tell the origin of every event, batch and result. They find it in this column, which is derived from the events
`study-imported`, because a page of results should not have to read the ledger.

A study that was imported before this version has no such event, and still looks native. Its ledger tells nothing else,
so there is nothing to fill the column with. Import its archive again, under the present rules, to have it checked and
marked: export it, delete it, and import it on a server where its name is free.
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Every study that exists begins without imports.

    The default of the column serves older processes, which go on while this one upgrades.
    """
    with op.batch_alter_table("studies") as studies:
        studies.add_column(sa.Column("imports", sa.Text(), nullable=False, server_default="[]"))


def downgrade() -> None:
    """The column goes. The events that it is derived from stay in the ledger."""
    with op.batch_alter_table("studies") as studies:
        studies.drop_column("imports")
