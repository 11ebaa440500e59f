"""Add the raw layer.

Revision: 0004
Follows: 0003
"""

import sqlalchemy as sa
import sqlmodel
from alembic import op
from sqlalchemy.dialects import postgresql


revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

TEXT = sqlmodel.sql.sqltypes.AutoString
WAITING_BEFORE = {"run": "runs", "mail": "mails", "housekeeping": "housekeeping", "delivery": "deliveries"}
WAITING = WAITING_BEFORE | {"job": "jobs", "contacts": "contact_lookups"}


def _waiting_rows(tables: dict[str, str]) -> str:
    return "create view waiting_rows as " + " union all ".join(
        f"select '{kind}' as kind, id, rings, answered, wake_at from {table}" for kind, table in tables.items()
    )


def _waiting(table: str) -> None:
    op.create_index(f"ix_{table}_rung", table, ["id"], unique=False, postgresql_where=sa.text("rings > answered"))
    op.create_index(
        f"ix_{table}_wake_at", table, ["wake_at"], unique=False, postgresql_where=sa.text("wake_at is not null")
    )


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
        sa.Column("about", postgresql.ARRAY(sa.TEXT()), nullable=False),
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
    op.create_index(
        "ix_upstream_calls_about",
        "upstream_calls",
        ["about"],
        unique=False,
        postgresql_using="gin",
        postgresql_where=sa.text("status in ('waiting', 'running', 'done')"),
    )
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
    op.create_index(
        "ix_scroll_pages_profile_ids", "scroll_pages", ["profile_ids"], unique=False, postgresql_using="gin"
    )
    op.create_table(
        "jobs",
        sa.Column("rings", sa.BigInteger(), nullable=False),
        sa.Column("answered", sa.BigInteger(), nullable=False),
        sa.Column("wake_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("workspace_id", TEXT(), nullable=False),
        sa.Column("tenant_id", TEXT(), nullable=False),
        sa.Column("id", TEXT(), nullable=False),
        sa.Column("api_key_id", TEXT(), nullable=False),
        sa.Column("status", TEXT(), nullable=False),
        sa.Column("failure_code", TEXT(), nullable=True),
        sa.Column("view", TEXT(), nullable=False),
        sa.Column("max_age_days", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("spent_credits", sa.Integer(), nullable=False),
        sa.Column("call_number", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("retry_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deadline_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "status in ('queued', 'running', 'waiting_for_quota', 'completed', 'failed')", name=op.f("ck_jobs_status")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_jobs")),
    )
    _waiting("jobs")
    op.create_index("ix_jobs_created_at", "jobs", ["created_at"], unique=False)
    op.create_table(
        "job_inputs",
        sa.Column("workspace_id", TEXT(), nullable=False),
        sa.Column("tenant_id", TEXT(), nullable=False),
        sa.Column("job_id", TEXT(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=True),
        sa.Column("url_hash", sa.LargeBinary(), nullable=True),
        sa.Column("profile_id", TEXT(), nullable=True),
        sa.Column("status", TEXT(), nullable=True),
        sa.Column("charged_credits", sa.Integer(), nullable=False),
        sa.CheckConstraint(
            "status in ('found', 'cached', 'not_found', 'suppressed', 'duplicate', 'error')",
            name=op.f("ck_job_inputs_status"),
        ),
        sa.ForeignKeyConstraint(
            ["job_id"], ["jobs.id"], name=op.f("fk_job_inputs_job_id_jobs"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", "position", name=op.f("pk_job_inputs")),
    )
    for column in ("profile_id", "url_hash"):
        op.create_index(
            f"ix_job_inputs_{column}",
            "job_inputs",
            [column],
            unique=False,
            postgresql_where=sa.text(f"{column} is not null"),
        )
    op.create_table(
        "contact_lookups",
        sa.Column("rings", sa.BigInteger(), nullable=False),
        sa.Column("answered", sa.BigInteger(), nullable=False),
        sa.Column("wake_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("workspace_id", TEXT(), nullable=False),
        sa.Column("tenant_id", TEXT(), nullable=False),
        sa.Column("id", TEXT(), nullable=False),
        sa.Column("api_key_id", TEXT(), nullable=False),
        sa.Column("status", TEXT(), nullable=False),
        sa.Column("failure_code", TEXT(), nullable=True),
        sa.Column("spent_credits", sa.Integer(), nullable=False),
        sa.Column("call_number", sa.Integer(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("retry_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("deadline_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "status in ('queued', 'running', 'waiting_for_quota', 'completed', 'failed')", name=op.f("ck_contact_lookups_status")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_contact_lookups")),
    )
    _waiting("contact_lookups")
    op.create_index("ix_contact_lookups_created_at", "contact_lookups", ["created_at"], unique=False)
    op.create_table(
        "contacts_asked",
        sa.Column("workspace_id", TEXT(), nullable=False),
        sa.Column("tenant_id", TEXT(), nullable=False),
        sa.Column("lookup_id", TEXT(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("profile_id", TEXT(), nullable=False),
        sa.Column("kind", TEXT(), nullable=False),
        sa.Column("status", TEXT(), nullable=True),
        sa.Column("charged_credits", sa.Integer(), nullable=False),
        sa.CheckConstraint("kind in ('email', 'phone')", name=op.f("ck_contacts_asked_kind")),
        sa.CheckConstraint(
            "status in ('found', 'not_found', 'suppressed', 'error')", name=op.f("ck_contacts_asked_status")
        ),
        sa.ForeignKeyConstraint(
            ["lookup_id"],
            ["contact_lookups.id"],
            name=op.f("fk_contacts_asked_lookup_id_contact_lookups"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("lookup_id", "position", name=op.f("pk_contacts_asked")),
    )
    op.create_index("ix_contacts_asked_profile_id", "contacts_asked", ["profile_id"], unique=False)
    op.create_table(
        "contacts",
        sa.Column("workspace_id", TEXT(), nullable=False),
        sa.Column("tenant_id", TEXT(), nullable=False),
        sa.Column("profile_id", TEXT(), nullable=False),
        sa.Column("kind", TEXT(), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("found_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("kind in ('email', 'phone')", name=op.f("ck_contacts_kind")),
        sa.PrimaryKeyConstraint("workspace_id", "profile_id", "kind", name=op.f("pk_contacts")),
    )
    op.create_index("ix_contacts_profile_id", "contacts", ["profile_id"], unique=False)
    op.create_table(
        "companies",
        sa.Column("id", TEXT(), nullable=False),
        sa.Column("name_key", TEXT(), nullable=False),
        sa.Column("details", postgresql.JSONB(none_as_null=True, astext_type=sa.Text()), nullable=False),
        sa.Column("source", TEXT(), nullable=False),
        sa.Column("fetched_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_companies")),
    )
    op.create_index(
        "ix_companies_name_key", "companies", ["name_key"], unique=False, postgresql_ops={"name_key": "text_pattern_ops"}
    )
    op.create_table(
        "company_keys",
        sa.Column("kind", TEXT(), nullable=False),
        sa.Column("source", TEXT(), nullable=False),
        sa.Column("value", TEXT(), nullable=False),
        sa.Column("company_id", TEXT(), nullable=False),
        sa.CheckConstraint("kind in ('source', 'domain', 'id')", name=op.f("ck_company_keys_kind")),
        sa.ForeignKeyConstraint(
            ["company_id"], ["companies.id"], name=op.f("fk_company_keys_company_id_companies")
        ),
        sa.PrimaryKeyConstraint("kind", "source", "value", name=op.f("pk_company_keys")),
    )
    op.create_index("ix_company_keys_company_id", "company_keys", ["company_id"], unique=False)
    op.execute("drop view waiting_rows")
    op.execute(_waiting_rows(WAITING))


def downgrade() -> None:
    op.execute("drop view waiting_rows")
    op.execute(_waiting_rows(WAITING_BEFORE))
    op.drop_table("company_keys")
    op.drop_table("companies")
    op.drop_table("contacts")
    op.drop_table("contacts_asked")
    op.drop_table("contact_lookups")
    op.drop_table("job_inputs")
    op.drop_table("jobs")
    op.drop_table("scroll_pages")
    op.drop_table("upstream_calls")
