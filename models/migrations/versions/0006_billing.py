"""Add payments, plans, payment methods, callbacks, auto-refill and the limit on signing up.

Revision: 0006
Follows: 0005
"""

import sqlalchemy as sa
import sqlmodel
from alembic import op


revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

WAITING_BEFORE = {
    "run": "runs",
    "mail": "mails",
    "housekeeping": "housekeeping",
    "delivery": "deliveries",
    "job": "jobs",
    "contacts": "contact_lookups",
    "account": "outreach_accounts",
    "enrollment": "enrollments",
    "action": "actions",
}
WAITING = WAITING_BEFORE | {"payment": "payments", "callback": "payment_callbacks", "refill": "auto_refills"}


def _waiting_rows(tables: dict[str, str]) -> str:
    return "create view waiting_rows as " + " union all ".join(
        f"select '{kind}' as kind, id, rings, answered, wake_at from {table}" for kind, table in tables.items()
    )


def upgrade() -> None:
    op.create_table(
        "payment_callbacks",
        sa.Column("rings", sa.BigInteger(), nullable=False),
        sa.Column("answered", sa.BigInteger(), nullable=False),
        sa.Column("wake_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("received_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("processed_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_payment_callbacks")),
    )
    op.create_index("ix_payment_callbacks_received_at", "payment_callbacks", ["received_at"], unique=False)
    op.create_index(
        "ix_payment_callbacks_rung",
        "payment_callbacks",
        ["id"],
        unique=False,
        postgresql_where=sa.text("rings > answered"),
    )
    op.create_index(
        "ix_payment_callbacks_wake_at",
        "payment_callbacks",
        ["wake_at"],
        unique=False,
        postgresql_where=sa.text("wake_at is not null"),
    )
    op.create_table(
        "signup_counts",
        sa.Column("network", sa.LargeBinary(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("signups", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("network", "day", name=op.f("pk_signup_counts")),
    )
    op.create_table(
        "auto_refills",
        sa.Column("rings", sa.BigInteger(), nullable=False),
        sa.Column("answered", sa.BigInteger(), nullable=False),
        sa.Column("wake_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("threshold_credits", sa.Integer(), nullable=False),
        sa.Column("monthly_cap_cents", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("retry_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_auto_refills_workspace_id_workspaces")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_auto_refills")),
    )
    op.create_index(
        "ix_auto_refills_rung", "auto_refills", ["id"], unique=False, postgresql_where=sa.text("rings > answered")
    )
    op.create_index(
        "ix_auto_refills_wake_at",
        "auto_refills",
        ["wake_at"],
        unique=False,
        postgresql_where=sa.text("wake_at is not null"),
    )
    op.create_table(
        "billing_accounts",
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("provider_customer_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_billing_accounts_workspace_id_workspaces")
        ),
        sa.PrimaryKeyConstraint("workspace_id", name=op.f("pk_billing_accounts")),
        sa.UniqueConstraint("provider_customer_id", name=op.f("uq_billing_accounts_provider_customer_id")),
    )
    op.create_table(
        "payment_methods",
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("attached_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("detached_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_payment_methods_workspace_id_workspaces")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_payment_methods")),
    )
    op.create_index("ix_payment_methods_workspace_id", "payment_methods", ["workspace_id"], unique=False)
    op.create_table(
        "payments",
        sa.Column("rings", sa.BigInteger(), nullable=False),
        sa.Column("answered", sa.BigInteger(), nullable=False),
        sa.Column("wake_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("kind", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("item", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("credits", sa.Integer(), nullable=False),
        sa.Column("amount_cents", sa.Integer(), nullable=False),
        sa.Column("status", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("reason", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("success_url", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("cancel_url", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("use_key", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("use_fingerprint", sa.LargeBinary(), nullable=True),
        sa.Column("session_id", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("checkout_url", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("charge_id", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("call_number", sa.Integer(), nullable=False),
        sa.Column("unclear", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("looks", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("paid_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("item in ('starter', 'growth', 'scale', 'pack')", name=op.f("ck_payments_item")),
        sa.CheckConstraint("kind in ('checkout', 'refill')", name=op.f("ck_payments_kind")),
        sa.CheckConstraint(
            "status in ('pending', 'calling', 'open', 'processing', 'paid', 'declined', 'expired', 'failed', 'refunded')",
            name=op.f("ck_payments_status"),
        ),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_payments_workspace_id_workspaces")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_payments")),
    )
    op.create_index("ix_payments_rung", "payments", ["id"], unique=False, postgresql_where=sa.text("rings > answered"))
    op.create_index(
        "ix_payments_wake_at", "payments", ["wake_at"], unique=False, postgresql_where=sa.text("wake_at is not null")
    )
    op.create_index("ix_payments_workspace_id_created_at", "payments", ["workspace_id", "created_at"], unique=False)
    op.create_index(
        "uq_payments_refill_in_flight",
        "payments",
        ["workspace_id"],
        unique=True,
        postgresql_where=sa.text("kind = 'refill' and status in ('pending', 'calling', 'processing')"),
    )
    op.create_table(
        "plans",
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("payment_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("item", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("status", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("replaced", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("anchored_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("changed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("status in ('active', 'past_due', 'ended')", name=op.f("ck_plans_status")),
        sa.ForeignKeyConstraint(["payment_id"], ["payments.id"], name=op.f("fk_plans_payment_id_payments")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_plans_workspace_id_workspaces")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plans")),
    )
    op.create_index("ix_plans_workspace_id", "plans", ["workspace_id"], unique=False)

    op.execute("drop view waiting_rows")
    op.execute(_waiting_rows(WAITING))


def downgrade() -> None:
    op.execute("drop view waiting_rows")
    op.execute(_waiting_rows(WAITING_BEFORE))
    op.drop_index("ix_plans_workspace_id", table_name="plans")
    op.drop_table("plans")
    op.drop_index(
        "uq_payments_refill_in_flight",
        table_name="payments",
        postgresql_where=sa.text("kind = 'refill' and status in ('pending', 'calling', 'processing')"),
    )
    op.drop_index("ix_payments_workspace_id_created_at", table_name="payments")
    op.drop_index("ix_payments_wake_at", table_name="payments", postgresql_where=sa.text("wake_at is not null"))
    op.drop_index("ix_payments_rung", table_name="payments", postgresql_where=sa.text("rings > answered"))
    op.drop_table("payments")
    op.drop_index("ix_payment_methods_workspace_id", table_name="payment_methods")
    op.drop_table("payment_methods")
    op.drop_table("billing_accounts")
    op.drop_index("ix_auto_refills_wake_at", table_name="auto_refills", postgresql_where=sa.text("wake_at is not null"))
    op.drop_index("ix_auto_refills_rung", table_name="auto_refills", postgresql_where=sa.text("rings > answered"))
    op.drop_table("auto_refills")
    op.drop_table("signup_counts")
    op.drop_index(
        "ix_payment_callbacks_wake_at", table_name="payment_callbacks", postgresql_where=sa.text("wake_at is not null")
    )
    op.drop_index(
        "ix_payment_callbacks_rung", table_name="payment_callbacks", postgresql_where=sa.text("rings > answered")
    )
    op.drop_index("ix_payment_callbacks_received_at", table_name="payment_callbacks")
    op.drop_table("payment_callbacks")
