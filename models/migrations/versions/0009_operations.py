"""Add recoveries, what actions were read back for one, and the indexes of the operator's figures.

Revision: 0009
Follows: 0008
"""

import sqlalchemy as sa
import sqlmodel
from alembic import op


revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "recoveries",
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("since", sa.DateTime(timezone=True), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_recoveries")),
    )
    op.add_column("actions", sa.Column("doubted_at", sa.DateTime(timezone=True), nullable=True))
    op.create_index("ix_runs_open", "runs", ["workspace_id"], postgresql_where=sa.text("finished_at is null"))
    op.create_index(
        "ix_deliveries_pending_created_at",
        "deliveries",
        ["created_at"],
        postgresql_where=sa.text("status = 'pending'"),
    )


def downgrade() -> None:
    op.drop_index("ix_deliveries_pending_created_at", table_name="deliveries")
    op.drop_index("ix_runs_open", table_name="runs")
    op.drop_column("actions", "doubted_at")
    op.drop_table("recoveries")
