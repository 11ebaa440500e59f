"""Add the raw layer.

Revision: 0004
Follows: 0003 (0002 until the registers are merged)
"""

import sqlalchemy as sa
import sqlmodel
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0004"
down_revision = "0002"
branch_labels = None
depends_on = None

TEXT = sqlmodel.sql.sqltypes.AutoString


def upgrade() -> None:
    op.create_table(
        "upstream_calls",
        sa.Column("workspace_id", TEXT(), nullable=False),
        sa.Column("tenant_id", TEXT(), nullable=False),
        sa.Column("id", TEXT(), nullable=False),
        sa.Column("api_key_id", TEXT(), nullable=False),
        sa.Column("idempotency_key", TEXT(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("kind", TEXT(), nullable=False),
        sa.Column("status", TEXT(), nullable=False),
        sa.Column("ask", sa.LargeBinary(), nullable=True),
        sa.Column("result", sa.LargeBinary(), nullable=True),
        sa.Column("failure", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("kind in ('search', 'fetch', 'match', 'companies')", name=op.f("ck_upstream_calls_kind")),
        sa.CheckConstraint(
            "status in ('waiting', 'running', 'done', 'collected', 'failed')", name=op.f("ck_upstream_calls_status")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_upstream_calls")),
    )
    op.create_index(
        "ix_upstream_calls_open",
        "upstream_calls",
        ["tenant_id", "idempotency_key"],
        unique=True,
        postgresql_where=sa.text("status in ('waiting', 'running', 'done')"),
    )
    op.create_index(
        "ix_upstream_calls_waiting",
        "upstream_calls",
        ["workspace_id"],
        unique=False,
        postgresql_where=sa.text("status = 'waiting'"),
    )
    op.create_index("ix_upstream_calls_created_at", "upstream_calls", ["created_at"], unique=False)
    op.create_table(
        "scroll_pages",
        sa.Column("workspace_id", TEXT(), nullable=False),
        sa.Column("tenant_id", TEXT(), nullable=False),
        sa.Column("scroll_id", TEXT(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("next_token", TEXT(), nullable=True),
        sa.Column("profile_ids", postgresql.ARRAY(sa.TEXT()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("scroll_id", "number", name=op.f("pk_scroll_pages")),
    )
    op.create_index("ix_scroll_pages_created_at", "scroll_pages", ["created_at"], unique=False)


def downgrade() -> None:
    op.drop_table("scroll_pages")
    op.drop_table("upstream_calls")
