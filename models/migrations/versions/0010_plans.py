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


def downgrade() -> None:
    op.drop_index("ix_enrollments_uninvited", table_name="enrollments")
    op.drop_index("ix_actions_first_touches", table_name="actions")
