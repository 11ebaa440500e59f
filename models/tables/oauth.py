"""What signing in by OAuth keeps: clients, sign-ins under way, grants, tokens. Secrets are kept as SHA-256.

Times are of the wall clock: browsers and clients live by it. The life of a grant, which is a key, follows service time.
"""

from datetime import datetime

from sqlalchemy import CheckConstraint, Index, LargeBinary, UniqueConstraint, text
from sqlmodel import Field

from models.tables.base import TEXTS, TIME, Row, WaitingRow, waiting_indexes


class OauthClient(WaitingRow, table=True):
    """A client: one that registered, or one whose metadata document is at `url` (a worker reads it when it is rung).

    `name` is what it claims. `network` is a keyed hash of where a registration came from.
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
    """When somebody first granted it something (wall time)."""
    created_at: datetime = Field(sa_type=TIME)

    @property
    def client_id(self) -> str:
        """The id by which the client calls itself."""
        return self.url or self.id


class OauthSignIn(Row, table=True):
    """One authorization, from the mailed link over the decision to the code and its exchange.

    `workspace_id` is whose owner the link was mailed to, null when nobody was, and then the workspace chosen.
    `browser_hash` is of the cookie of the browser that began it.
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
    """What a key of kind `oauth` is of: the client as it called itself, where its answers go, and the audience."""

    __tablename__ = "oauth_grants"
    __table_args__ = (Index("ix_oauth_grants_client_id", "client_id"),)

    id: str = Field(primary_key=True, foreign_key="api_keys.id")
    client_id: str = Field(foreign_key="oauth_clients.id")
    client_name: str
    redirect_host: str
    resource: str


class OauthToken(Row, table=True):
    """An access token, or a refresh token, which works once: `used_at` stays to tell a second use."""

    __tablename__ = "oauth_tokens"
    __table_args__ = (
        Index("ix_oauth_tokens_grant_id", "grant_id"),
        Index("ix_oauth_tokens_expires_at", "expires_at"),
        Index("ix_oauth_tokens_used_at", "used_at", postgresql_where=text("used_at is not null")),
        CheckConstraint("kind in ('access', 'refresh')", name="kind"),
    )

    token_hash: bytes = Field(primary_key=True, sa_type=LargeBinary)
    grant_id: str = Field(foreign_key="oauth_grants.id")
    kind: str
    expires_at: datetime | None = Field(default=None, sa_type=TIME)
    used_at: datetime | None = Field(default=None, sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)
