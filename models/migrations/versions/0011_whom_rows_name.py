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
"""For a tenant scope of `*`, the planner estimates this at one row in two hundred."""
NOW = "case when {reached} then true else false end"
"""The planner estimates this at one row in two, and uses the query's own condition on the tenant."""


FIRST_TOUCHES = "outcome = 'scheduled' and first_touch"
OPEN = "status in ('scheduled', 'active', 'awaiting_approval', 'waiting_for_accept', 'paused')"
INDEXES: tuple[tuple[str, str, list[str], str | None], ...] = (
    ("ix_actions_by_hand", "actions", ["account_id", "created_at"], "enrollment_id is null"),
    ("ix_api_keys_grants_expires_at", "api_keys", ["expires_at"], "kind = 'oauth'"),
    ("ix_api_keys_grants_revoked", "api_keys", ["revoked_at"], "kind = 'oauth' and revoked_at is not null"),
    ("ix_conversations_intent", "conversations", ["tenant_id", "intent", "created_at", "id"], "intent is not null"),
    (
        "ix_deliveries_endpoint_id_status_created_at_id",
        "deliveries",
        ["endpoint_id", "status", "created_at", "id"],
        None,
    ),
    ("ix_enrollments_account_id_created_at_id", "enrollments", ["account_id", "created_at", "id"], None),
    ("ix_enrollments_sequence_id_open", "enrollments", ["sequence_id"], OPEN),
    ("ix_enrollments_tenant_id_status", "enrollments", ["tenant_id", "status", "created_at", "id"], None),
    ("ix_events_workspace_id_type_created_at", "events", ["workspace_id", "type", "created_at", "id"], None),
    ("ix_mails_created_at", "mails", ["created_at"], None),
    ("ix_oauth_tokens_used_at", "oauth_tokens", ["used_at"], "used_at is not null"),
    ("ix_seen_entries_contacted", "seen_entries", ["tenant_id", "created_at", "profile_id"], "contacted_at is not null"),
    ("ix_seen_entries_do_not_contact", "seen_entries", ["tenant_id", "created_at", "profile_id"], "do_not_contact"),
    ("ix_seen_entries_tenant_id_status", "seen_entries", ["tenant_id", "status", "created_at", "profile_id"], None),
    (
        "ix_suppressions_customer_id",
        "suppressions",
        ["workspace_id", "customer_id", "created_at", "id"],
        "customer_id is not null",
    ),
    ("ix_verifications_expires_at", "verifications", ["expires_at"], None),
)
"""Name, table, columns and predicate."""


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
    op.execute(
        "update oauth_clients c set used_at = c.created_at where used_at is null"
        " and exists (select from oauth_grants g where g.client_id = c.id)"
    )
    for name, table, columns, where in INDEXES:
        op.create_index(name, table, columns, postgresql_where=None if where is None else sa.text(where))
    op.drop_index("ix_actions_first_touches", table_name="actions")
    op.create_index(
        "ix_actions_first_touches",
        "actions",
        ["account_id", "scheduled_at"],
        postgresql_include=["workspace_id", "tenant_id"],
        postgresql_where=sa.text(FIRST_TOUCHES),
    )


def downgrade() -> None:
    op.drop_index("ix_actions_first_touches", table_name="actions")
    op.create_index(
        "ix_actions_first_touches", "actions", ["account_id"], postgresql_where=sa.text(FIRST_TOUCHES)
    )
    for name, table, _, _ in reversed(INDEXES):
        op.drop_index(name, table_name=table)
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
