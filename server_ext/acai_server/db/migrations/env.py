"""Runs migrations over the connection that `schema.py` hands in."""

from __future__ import annotations

from alembic import context

from acai_server.db.tables import Table

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Table.metadata,
    render_as_batch=True,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
