"""Name people in rows of their own instead of arrays, write policies that do not mislead the planner, add indexes.

`&&` is not leakproof, so that the planner may not read an index by it before the policy; `=` on a text is.

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
OWNED = """
select c.table_name, bool_or(c.column_name = 'tenant_id')
  from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
 where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.column_name in ('workspace_id', 'tenant_id')
 group by c.table_name having bool_or(c.column_name = 'workspace_id') order by c.table_name
"""
BEFORE = "(current_setting('app.{whose}', true) = '*' or {column} = current_setting('app.{whose}', true))"
"""Where a reach says `*`, the planner takes this for one row in two hundred."""
NOW = "case when {reached} then true else false end"
"""The planner takes this for one row in two whatever is asked, and goes by what the query says of the tenant."""


def _reach(of_tenant: bool, *, workspace: str = "workspace_id") -> str:
    columns = {"workspace": workspace} | ({"tenant": "tenant_id"} if of_tenant else {})
    return " and ".join(BEFORE.format(whose=whose, column=column) for whose, column in columns.items())


def _policies() -> dict[str, str]:
    owned = {table: _reach(of_tenant) for table, of_tenant in op.get_bind().execute(sa.text(OWNED))}
    return owned | {"workspaces": _reach(False, workspace="id")}


def _write_policies(form: str) -> None:
    for table, reached in _policies().items():
        op.execute(
            f"alter policy reach on {table}"
            f" using ({form.format(reached=reached)}) with check ({form.format(reached=reached)})"
        )


def _protect(table: str) -> None:
    op.execute(f"alter table {table} enable row level security")
    op.execute(f"alter table {table} force row level security")
    op.execute(f"create policy reach on {table} using (false)")


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
    for table in ("idempotency_marks", "scroll_people"):
        _protect(table)
    _write_policies(NOW)
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
    _write_policies("{reached}")
