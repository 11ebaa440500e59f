"""Workspaces, customers, keys and daily spending, outgoing mail, the audit trail, and what OAuth keeps."""

from datetime import date, datetime

from sqlalchemy import CheckConstraint, Index, LargeBinary, UniqueConstraint, text
from sqlmodel import Field

from models.access.rules.keys import CustomerStatus, KeyKind
from models.access.rules.oauth import TokenKind
from models.access.rules.signup import MailKind
from models.base.tables import JSON, TEXTS, TIME, OwnedRow, Payload, Row, WaitingRow, one_of, waiting, waiting_indexes


class Workspace(Row, table=True):
    """An account. `email_key` is the mailbox of the address: two sign-ups with the same key are the same person's."""

    __tablename__ = "workspaces"
    __table_args__ = (Index("ix_workspaces_email_key", "email_key"),)

    id: str = Field(primary_key=True)
    name: str
    email: str
    email_key: str
    first_name: str | None = None
    marketing_opt_in: bool = False
    attribution: Payload | None = Field(default=None, sa_type=JSON)
    verified_at: datetime | None = Field(default=None, sa_type=TIME)
    low_balance_credits: int = 250
    suspended_at: datetime | None = Field(default=None, sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)


class Verification(Row, table=True):
    """A mailed confirmation link; only the SHA-256 of its token is kept. Single use."""

    __tablename__ = "verifications"
    __table_args__ = (
        Index("ix_verifications_workspace_id", "workspace_id"),
        Index("ix_verifications_expires_at", "expires_at"),
    )

    token_hash: bytes = Field(primary_key=True, sa_type=LargeBinary)
    workspace_id: str = Field(foreign_key="workspaces.id")
    created_at: datetime = Field(sa_type=TIME)
    expires_at: datetime = Field(sa_type=TIME)
    used_at: datetime | None = Field(default=None, sa_type=TIME)


class Customer(Row, table=True):
    """A sub-workspace for one end customer."""

    __tablename__ = "customers"
    __table_args__ = (
        UniqueConstraint("workspace_id", "external_id"),
        Index("ix_customers_workspace_id_created_at_id", "workspace_id", "created_at", "id"),
        one_of("status", CustomerStatus),
    )

    id: str = Field(primary_key=True)
    workspace_id: str = Field(foreign_key="workspaces.id")
    name: str
    external_id: str | None = None
    daily_cap_credits: int | None = None
    status: str = "active"
    created_at: datetime = Field(sa_type=TIME)


@waiting("mail", open_when="secret is not null")
class Mail(WaitingRow, table=True):
    """One mail to send. `secret` is the encrypted token of its link, cleared once the mail is sent."""

    __tablename__ = "mails"
    __table_args__ = (
        *waiting_indexes("mails"),
        Index("ix_mails_created_at", "created_at"),
        one_of("kind", MailKind),
    )

    id: str = Field(primary_key=True)
    workspace_id: str = Field(foreign_key="workspaces.id")
    kind: str
    secret: bytes | None = Field(default=None, sa_type=LargeBinary)
    attempts: int = 0
    sent_at: datetime | None = Field(default=None, sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)


class ApiKey(Row, table=True):
    """A key. Secrets are kept as SHA-256; after a rotation the previous one works until `previous_expires_at`.

    A key of kind `oauth` is what a person granted to a client by signing in: it has tokens instead of a secret.
    """

    __tablename__ = "api_keys"
    __table_args__ = (
        UniqueConstraint("secret_hash"),
        UniqueConstraint("previous_hash"),
        Index("ix_api_keys_workspace_id", "workspace_id"),
        Index(
            "ix_api_keys_grants_revoked",
            "revoked_at",
            postgresql_where=text("kind = 'oauth' and revoked_at is not null"),
        ),
        Index("ix_api_keys_grants_expires_at", "expires_at", postgresql_where=text("kind = 'oauth'")),
        one_of("kind", KeyKind),
        CheckConstraint("(kind = 'key') = (secret_hash is not null)", name="secret"),
    )

    id: str = Field(primary_key=True)
    kind: str = "key"
    workspace_id: str = Field(foreign_key="workspaces.id")
    customer_id: str | None = Field(default=None, foreign_key="customers.id")
    name: str
    prefix: str
    last4: str
    secret_hash: bytes | None = Field(default=None, sa_type=LargeBinary)
    previous_hash: bytes | None = Field(default=None, sa_type=LargeBinary)
    previous_expires_at: datetime | None = Field(default=None, sa_type=TIME)
    scopes: list[str] = Field(sa_type=TEXTS)
    daily_cap_credits: int | None = None
    version: str
    expires_at: datetime | None = Field(default=None, sa_type=TIME)
    last_used_at: datetime | None = Field(default=None, sa_type=TIME)
    revoked_at: datetime | None = Field(default=None, sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)


class RateWindow(Row, table=True):
    """Requests of one key or network in its current minute (wall clock). Unlogged: it may be lost."""

    __tablename__ = "rate_windows"
    __table_args__ = ({"prefixes": ["UNLOGGED"], "postgresql_with": {"fillfactor": 50}},)

    id: str = Field(primary_key=True)
    started_at: datetime = Field(sa_type=TIME)
    hits: int


