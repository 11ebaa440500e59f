"""Add signing in by OAuth: clients, sign-ins, grants (keys without a secret) and tokens.

Revision: 0007
Follows: 0006
"""

import sqlalchemy as sa
import sqlmodel
from alembic import op
from sqlalchemy.dialects import postgresql


revision = "0007"
down_revision = "0006"
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
    "payment": "payments",
    "callback": "payment_callbacks",
    "refill": "auto_refills",
}
WAITING = WAITING_BEFORE | {"client": "oauth_clients"}
TEXT = sqlmodel.sql.sqltypes.AutoString()
TEXTS = postgresql.ARRAY(sa.TEXT())
TIME = sa.DateTime(timezone=True)


def _waiting_rows(tables: dict[str, str]) -> str:
    return "create view waiting_rows as " + " union all ".join(
        f"select '{kind}' as kind, id, rings, answered, wake_at from {table}" for kind, table in tables.items()
    )


def upgrade() -> None:
    op.add_column("api_keys", sa.Column("kind", TEXT, nullable=False, server_default="key"))
    op.alter_column("api_keys", "kind", server_default=None)
    op.alter_column("api_keys", "secret_hash", nullable=True)
    op.create_check_constraint(op.f("ck_api_keys_kind"), "api_keys", "kind in ('key', 'oauth')")
    op.create_check_constraint(
        op.f("ck_api_keys_secret"), "api_keys", "(kind = 'key') = (secret_hash is not null)"
    )
    op.drop_constraint(op.f("ck_mails_kind"), "mails")
    op.create_check_constraint(op.f("ck_mails_kind"), "mails", "kind in ('verification', 'sign_in')")
    _create_clients()
    _create_sign_ins()
    _create_grants()
    op.execute("drop view waiting_rows")
    op.execute(_waiting_rows(WAITING))


def _create_clients() -> None:
    op.create_table(
        "oauth_clients",
        sa.Column("rings", sa.BigInteger(), nullable=False),
        sa.Column("answered", sa.BigInteger(), nullable=False),
        sa.Column("wake_at", TIME, nullable=True),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("url", TEXT, nullable=True),
        sa.Column("network", sa.LargeBinary(), nullable=True),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("redirect_uris", TEXTS, nullable=False),
        sa.Column("auth_method", TEXT, nullable=False),
        sa.Column("grant_types", TEXTS, nullable=False),
        sa.Column("scope", TEXT, nullable=True),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=True),
        sa.Column("fetched_at", TIME, nullable=True),
        sa.Column("failed_at", TIME, nullable=True),
        sa.Column("failure", TEXT, nullable=True),
        sa.Column("used_at", TIME, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_clients")),
        sa.UniqueConstraint("url", name=op.f("uq_oauth_clients_url")),
    )
    op.create_index("ix_oauth_clients_network_created_at", "oauth_clients", ["network", "created_at"])
    op.create_index("ix_oauth_clients_rung", "oauth_clients", ["id"], postgresql_where=sa.text("rings > answered"))
    op.create_index("ix_oauth_clients_unused", "oauth_clients", ["created_at"], postgresql_where=sa.text("used_at is null"))
    op.create_index("ix_oauth_clients_wake_at", "oauth_clients", ["wake_at"], postgresql_where=sa.text("wake_at is not null"))


def _create_sign_ins() -> None:
    op.create_table(
        "oauth_sign_ins",
        sa.Column("link_hash", sa.LargeBinary(), nullable=False),
        sa.Column("browser_hash", sa.LargeBinary(), nullable=False),
        sa.Column("client_id", TEXT, nullable=False),
        sa.Column("redirect_uri", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=True),
        sa.Column("code_challenge", TEXT, nullable=False),
        sa.Column("resource", TEXT, nullable=False),
        sa.Column("scopes", TEXTS, nullable=False),
        sa.Column("workspace_id", TEXT, nullable=True),
        sa.Column("expires_at", TIME, nullable=False),
        sa.Column("decided_at", TIME, nullable=True),
        sa.Column("code_hash", sa.LargeBinary(), nullable=True),
        sa.Column("code_expires_at", TIME, nullable=True),
        sa.Column("grant_id", TEXT, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.ForeignKeyConstraint(["client_id"], ["oauth_clients.id"], name=op.f("fk_oauth_sign_ins_client_id_oauth_clients")),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspaces.id"], name=op.f("fk_oauth_sign_ins_workspace_id_workspaces")),
        sa.ForeignKeyConstraint(["grant_id"], ["api_keys.id"], name=op.f("fk_oauth_sign_ins_grant_id_api_keys")),
        sa.PrimaryKeyConstraint("link_hash", name=op.f("pk_oauth_sign_ins")),
        sa.UniqueConstraint("code_hash", name=op.f("uq_oauth_sign_ins_code_hash")),
    )
    op.create_index("ix_oauth_sign_ins_expires_at", "oauth_sign_ins", ["expires_at"])
    op.create_index("ix_oauth_sign_ins_client_id", "oauth_sign_ins", ["client_id"])
    op.create_index("ix_oauth_sign_ins_workspace_id_created_at", "oauth_sign_ins", ["workspace_id", "created_at"])


def _create_grants() -> None:
    op.create_table(
        "oauth_grants",
        sa.Column("id", TEXT, nullable=False),
        sa.Column("client_id", TEXT, nullable=False),
        sa.Column("client_name", TEXT, nullable=False),
        sa.Column("redirect_host", TEXT, nullable=False),
        sa.Column("resource", TEXT, nullable=False),
        sa.ForeignKeyConstraint(["id"], ["api_keys.id"], name=op.f("fk_oauth_grants_id_api_keys")),
        sa.ForeignKeyConstraint(["client_id"], ["oauth_clients.id"], name=op.f("fk_oauth_grants_client_id_oauth_clients")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_oauth_grants")),
    )
    op.create_index("ix_oauth_grants_client_id", "oauth_grants", ["client_id"])
    op.create_table(
        "oauth_tokens",
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("grant_id", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("expires_at", TIME, nullable=True),
        sa.Column("used_at", TIME, nullable=True),
        sa.Column("created_at", TIME, nullable=False),
        sa.CheckConstraint("kind in ('access', 'refresh')", name=op.f("ck_oauth_tokens_kind")),
        sa.ForeignKeyConstraint(["grant_id"], ["oauth_grants.id"], name=op.f("fk_oauth_tokens_grant_id_oauth_grants")),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_oauth_tokens")),
    )
    op.create_index("ix_oauth_tokens_grant_id", "oauth_tokens", ["grant_id"])
    op.create_index("ix_oauth_tokens_expires_at", "oauth_tokens", ["expires_at"])


def downgrade() -> None:
    op.execute("drop view waiting_rows")
    op.execute(_waiting_rows(WAITING_BEFORE))
    for table in ("oauth_tokens", "oauth_grants", "oauth_sign_ins", "oauth_clients"):
        op.drop_table(table)
    op.execute("delete from mails where kind = 'sign_in'")
    op.drop_constraint(op.f("ck_mails_kind"), "mails")
    op.create_check_constraint(op.f("ck_mails_kind"), "mails", "kind in ('verification')")
    op.execute("delete from api_keys where kind = 'oauth'")
    op.drop_constraint(op.f("ck_api_keys_secret"), "api_keys")
    op.drop_constraint(op.f("ck_api_keys_kind"), "api_keys")
    op.alter_column("api_keys", "secret_hash", nullable=False)
    op.drop_column("api_keys", "kind")
