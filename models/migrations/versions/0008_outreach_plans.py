"""Add what outreach accounts cost, and hold the service to row-level security by a role that owns nothing.

Revision: 0008
Follows: 0007
"""

import sqlalchemy as sa
import sqlmodel
from alembic import op


revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TEXT, TIME = sqlmodel.sql.sqltypes.AutoString(), sa.DateTime(timezone=True)
WAITING = "select 'outreach_plan'::text as kind, id, rings, answered, wake_at from outreach_plans"
CONNECTED = """
insert into outreach_plans (id, workspace_id, rings, answered, charged, past_due, failures, created_at)
select distinct workspace_id, workspace_id, 1, 0, 0, false, 0, service_now() from outreach_accounts
 where connected_at is not null and status <> 'removed'
"""


ROLE = "service_app"
NULL_IS_EVERYBODYS = frozenset({"suppressions"})
"""Rows without a workspace belong to the installation and apply to every workspace that reads them."""
THROUGH = {
    "cap_notices": "outreach_accounts a where a.id = account_id",
    "network_callbacks": "outreach_accounts a where a.id = account_id",
    "oauth_grants": "api_keys k where k.id = oauth_grants.id",
    "oauth_tokens": "api_keys k where k.id = grant_id",
}
"""Tables whose owner is only known through another row."""
OWNED = """
select c.table_name, bool_or(c.column_name = 'tenant_id')
  from information_schema.columns c join information_schema.tables t using (table_schema, table_name)
 where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.column_name in ('workspace_id', 'tenant_id')
 group by c.table_name having bool_or(c.column_name = 'workspace_id') order by c.table_name
"""
WORKSPACE = "(select current_setting('app.workspace', true))"
TENANT = "(select current_setting('app.tenant', true))"
MAKE_ROLE = f"""
do $$ begin
  if not exists (select from pg_roles where rolname = '{ROLE}') then
    create role {ROLE} nologin;
  end if;
exception
  when duplicate_object or unique_violation then null;
  when insufficient_privilege then
    raise exception 'the role {ROLE} is missing, and this login may not make it'
      using hint = 'As an administrator: create role {ROLE} nologin; grant {ROLE} to the login that migrates.';
end $$
"""
JOIN_ROLE = f"""
do $$ begin
  if not pg_has_role(current_user, '{ROLE}', 'set') then
    execute format('grant {ROLE} to %I with inherit false, set true', current_user);
  end if;
end $$
"""
GRANTS = (
    f"grant usage on schema public to {ROLE}",
    f"grant select, insert, update, delete on all tables in schema public to {ROLE}",
    f"grant usage, select on all sequences in schema public to {ROLE}",
    f"alter default privileges in schema public grant select, insert, update, delete on tables to {ROLE}",
    f"alter default privileges in schema public grant usage, select on sequences to {ROLE}",
)
REVOKES = (
    f"alter default privileges in schema public revoke all on tables from {ROLE}",
    f"alter default privileges in schema public revoke all on sequences from {ROLE}",
    f"revoke all on all tables in schema public from {ROLE}",
    f"revoke all on all sequences in schema public from {ROLE}",
    f"revoke all on schema public from {ROLE}",
)


def _owned() -> list[tuple[str, str]]:
    """Return each owned table and the condition under which a row is visible."""
    found = []
    for table, of_tenant in op.get_bind().execute(sa.text(OWNED)):
        reached = f"{WORKSPACE} in ('*', workspace_id)"
        found.append((table, f"{reached} and {TENANT} in ('*', tenant_id)" if of_tenant else reached))
    found += [(table, f"exists (select from {owner})") for table, owner in THROUGH.items()]
    return [*found, ("workspaces", f"{WORKSPACE} in ('*', id)")]


def _secure() -> None:
    op.execute(MAKE_ROLE)
    op.execute(JOIN_ROLE)
    for statement in GRANTS:
        op.execute(statement)
    for table, reached in _owned():
        op.execute(f"alter table {table} enable row level security")
        op.execute(f"alter table {table} force row level security")
        op.execute(f"create policy reach on {table} using ({reached}) with check ({reached})")
        if table in NULL_IS_EVERYBODYS:
            op.execute(f"create policy everybodys on {table} for select using (workspace_id is null)")
    op.execute("alter view waiting_rows set (security_invoker = true)")


def _unsecure() -> None:
    for table, _ in _owned():
        op.execute(f"drop policy if exists everybodys on {table}")
        op.execute(f"drop policy if exists reach on {table}")
        op.execute(f"alter table {table} no force row level security")
        op.execute(f"alter table {table} disable row level security")
    for statement in REVOKES:
        op.execute(statement)


def _waiting_rows() -> str:
    """Return the current query of the view, with the additions of other migrations."""
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
    _secure()


def downgrade() -> None:
    _unsecure()
    others = [part for part in _waiting_rows().split("UNION ALL") if "outreach_plans" not in part]
    op.execute("drop view waiting_rows")
    op.execute("create view waiting_rows as " + " union all ".join(others))
    op.drop_table("outreach_changes")
    op.drop_table("outreach_plans")