class AuditEntry(OwnedRow, table=True):
    """One change of the account and the key that made it; never personal data of candidates."""

    __tablename__ = "audit_entries"
    __table_args__ = (
        Index("ix_audit_entries_workspace_id_created_at_id", "workspace_id", "created_at", "id"),
        CheckConstraint("action <> ''", name="action"),
    )

    id: str = Field(primary_key=True)
    api_key_id: str | None = None
    action: str
    subject_id: str | None = None
    data: Payload = Field(default_factory=dict, sa_type=JSON)
    created_at: datetime = Field(sa_type=TIME)


@waiting("client", open_when="url is not null and fetched_at is null and failed_at is null")
class OauthClient(WaitingRow, table=True):
    """An OAuth client: it registered, or a worker reads its metadata document at `url`.

    `name` is the client's own claim. `network` is a keyed hash of the network that registered it.
    """

    __tablename__ = "oauth_clients"
    __table_args__ = (
        *waiting_indexes("oauth_clients"),
        UniqueConstraint("url"),
        Index("ix_oauth_clients_network_created_at", "network", "created_at"),
        Index("ix_oauth_clients_unused", "created_at", postgresql_where=text("used_at is null")),
    )

    id: str = Field(primary_key=True)
    url: str | None = None
    network: bytes | None = Field(default=None, sa_type=LargeBinary)
    name: str = ""
    redirect_uris: list[str] = Field(default_factory=list, sa_type=TEXTS)
    auth_method: str = "none"
    grant_types: list[str] = Field(default_factory=list, sa_type=TEXTS)
    scope: str | None = None
    secret_hash: bytes | None = Field(default=None, sa_type=LargeBinary)
    fetched_at: datetime | None = Field(default=None, sa_type=TIME)
    failed_at: datetime | None = Field(default=None, sa_type=TIME)
    failure: str | None = None
    used_at: datetime | None = Field(default=None, sa_type=TIME)
    """When a person first granted it something (wall time)."""
    created_at: datetime = Field(sa_type=TIME)

    @property
    def client_id(self) -> str:
        """Return the id by which the client names itself."""
        return self.url or self.id


class OauthSignIn(Row, table=True):
    """One authorization, from the mailed link over the decision to the code and its exchange.

    `workspace_id` is the workspace whose owner got the link, null when no mail was sent; later the one that was chosen.
    `browser_hash` is the hash of the cookie of the browser that began it.
    """

    __tablename__ = "oauth_sign_ins"
    __table_args__ = (
        UniqueConstraint("code_hash"),
        Index("ix_oauth_sign_ins_expires_at", "expires_at"),
        Index("ix_oauth_sign_ins_client_id", "client_id"),
        Index("ix_oauth_sign_ins_workspace_id_created_at", "workspace_id", "created_at"),
    )

    link_hash: bytes = Field(primary_key=True, sa_type=LargeBinary)
    browser_hash: bytes = Field(sa_type=LargeBinary)
    client_id: str = Field(foreign_key="oauth_clients.id")
    redirect_uri: str
    state: str | None = None
    code_challenge: str
    resource: str
    scopes: list[str] = Field(sa_type=TEXTS)
    workspace_id: str | None = Field(default=None, foreign_key="workspaces.id")
    expires_at: datetime = Field(sa_type=TIME)
    decided_at: datetime | None = Field(default=None, sa_type=TIME)
    code_hash: bytes | None = Field(default=None, sa_type=LargeBinary)
    code_expires_at: datetime | None = Field(default=None, sa_type=TIME)
    grant_id: str | None = Field(default=None, foreign_key="api_keys.id")
    created_at: datetime = Field(sa_type=TIME)


class OauthGrant(Row, table=True):
    """The client of a key of kind `oauth` as it named itself, the host that its answers go to, and the audience."""

    __tablename__ = "oauth_grants"
    __table_args__ = (Index("ix_oauth_grants_client_id", "client_id"),)

    id: str = Field(primary_key=True, foreign_key="api_keys.id")
    client_id: str = Field(foreign_key="oauth_clients.id")
    client_name: str
    redirect_host: str
    resource: str


class OauthToken(Row, table=True):
    """An access token, or a refresh token, which works once: `used_at` stays so that a second use is noticed."""

    __tablename__ = "oauth_tokens"
    __table_args__ = (
        Index("ix_oauth_tokens_grant_id", "grant_id"),
        Index("ix_oauth_tokens_expires_at", "expires_at"),
        Index("ix_oauth_tokens_used_at", "used_at", postgresql_where=text("used_at is not null")),
        one_of("kind", TokenKind),
    )

    token_hash: bytes = Field(primary_key=True, sa_type=LargeBinary)
    grant_id: str = Field(foreign_key="oauth_grants.id")
    kind: str
    expires_at: datetime | None = Field(default=None, sa_type=TIME)
    used_at: datetime | None = Field(default=None, sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)


class DailySpend(Row, table=True):
    """Credits spent on one UTC day by a key, a customer or the whole workspace."""

    __tablename__ = "daily_spends"

    subject_id: str = Field(primary_key=True)
    day: date = Field(primary_key=True)
    workspace_id: str
    credits: int
