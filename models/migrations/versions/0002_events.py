"""Add events and webhooks.

Revision: 0002
Follows: 0001
"""

import sqlalchemy as sa
import sqlmodel
from alembic import op
from sqlalchemy.dialects import postgresql


revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

WAITING_BEFORE = {"run": "runs", "mail": "mails", "housekeeping": "housekeeping"}
WAITING = WAITING_BEFORE | {"delivery": "deliveries"}


def _waiting_rows(tables: dict[str, str]) -> str:
    return "create view waiting_rows as " + " union all ".join(
        f"select '{kind}' as kind, id, rings, answered, wake_at from {table}" for kind, table in tables.items()
    )


def upgrade() -> None:
    op.create_table(
        "deliveries",
        sa.Column("rings", sa.BigInteger(), nullable=False),
        sa.Column("answered", sa.BigInteger(), nullable=False),
        sa.Column("wake_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("tenant_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("event_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("event_type", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("endpoint_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("status", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("single", sa.Boolean(), nullable=False),
        sa.Column("turn", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("made", sa.Integer(), nullable=False),
        sa.Column("attempts", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "status in ('pending', 'delivered', 'failed', 'dropped')", name=op.f("ck_deliveries_status")
        ),
        sa.CheckConstraint("turn in ('asked', 'given')", name=op.f("ck_deliveries_turn")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
    )
    op.create_index("ix_deliveries_created_at", "deliveries", ["created_at"], unique=False)
    op.create_index(
        "ix_deliveries_endpoint_id_created_at_id", "deliveries", ["endpoint_id", "created_at", "id"], unique=False
    )
    op.create_index(
        "ix_deliveries_pending",
        "deliveries",
        ["endpoint_id"],
        unique=False,
        postgresql_where=sa.text("status = 'pending'"),
    )
    op.create_index(
        "ix_deliveries_rung", "deliveries", ["id"], unique=False, postgresql_where=sa.text("rings > answered")
    )
    op.create_index(
        "ix_deliveries_turn",
        "deliveries",
        ["endpoint_id", "due_at", "id"],
        unique=False,
        postgresql_where=sa.text("turn is not null"),
    )
    op.create_index(
        "ix_deliveries_wake_at",
        "deliveries",
        ["wake_at"],
        unique=False,
        postgresql_where=sa.text("wake_at is not null"),
    )
    op.create_table(
        "event_clocks",
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("last", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", name=op.f("pk_event_clocks")),
    )
    op.create_table(
        "events",
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("tenant_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("type", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("data", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_events")),
        sa.UniqueConstraint("workspace_id", "created_at", name=op.f("uq_events_workspace_id_created_at")),
    )
    op.create_index("ix_events_created_at", "events", ["created_at"], unique=False)
    op.create_index("ix_events_tenant_id_created_at", "events", ["tenant_id", "created_at"], unique=False)
    op.create_table(
        "webhook_endpoints",
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("customer_id", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("url", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("events", postgresql.ARRAY(sa.TEXT()), nullable=False),
        sa.Column("description", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("status", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("secret_hint", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("status in ('enabled', 'disabled')", name=op.f("ck_webhook_endpoints_status")),
        sa.ForeignKeyConstraint(
            ["customer_id"], ["customers.id"], name=op.f("fk_webhook_endpoints_customer_id_customers")
        ),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_webhook_endpoints_workspace_id_workspaces")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_endpoints")),
    )
    op.create_index(
        "ix_webhook_endpoints_workspace_id_created_at_id",
        "webhook_endpoints",
        ["workspace_id", "created_at", "id"],
        unique=False,
    )
    op.add_column("grants", sa.Column("low_told", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.add_column("grants", sa.Column("expiry_told", sa.Boolean(), server_default=sa.text("false"), nullable=False))
    op.execute("drop view waiting_rows")
    op.execute(_waiting_rows(WAITING))


def downgrade() -> None:
    op.execute("drop view waiting_rows")
    op.execute(_waiting_rows(WAITING_BEFORE))
    op.drop_column("grants", "expiry_told")
    op.drop_column("grants", "low_told")
    op.drop_index("ix_webhook_endpoints_workspace_id_created_at_id", table_name="webhook_endpoints")
    op.drop_table("webhook_endpoints")
    op.drop_index("ix_events_tenant_id_created_at", table_name="events")
    op.drop_index("ix_events_created_at", table_name="events")
    op.drop_table("events")
    op.drop_table("event_clocks")
    op.drop_index("ix_deliveries_wake_at", table_name="deliveries", postgresql_where=sa.text("wake_at is not null"))
    op.drop_index("ix_deliveries_turn", table_name="deliveries", postgresql_where=sa.text("turn is not null"))
    op.drop_index("ix_deliveries_rung", table_name="deliveries", postgresql_where=sa.text("rings > answered"))
    op.drop_index("ix_deliveries_pending", table_name="deliveries", postgresql_where=sa.text("status = 'pending'"))
    op.drop_index("ix_deliveries_endpoint_id_created_at_id", table_name="deliveries")
    op.drop_index("ix_deliveries_created_at", table_name="deliveries")
    op.drop_table("deliveries")
