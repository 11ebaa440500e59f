"""Create the foundation.

Revision: 0001
Follows:
"""

import sqlalchemy as sa
import sqlmodel
from alembic import op
from sqlalchemy.dialects import postgresql


revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

WAITING = {"run": "runs", "mail": "mails", "housekeeping": "housekeeping"}

CLOCK = """
create function service_now() returns timestamptz language sql volatile parallel safe as
$$ select date_trunc('milliseconds', clock_timestamp() + coalesce((select shift from service_clock), interval '0')) $$
"""


def _waiting_rows() -> str:
    return "create view waiting_rows as " + " union all ".join(
        f"select '{kind}' as kind, id, rings, answered, wake_at from {table}" for kind, table in WAITING.items()
    )


def upgrade() -> None:
    op.create_table(
        "audit_entries",
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("tenant_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("api_key_id", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("action", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("subject_id", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("data", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("action <> ''", name=op.f("ck_audit_entries_action")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit_entries")),
    )
    op.create_index(
        "ix_audit_entries_workspace_id_created_at_id",
        "audit_entries",
        ["workspace_id", "created_at", "id"],
        unique=False,
    )
    op.create_table(
        "daily_spends",
        sa.Column("subject_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("credits", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("subject_id", "day", name=op.f("pk_daily_spends")),
    )
    op.create_table(
        "housekeeping",
        sa.Column("rings", sa.BigInteger(), nullable=False),
        sa.Column("answered", sa.BigInteger(), nullable=False),
        sa.Column("wake_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_housekeeping")),
    )
    op.create_index(
        "ix_housekeeping_rung", "housekeeping", ["id"], unique=False, postgresql_where=sa.text("rings > answered")
    )
    op.create_index(
        "ix_housekeeping_wake_at",
        "housekeeping",
        ["wake_at"],
        unique=False,
        postgresql_where=sa.text("wake_at is not null"),
    )
    op.create_table(
        "idempotency_records",
        sa.Column("tenant_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("key", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False),
        sa.Column("lock", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("locked_until", sa.DateTime(timezone=True), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("headers", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("body", sa.LargeBinary(), nullable=True),
        sa.Column("subject_id", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "key", name=op.f("pk_idempotency_records")),
    )
    op.create_index("ix_idempotency_records_expires_at", "idempotency_records", ["expires_at"], unique=False)
    op.create_table(
        "intents",
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("tenant_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("content", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=False),
        sa.Column("reading", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_intents")),
    )
    op.create_index("ix_intents_tenant_id_created_at_id", "intents", ["tenant_id", "created_at", "id"], unique=False)
    op.create_table(
        "leads",
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("profile_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "profile_id", name=op.f("pk_leads")),
    )
    op.create_table(
        "people",
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("alias_of", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["alias_of"], ["people.id"], name=op.f("fk_people_alias_of_people")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_people")),
    )
    op.create_table(
        "query_totals",
        sa.Column("query_key", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("query_key", name=op.f("pk_query_totals")),
    )
    op.create_table(
        "rate_windows",
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("hits", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rate_windows")),
        postgresql_with={"fillfactor": 50},
        prefixes=["UNLOGGED"],
    )
    op.create_table(
        "search_pages",
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("query_key", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("next_token", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("profile_ids", postgresql.ARRAY(sa.TEXT()), nullable=False),
        sa.Column("total", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("workspace_id", "query_key", "number", name=op.f("pk_search_pages")),
    )
    op.create_index("ix_search_pages_created_at", "search_pages", ["created_at"], unique=False)
    op.create_table(
        "search_plans",
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("tenant_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("intent_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("content", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_plans")),
    )
    op.create_index(
        "ix_search_plans_tenant_id_created_at_id", "search_plans", ["tenant_id", "created_at", "id"], unique=False
    )
    op.create_table(
        "service_clock",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("shift", sa.Interval(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_service_clock_one_row")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_service_clock")),
    )
    op.create_table(
        "suppressions",
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("customer_id", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("key_hash", sa.LargeBinary(), nullable=False),
        sa.Column("profile_id", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("reason", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "reason in ('manual', 'opt_out', 'source_opt_out', 'erasure')", name=op.f("ck_suppressions_reason")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_suppressions")),
    )
    op.create_index("ix_suppressions_key_hash", "suppressions", ["key_hash"], unique=False)
    op.create_index(
        "ix_suppressions_workspace_id_created_at_id", "suppressions", ["workspace_id", "created_at", "id"], unique=False
    )
    op.create_table(
        "upstream_slots",
        sa.Column("slot", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("holder", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("fence", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("busy_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("working", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.PrimaryKeyConstraint("slot", name=op.f("pk_upstream_slots")),
    )
    op.create_table(
        "workspaces",
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("name", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("email", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("email_key", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("first_name", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("marketing_opt_in", sa.Boolean(), nullable=False),
        sa.Column("attribution", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=True),
        sa.Column("verified_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("low_balance_credits", sa.Integer(), nullable=False),
        sa.Column("suspended_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workspaces")),
    )
    op.create_index("ix_workspaces_email_key", "workspaces", ["email_key"], unique=False)
    op.create_table(
        "cached_profiles",
        sa.Column("profile_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("source", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("content", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=False),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["profile_id"], ["people.id"], name=op.f("fk_cached_profiles_profile_id_people")),
        sa.PrimaryKeyConstraint("profile_id", name=op.f("pk_cached_profiles")),
    )
    op.create_index("ix_cached_profiles_fetched_at", "cached_profiles", ["fetched_at"], unique=False)
    op.create_table(
        "customers",
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("name", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("external_id", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("daily_cap_credits", sa.Integer(), nullable=True),
        sa.Column("status", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("status in ('active', 'disabled')", name=op.f("ck_customers_status")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_customers_workspace_id_workspaces")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_customers")),
        sa.UniqueConstraint("workspace_id", "external_id", name=op.f("uq_customers_workspace_id_external_id")),
    )
    op.create_table(
        "grants",
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("source", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("reference", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("granted_credits", sa.Integer(), nullable=False),
        sa.Column("remaining_credits", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("source in ('signup', 'plan', 'top_up', 'adjustment')", name=op.f("ck_grants_source")),
        sa.CheckConstraint("remaining_credits between 0 and granted_credits", name=op.f("ck_grants_remaining")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_grants_workspace_id_workspaces")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_grants")),
        sa.UniqueConstraint("workspace_id", "reference", name=op.f("uq_grants_workspace_id_reference")),
    )
    op.create_index(
        "ix_grants_expires_at", "grants", ["expires_at"], postgresql_where=sa.text("remaining_credits > 0")
    )
    op.create_index(
        "ix_grants_workspace_id_expires_at_id", "grants", ["workspace_id", "expires_at", "id"], unique=False
    )
    op.create_table(
        "mails",
        sa.Column("rings", sa.BigInteger(), nullable=False),
        sa.Column("answered", sa.BigInteger(), nullable=False),
        sa.Column("wake_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("kind", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("sent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("kind in ('verification')", name=op.f("ck_mails_kind")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_mails_workspace_id_workspaces")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mails")),
    )
    op.create_index("ix_mails_rung", "mails", ["id"], unique=False, postgresql_where=sa.text("rings > answered"))
    op.create_index(
        "ix_mails_wake_at", "mails", ["wake_at"], unique=False, postgresql_where=sa.text("wake_at is not null")
    )
    op.create_table(
        "person_keys",
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("profile_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("kind", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("source", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("value", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.CheckConstraint("kind in ('source', 'url')", name=op.f("ck_person_keys_kind")),
        sa.ForeignKeyConstraint(["profile_id"], ["people.id"], name=op.f("fk_person_keys_profile_id_people")),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_person_keys")),
    )
    op.create_index("ix_person_keys_profile_id", "person_keys", ["profile_id"], unique=False)
    op.create_table(
        "runs",
        sa.Column("rings", sa.BigInteger(), nullable=False),
        sa.Column("answered", sa.BigInteger(), nullable=False),
        sa.Column("wake_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("tenant_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("api_key_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("plan_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("intent_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("status", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("stop_reason", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("finish_detail", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("failure_code", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("retry_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("target", sa.Integer(), nullable=False),
        sa.Column("max_credits", sa.Integer(), nullable=False),
        sa.Column("max_pages", sa.Integer(), nullable=True),
        sa.Column("max_profile_fetches", sa.Integer(), nullable=True),
        sa.Column("mark_seen", sa.Boolean(), nullable=False),
        sa.Column("spent_credits", sa.Integer(), nullable=False),
        sa.Column("spent_pages", sa.Integer(), nullable=False),
        sa.Column("spent_profile_fetches", sa.Integer(), nullable=False),
        sa.Column("reserved_credits", sa.Integer(), nullable=False),
        sa.Column("reserved_fetches", sa.Integer(), nullable=False),
        sa.Column("tier", sa.Integer(), nullable=False),
        sa.Column("page", sa.Integer(), nullable=False),
        sa.Column("page_offset", sa.Integer(), nullable=False),
        sa.Column("chunk", postgresql.ARRAY(sa.TEXT()), nullable=True),
        sa.Column("chunk_offset", sa.Integer(), nullable=False),
        sa.Column("call_number", sa.Integer(), nullable=False),
        sa.Column("call_started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("people_looked_at", sa.Integer(), nullable=False),
        sa.Column("duplicates_skipped", sa.Integer(), nullable=False),
        sa.Column("candidates_delivered", sa.Integer(), nullable=False),
        sa.Column("omitted_suppressed", sa.Integer(), nullable=False),
        sa.Column("tiers", sa.Integer(), nullable=False),
        sa.Column("query_key", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("deadline_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cancel_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "status in ('queued', 'running', 'fetching', 'waiting_for_quota', 'completed', 'completed_no_audience', 'failed', 'aborted')",
            name=op.f("ck_runs_status"),
        ),
        sa.CheckConstraint(
            "stop_reason in ('finish', 'budget', 'profile_cap', 'time')", name=op.f("ck_runs_stop_reason")
        ),
        sa.CheckConstraint("spent_credits + reserved_credits <= max_credits", name=op.f("ck_runs_budget")),
        sa.ForeignKeyConstraint(["plan_id"], ["search_plans.id"], name=op.f("fk_runs_plan_id_search_plans")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    op.create_index("ix_runs_rung", "runs", ["id"], unique=False, postgresql_where=sa.text("rings > answered"))
    op.create_index("ix_runs_tenant_id_created_at_id", "runs", ["tenant_id", "created_at", "id"], unique=False)
    op.create_index(
        "ix_runs_wake_at", "runs", ["wake_at"], unique=False, postgresql_where=sa.text("wake_at is not null")
    )
    op.create_table(
        "seen_entries",
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("tenant_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("profile_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("status", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("do_not_contact", sa.Boolean(), nullable=False),
        sa.Column("tags", postgresql.ARRAY(sa.TEXT()), nullable=False),
        sa.Column("note", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("first_seen_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("contacted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_contacted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("run_ids", postgresql.ARRAY(sa.TEXT()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "status in ('seen', 'shortlisted', 'rejected', 'contacted', 'replied', 'interested', 'not_interested', 'hired')",
            name=op.f("ck_seen_entries_status"),
        ),
        sa.ForeignKeyConstraint(["profile_id"], ["people.id"], name=op.f("fk_seen_entries_profile_id_people")),
        sa.PrimaryKeyConstraint("tenant_id", "profile_id", name=op.f("pk_seen_entries")),
    )
    op.create_index("ix_seen_entries_profile_id", "seen_entries", ["profile_id"], unique=False)
    op.create_index(
        "ix_seen_entries_tenant_id_created_at", "seen_entries", ["tenant_id", "created_at", "profile_id"], unique=False
    )
    op.create_table(
        "verifications",
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("used_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_verifications_workspace_id_workspaces")
        ),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_verifications")),
    )
    op.create_index("ix_verifications_workspace_id", "verifications", ["workspace_id"], unique=False)
    op.create_table(
        "api_keys",
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("customer_id", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("name", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("prefix", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("last4", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("previous_hash", sa.LargeBinary(), nullable=True),
        sa.Column("previous_expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("scopes", postgresql.ARRAY(sa.TEXT()), nullable=False),
        sa.Column("daily_cap_credits", sa.Integer(), nullable=True),
        sa.Column("version", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["customer_id"], ["customers.id"], name=op.f("fk_api_keys_customer_id_customers")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_api_keys_workspace_id_workspaces")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("previous_hash", name=op.f("uq_api_keys_previous_hash")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_api_keys_secret_hash")),
    )
    op.create_index("ix_api_keys_workspace_id", "api_keys", ["workspace_id"], unique=False)
    op.create_table(
        "candidates",
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("tenant_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("run_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("profile_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("tier", sa.Integer(), nullable=False),
        sa.Column("distance_km", sa.Float(), nullable=True),
        sa.Column("experience_years", sa.Integer(), nullable=True),
        sa.Column("tenure_months", sa.Integer(), nullable=True),
        sa.Column("charged_credits", sa.Integer(), nullable=False),
        sa.Column("content", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["profile_id"], ["people.id"], name=op.f("fk_candidates_profile_id_people")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_candidates_run_id_runs")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_candidates")),
        sa.UniqueConstraint("run_id", "position", name=op.f("uq_candidates_run_id_position")),
        sa.UniqueConstraint("run_id", "profile_id", name=op.f("uq_candidates_run_id_profile_id")),
    )
    op.create_index("ix_candidates_profile_id", "candidates", ["profile_id"], unique=False)
    op.create_table(
        "ledger_entries",
        sa.Column("id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("workspace_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("customer_id", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("kind", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("credits", sa.Integer(), nullable=False),
        sa.Column("grant_id", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("reference", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("reason", sqlmodel.sql.sqltypes.AutoString(), nullable=False),
        sa.Column("subject_id", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("api_key_id", sqlmodel.sql.sqltypes.AutoString(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "kind in ('grant', 'charge', 'expiry', 'refund', 'adjustment')", name=op.f("ck_ledger_entries_kind")
        ),
        sa.ForeignKeyConstraint(["grant_id"], ["grants.id"], name=op.f("fk_ledger_entries_grant_id_grants")),
        sa.ForeignKeyConstraint(
            ["workspace_id"], ["workspaces.id"], name=op.f("fk_ledger_entries_workspace_id_workspaces")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ledger_entries")),
        sa.UniqueConstraint(
            "workspace_id", "reference", "grant_id", name=op.f("uq_ledger_entries_workspace_id_reference_grant_id")
        ),
    )
    op.create_index(
        "ix_ledger_entries_workspace_id_created_at_id",
        "ledger_entries",
        ["workspace_id", "created_at", "id"],
        unique=False,
    )
    op.execute("insert into service_clock (id, shift) values (1, interval '0')")
    op.execute(CLOCK)
    op.execute(_waiting_rows())


def downgrade() -> None:
    op.execute("drop view waiting_rows")
    op.execute("drop function service_now()")
    op.drop_index("ix_ledger_entries_workspace_id_created_at_id", table_name="ledger_entries")
    op.drop_table("ledger_entries")
    op.drop_index("ix_candidates_profile_id", table_name="candidates")
    op.drop_table("candidates")
    op.drop_index("ix_api_keys_workspace_id", table_name="api_keys")
    op.drop_table("api_keys")
    op.drop_index("ix_verifications_workspace_id", table_name="verifications")
    op.drop_table("verifications")
    op.drop_index("ix_seen_entries_tenant_id_created_at", table_name="seen_entries")
    op.drop_index("ix_seen_entries_profile_id", table_name="seen_entries")
    op.drop_table("seen_entries")
    op.drop_index("ix_runs_wake_at", table_name="runs", postgresql_where=sa.text("wake_at is not null"))
    op.drop_index("ix_runs_tenant_id_created_at_id", table_name="runs")
    op.drop_index("ix_runs_rung", table_name="runs", postgresql_where=sa.text("rings > answered"))
    op.drop_table("runs")
    op.drop_index("ix_person_keys_profile_id", table_name="person_keys")
    op.drop_table("person_keys")
    op.drop_index("ix_mails_wake_at", table_name="mails", postgresql_where=sa.text("wake_at is not null"))
    op.drop_index("ix_mails_rung", table_name="mails", postgresql_where=sa.text("rings > answered"))
    op.drop_table("mails")
    op.drop_index("ix_grants_expires_at", table_name="grants", postgresql_where=sa.text("remaining_credits > 0"))
    op.drop_index("ix_grants_workspace_id_expires_at_id", table_name="grants")
    op.drop_table("grants")
    op.drop_table("customers")
    op.drop_index("ix_cached_profiles_fetched_at", table_name="cached_profiles")
    op.drop_table("cached_profiles")
    op.drop_index("ix_workspaces_email_key", table_name="workspaces")
    op.drop_table("workspaces")
    op.drop_table("upstream_slots")
    op.drop_index("ix_suppressions_workspace_id_created_at_id", table_name="suppressions")
    op.drop_index("ix_suppressions_key_hash", table_name="suppressions")
    op.drop_table("suppressions")
    op.drop_table("service_clock")
    op.drop_index("ix_search_plans_tenant_id_created_at_id", table_name="search_plans")
    op.drop_table("search_plans")
    op.drop_index("ix_search_pages_created_at", table_name="search_pages")
    op.drop_table("search_pages")
    op.drop_table("rate_windows")
    op.drop_table("query_totals")
    op.drop_table("people")
    op.drop_table("leads")
    op.drop_index("ix_intents_tenant_id_created_at_id", table_name="intents")
    op.drop_table("intents")
    op.drop_index("ix_idempotency_records_expires_at", table_name="idempotency_records")
    op.drop_table("idempotency_records")
    op.drop_index("ix_housekeeping_wake_at", table_name="housekeeping", postgresql_where=sa.text("wake_at is not null"))
    op.drop_index("ix_housekeeping_rung", table_name="housekeeping", postgresql_where=sa.text("rings > answered"))
    op.drop_table("housekeeping")
    op.drop_table("daily_spends")
    op.drop_index("ix_audit_entries_workspace_id_created_at_id", table_name="audit_entries")
    op.drop_table("audit_entries")
