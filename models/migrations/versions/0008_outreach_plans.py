"""Add what outreach accounts cost: a plan for each workspace, and each change of what is charged.

Revision: 0008
Follows: 0006
"""

import sqlalchemy as sa
import sqlmodel
from alembic import op

revision = "0008"
down_revision = "0006"
branch_labels = None
depends_on = None

TEXT, TIME = sqlmodel.sql.sqltypes.AutoString(), sa.DateTime(timezone=True)
WAITING = "select 'outreach_plan'::text as kind, id, rings, answered, wake_at from outreach_plans"
CONNECTED = """
insert into outreach_plans (id, workspace_id, rings, answered, charged, past_due, failures, created_at)
select distinct workspace_id, workspace_id, 1, 0, 0, false, 0, service_now() from outreach_accounts
 where connected_at is not null and status <> 'removed'
"""


def _waiting_rows() -> str:
    """The view's own query as it stands, whatever other migrations have added to it."""
    query: str = op.get_bind().execute(sa.text("select pg_get_viewdef('waiting_rows')")).scalar_one()
    return query.strip().removesuffix(";")


def upgrade() -> None:
    op.create_table(
        "outreach_plans",
        sa.Column("rings", sa.BigInteger(), nullable=False),
        sa.Column("answered", sa.BigInteger(), nullable=False),
        sa.Column("wake_at", TIME, nullable=True),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("workspace_id", TEXT, nullable=False),
        sa.Column("subscription_id", TEXT, nullable=True),
        sa.Column("charged", sa.Integer(), nullable=False),
        sa.Column("method_id", TEXT, nullable=True),
        sa.Column("past_due", sa.Boolean(), nullable=False),
        sa.Column("changed_at", TIME, nullable=True),
        sa.Column("looked_at", TIME, nullable=True),
        sa.Column("unpaid_since", TIME, nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("retry_at", TIME, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_outreach_plans_workspace_id_workspaces")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outreach_plans")),
    )
    op.create_index(
        "ix_outreach_plans_rung", "outreach_plans", ["id"], postgresql_where=sa.text("rings > answered")
    )
    op.create_index(
        "ix_outreach_plans_wake_at", "outreach_plans", ["wake_at"], postgresql_where=sa.text("wake_at is not null")
    )
    op.create_table(
        "outreach_changes",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("workspace_id", TEXT, nullable=False),
        sa.Column("accounts", sa.Integer(), nullable=False),
        sa.Column("amount_cents", sa.Integer(), nullable=False),
        sa.Column("method_id", TEXT, nullable=True),
        sa.Column("status", TEXT, nullable=False),
        sa.Column("reason", TEXT, nullable=True),
        sa.Column("call_number", sa.Integer(), nullable=False),
        sa.Column("unclear", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", TIME, nullable=False),
        sa.Column("ended_at", TIME, nullable=True),
        sa.CheckConstraint("status in ('pending', 'calling', 'done', 'declined', 'failed')", name="status"),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_outreach_changes_workspace_id_workspaces")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_outreach_changes")),
    )
    op.create_index(
        "ix_outreach_changes_workspace_id_created_at", "outreach_changes", ["workspace_id", "created_at"]
    )
    op.create_index(
        "uq_outreach_changes_open",
        "outreach_changes",
        ["workspace_id"],
        unique=True,
        postgresql_where=sa.text("status in ('pending', 'calling')"),
    )
    op.execute(CONNECTED)
    op.execute(f"create or replace view waiting_rows as {_waiting_rows()} union all {WAITING}")


def downgrade() -> None:
    others = [part for part in _waiting_rows().split("UNION ALL") if "outreach_plans" not in part]
    op.execute("drop view waiting_rows")
    op.execute("create view waiting_rows as " + " union all ".join(others))
    op.drop_table("outreach_changes")
    op.drop_table("outreach_plans")
