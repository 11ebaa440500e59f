"""Add the indexes that the plans on large data ask for, and write policies so that the planner can read them.

Revision: 0010
Follows: 0009
"""

import sqlalchemy as sa
from alembic import op


revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

OPEN = "status in ('scheduled', 'active', 'awaiting_approval', 'waiting_for_accept', 'paused')"

OWNED = """
select c.table_name, bool_or(c.column_name = 'tenant_id')
  from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
 where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.column_name in ('workspace_id', 'tenant_id')
 group by c.table_name having bool_or(c.column_name = 'workspace_id') order by c.table_name
"""
BEFORE = "(select current_setting('app.{whose}', true)) in ('*', {column})"
"""A condition that the planner estimates at one row in a hundred, whatever the settings say."""
NOW = "(current_setting('app.{whose}', true) = '*' or {column} = current_setting('app.{whose}', true))"
"""Settings are read while planning, so that the share of the tenant's rows is known."""


def _write_policies(form: str) -> None:
    workspace = form.format(whose="workspace", column="workspace_id")
    tenant = form.format(whose="tenant", column="tenant_id")
    owned = {
        table: f"{workspace} and {tenant}" if of_tenant else workspace
        for table, of_tenant in op.get_bind().execute(sa.text(OWNED))
    }
    for table, reached in (owned | {"workspaces": form.format(whose="workspace", column="id")}).items():
        op.execute(f"alter policy reach on {table} using ({reached}) with check ({reached})")


def upgrade() -> None:
    _write_policies(NOW)
    op.create_index(
        "ix_actions_first_touches",
        "actions",
        ["account_id"],
        postgresql_where=sa.text("outcome = 'scheduled' and first_touch"),
    )
    op.create_index(
        "ix_enrollments_uninvited",
        "enrollments",
        ["account_id"],
        postgresql_where=sa.text(f"{OPEN} and invited_at is null"),
    )
    op.create_index("ix_contacts_found_at", "contacts", ["found_at"])
    op.create_index("ix_customers_workspace_id_created_at_id", "customers", ["workspace_id", "created_at", "id"])
    op.create_index("ix_query_totals_created_at", "query_totals", ["created_at"])
    op.create_index("ix_runs_plan_id", "runs", ["plan_id"])
    op.create_index(
        "ix_suppressions_profile_id",
        "suppressions",
        ["profile_id"],
        postgresql_where=sa.text("profile_id is not null"),
    )


def downgrade() -> None:
    _write_policies(BEFORE)
    op.drop_index("ix_suppressions_profile_id", table_name="suppressions")
    op.drop_index("ix_runs_plan_id", table_name="runs")
    op.drop_index("ix_query_totals_created_at", table_name="query_totals")
    op.drop_index("ix_customers_workspace_id_created_at_id", table_name="customers")
    op.drop_index("ix_contacts_found_at", table_name="contacts")
    op.drop_index("ix_enrollments_uninvited", table_name="enrollments")
    op.drop_index("ix_actions_first_touches", table_name="actions")
