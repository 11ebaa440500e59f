"""Settings of one process, read from the environment by `api/app.py`, `worker.py` and `stack/` only."""

from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

DEVELOPMENT = "development"
Switch = Annotated[bool, DEVELOPMENT]
"""A development switch: off by default, and refused with `PRODUCTION`."""


class Settings(BaseSettings):
    """Settings, each named after its environment variable in lower case."""

    model_config = SettingsConfigDict(frozen=True, extra="ignore")

    production: bool = False
    """True: every development switch is refused, and `PUBLIC_URL` must be https."""
    database_url: str
    """`postgresql+asyncpg://…`; may point to a connection pooler."""
    database_direct_url: str | None = None
    """Direct URL for LISTEN, needed if `database_url` points to a pooler; null: `database_url`."""
    database_pool_size: int = 16
    temporal_address: str = "127.0.0.1:7233"
    temporal_namespace: str = "default"
    temporal_api_key: SecretStr | None = None
    temporal_tls: bool | None = None
    """Null: TLS is used with an API key or a certificate. The variables are those that Temporal's own tools read."""
    temporal_tls_client_cert_path: str | None = None
    """PEM file of a client certificate; given together with its key."""
    temporal_tls_client_key_path: str | None = None
    temporal_tls_server_ca_cert_path: str | None = None
    """PEM file of the CA of the server's certificate; null: the system's CAs."""
    temporal_tls_server_name: str | None = None
    """The name that the server's certificate must have; null: that of the address."""
    public_url: str = "http://127.0.0.1:8080"
    """Origin of the API as people and clients see it."""
    secret_key: SecretStr
    """At least 32 random characters; encrypts stored secrets and keys the hashes of erased people."""
    people_data_labs_base_url: str = "https://api.peopledatalabs.com"
    people_data_labs_api_key: SecretStr | None = None
    upstream_calls: Annotated[int, Field(ge=1, le=100)] = 5
    """Most people-data calls at the same time in the whole installation."""
    upstream_call_as: Literal["activity", "workflow"] = "activity"
    """Runs synchronous calls as standalone activities or, for servers without them, as workflows of one activity."""
    upstream_queue_seconds: Annotated[float, Field(gt=0)] = 60
    """Seconds in the queue after which a run shows `waiting_for_quota`."""
    unipile_base_url: str = "https://api.unipile.com"
    unipile_api_key: SecretStr | None = None
    """Null: there is no outreach provider, and outreach accounts cannot be connected."""
    unipile_require_signature: bool = True
    """Whether callbacks without a valid signature are refused."""
    stripe_base_url: str = "https://api.stripe.com"
    stripe_api_key: SecretStr | None = None
    """Null: nothing can be bought, and credits come only from sign-up and the operator."""
    stripe_webhook_secret: SecretStr | None = None
    """Verifies the callbacks of the payment provider; required with the key."""
    outreach_chats_minutes: Annotated[int, Field(ge=1, le=1440)] = 15
    """Minutes between two reads of an account's chats, which find messages that no callback reported."""
    smtp_url: str = "smtp://127.0.0.1:25"
    mail_from: str = "no-reply@localhost.localdomain"
    email_verification: bool = True
    virtual_time: Switch = False
    """True: business time is shifted by an offset stored in the database."""
    webhook_loopback: Switch = False
    """True: webhooks may go to `http://127.0.0.1:<port>`, and metadata documents of OAuth clients may be there."""
    trusted_proxies: tuple[str, ...] = ()
    """Networks whose `X-Forwarded-For` is trusted."""
    mcp_hosts: tuple[str, ...] = ()
    """`Host` values accepted for MCP besides those of `public_url` and loopback; `name:*` means any port."""
    mcp_origins: tuple[str, ...] = ()
    """Origins whose pages may call MCP besides the service's own."""
    signups_a_day: Annotated[int, Field(ge=1)] = 20
    """Most workspaces that one network may create in a UTC day."""
    rate_limit_per_minute: Annotated[int, Field(ge=1)] = 120
    internal_address: str | None = None
    """`host:port` of this process's `/health`, `/readyz` and `/metrics`, for the operator's network; null: off."""
    log_level: str = "INFO"
    log_json: bool = False

    @field_validator(
        *("stripe_api_key", "stripe_webhook_secret", "internal_address", "temporal_api_key", "temporal_tls"),
        *("temporal_tls_client_cert_path", "temporal_tls_client_key_path", "temporal_tls_server_ca_cert_path"),
        "temporal_tls_server_name",
        mode="before",
    )
    @classmethod
    def _empty_is_none(cls, value: object) -> object:
        """Return null for an empty text: Compose files pass unset variables that way."""
        return None if value == "" else value

    @model_validator(mode="after")
    def _safe(self) -> Self:
        if len(self.secret_key.get_secret_value()) < 32:  # noqa: PLR2004 - 32 characters, as documented
            raise ValueError("SECRET_KEY needs at least 32 characters")
        if (self.temporal_tls_client_cert_path is None) is not (self.temporal_tls_client_key_path is None):
            raise ValueError("TEMPORAL_TLS_CLIENT_CERT_PATH and TEMPORAL_TLS_CLIENT_KEY_PATH are given together")
        if (self.stripe_api_key is None) is not (self.stripe_webhook_secret is None):
            raise ValueError("STRIPE_API_KEY and STRIPE_WEBHOOK_SECRET are given together")
        turned_on = [name for name in self.switches() if getattr(self, name)]
        if self.production and turned_on:
            raise ValueError(f"{turned_on[0].upper()} is a development switch and is refused with PRODUCTION")
        if self.production and not self.public_url.startswith("https://"):
            raise ValueError("PUBLIC_URL must be https with PRODUCTION")
        return self

    @classmethod
    def switches(cls) -> list[str]:
        """Return the names of the development switches."""
        return [name for name, field in cls.model_fields.items() if DEVELOPMENT in field.metadata]

    @cached_property
    def listen_url(self) -> str:
        """The URL for LISTEN: the direct URL if there is one."""
        return self.database_direct_url or self.database_url
