"""Add the indexes that the plans on large data ask for.

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


def upgrade() -> None:
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
    op.drop_index("ix_suppressions_profile_id", table_name="suppressions")
    op.drop_index("ix_runs_plan_id", table_name="runs")
    op.drop_index("ix_query_totals_created_at", table_name="query_totals")
    op.drop_index("ix_customers_workspace_id_created_at_id", table_name="customers")
    op.drop_index("ix_contacts_found_at", table_name="contacts")
    op.drop_index("ix_enrollments_uninvited", table_name="enrollments")
    op.drop_index("ix_actions_first_touches", table_name="actions")
