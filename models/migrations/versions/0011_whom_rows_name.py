"""Name people in rows of their own instead of arrays, which row-level security lets no index be read for.

`&&` is not leakproof, so that the planner may not carry it out before the policy; `=` on a text is.

Revision: 0011
Follows: 0010
"""

import sqlalchemy as sa
import sqlmodel
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

TEXT = sqlmodel.sql.sqltypes.AutoString
REACH = " and ".join(
    f"(current_setting('app.{whose}', true) = '*' or {whose}_id = current_setting('app.{whose}', true))"
    for whose in ("workspace", "tenant")
)
NEW = ("idempotency_marks", "scroll_people")


def _protect(table: str) -> None:
    op.execute(f"alter table {table} enable row level security")
    op.execute(f"alter table {table} force row level security")
    op.execute(f"create policy reach on {table} using ({REACH}) with check ({REACH})")


def upgrade() -> None:
    op.create_table(
        "idempotency_marks",
        sa.Column("workspace_id", TEXT(), nullable=False),
        sa.Column("tenant_id", TEXT(), nullable=False),
        sa.Column("key", TEXT(), nullable=False),
        sa.Column("mark", TEXT(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "key"],
            ["idempotency_records.tenant_id", "idempotency_records.key"],
            name=op.f("fk_idempotency_marks_tenant_id_idempotency_records"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "key", "mark", name=op.f("pk_idempotency_marks")),
    )
    op.create_index("ix_idempotency_marks_mark", "idempotency_marks", ["mark"])
    op.create_table(
        "scroll_people",
        sa.Column("workspace_id", TEXT(), nullable=False),
        sa.Column("tenant_id", TEXT(), nullable=False),
        sa.Column("scroll_id", TEXT(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("profile_id", TEXT(), nullable=False),
        sa.ForeignKeyConstraint(
            ["scroll_id", "number"],
            ["scroll_pages.scroll_id", "scroll_pages.number"],
            name=op.f("fk_scroll_people_scroll_id_scroll_pages"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("scroll_id", "number", "profile_id", name=op.f("pk_scroll_people")),
    )
    op.create_index("ix_scroll_people_profile_id", "scroll_people", ["profile_id"])
    for table in NEW:
        _protect(table)
    op.execute(
        "insert into idempotency_marks (workspace_id, tenant_id, key, mark)"
        " select distinct workspace_id, tenant_id, key, unnest(profile_ids) from idempotency_records"
        " where body is not null"
    )
    op.execute(
        "insert into scroll_people (workspace_id, tenant_id, scroll_id, number, profile_id)"
        " select distinct workspace_id, tenant_id, scroll_id, number, unnest(profile_ids) from scroll_pages"
    )
    op.drop_column("idempotency_records", "profile_ids")  # its index goes along
    op.drop_column("scroll_pages", "profile_ids")
    op.create_index("ix_mails_created_at", "mails", ["created_at"])
    op.create_index("ix_verifications_expires_at", "verifications", ["expires_at"])


def downgrade() -> None:
    op.drop_index("ix_verifications_expires_at", table_name="verifications")
    op.drop_index("ix_mails_created_at", table_name="mails")
    texts = postgresql.ARRAY(postgresql.TEXT())
    op.add_column("scroll_pages", sa.Column("profile_ids", texts, nullable=False, server_default="{}"))
    op.add_column("idempotency_records", sa.Column("profile_ids", texts, nullable=True))
    op.execute(
        "update scroll_pages p set profile_ids = array(select profile_id from scroll_people s"
        " where s.scroll_id = p.scroll_id and s.number = p.number)"
    )
    op.execute(
        "update idempotency_records r set profile_ids = m.marks from (select tenant_id, key, array_agg(mark) as marks"
        " from idempotency_marks group by tenant_id, key) m where m.tenant_id = r.tenant_id and m.key = r.key"
    )
    op.alter_column("scroll_pages", "profile_ids", server_default=None)
    op.create_index("ix_scroll_pages_profile_ids", "scroll_pages", ["profile_ids"], postgresql_using="gin")
    op.create_index(
        "ix_idempotency_records_profile_ids",
        "idempotency_records",
        ["profile_ids"],
        postgresql_using="gin",
        postgresql_where=sa.text("profile_ids is not null"),
    )
    op.drop_table("scroll_people")
    op.drop_table("idempotency_marks")
