"""Alembic's entry: runs on the connection it is given, inside a transaction that somebody else commits."""

from alembic import context

from app.storage.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
    compare_type=True,
    transactional_ddl=True,
)
context.run_migrations()
