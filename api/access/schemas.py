"""Workspaces, keys, customers, credits and the audit trail as they are shown and asked for (contract, section 4)."""

from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, JsonValue
from pydantic.json_schema import SkipJsonSchema

from api.kernel.schemas import Answer, Ask, Credits, Email, Moment, Name
from models.access.rules.keys import Scope
from models.base.values import Time
from models.billing.rules.outreach_plans import OutreachPaying

Label = Annotated[str, Field(max_length=200)]
Address = Annotated[str, Field(max_length=2000)]


def _referrer(value: str) -> str:
    try:
        parts = urlsplit(value)
    except ValueError as error:
        raise ValueError("must be an https address") from error
    if parts.scheme != "https" or not parts.hostname:
        raise ValueError("must be an https address")
    if "?" in value or "#" in value:
        raise ValueError("must not have a query string or fragment")
    return value


def _landing_path(value: str) -> str:
    if not value.startswith("/"):
        raise ValueError("must start with /")
    return value


class Attribution(Ask):
    """Where a customer came from before signing up."""

    utm_source: Label | None = None
    utm_medium: Label | None = None
    utm_campaign: Label | None = None
    utm_content: Label | None = None
    utm_term: Label | None = None
    referrer: Annotated[Address, AfterValidator(_referrer)] | None = None
    landing_path: Annotated[Address, AfterValidator(_landing_path)] | None = None


class SignUp(Ask):
    """A new workspace."""

    name: Name
    email: Email
    first_name: Name | None = None
    marketing_opt_in: bool = False
    attribution: Attribution | None = Field(
        default=None, description="When it is left out, the first-visit cookie `svc_attr` is taken instead."
    )


class WorkspaceView(Answer):
    """A workspace."""

    id: str
    object: Literal["workspace"] = "workspace"
    name: str
    email: str
    first_name: str | None
    marketing_opt_in: bool
    email_verified: bool
    balance_credits: int
    low_balance_credits: int
    api_version: str
    suspended: bool
    created_at: Time


class WorkspaceCreated(Answer):
    """A new workspace with its first key, shown this once."""

    id: str
    object: Literal["workspace"] = "workspace"
    name: str
    email: str
    first_name: str | None
    marketing_opt_in: bool
    email_verified: bool
    balance_credits: int
    created_at: Time
    api_key: str


class ChangeWorkspace(Ask):
    """What may change on a workspace; a field that is left out stays, `null` takes the first name away."""

    name: Name | SkipJsonSchema[None] = None
    first_name: Name | None = None
    marketing_opt_in: bool | SkipJsonSchema[None] = None
    low_balance_credits: Credits | SkipJsonSchema[None] = None


class Verify(Ask):
    """The token of a confirmation link."""

    token: Annotated[str, Field(min_length=1, max_length=200)]


class VerificationView(Answer):
    """An address confirmed, and the credits that came with it."""

    object: Literal["verification"] = "verification"
    workspace_id: str
    verified_at: Time
    granted_credits: int
    balance_credits: int


class VerificationSent(Answer):
    """A confirmation mail on its way."""

    object: Literal["verification_mail"] = "verification_mail"
    workspace_id: str
    email: str
    expires_at: Time


class GrantedTo(Answer):
    """The MCP client that a person authorized by signing in. `name` is what it claims; `resource` is the audience."""

    client_id: str
    name: str
    redirect_host: str
    resource: str


class KeyView(Answer):
    """An API key without its secret, or (`type` oauth) what an MCP client was granted by signing in.

    The prefix and the last characters of a grant are those of its newest access token; it expires 30 days after it was
    last refreshed.
    """

    id: str
    object: Literal["api_key"] = "api_key"
    type: Literal["key", "oauth"]
    client: GrantedTo | None
    name: str
    prefix: str
    last4: str
    scopes: list[Scope]
    customer_id: str | None
    daily_cap_credits: int | None
    spent_today_credits: int
    version: str
    expires_at: Time | None
    last_used_at: Time | None
    revoked_at: Time | None
    created_at: Time


class KeyCreated(KeyView):
    """An API key with its secret, shown this once."""

    secret: str


def _named_twice_is_named(schema: dict[str, Any]) -> None:
    schema.pop("uniqueItems")


Scopes = Annotated[frozenset[Scope], Field(min_length=1, json_schema_extra=_named_twice_is_named)]


class CreateKey(Ask):
    """A new key. It pins the version of the request that makes it."""

    name: Name
    scopes: Scopes
    customer_id: Annotated[str, Field(max_length=64)] | None = None
    daily_cap_credits: Credits | None = None
    expires_at: Moment | None = None


class ChangeKey(Ask):
    """What may change on a key; a field that is left out stays, `null` takes a cap or an expiry away."""

    name: Name | SkipJsonSchema[None] = None
    scopes: Scopes | SkipJsonSchema[None] = None
    daily_cap_credits: Credits | None = None
    expires_at: Moment | None = None


class RotateKey(Ask):
    """For how long the previous secret keeps working."""

    overlap_seconds: Annotated[int, Field(ge=0, le=86_400)] = 0


ExternalId = Annotated[str, Field(min_length=1, max_length=200)]


class CreateCustomer(Ask):
    """A new customer. `external_id` is the caller's own name for it, unique in the workspace."""

    name: Name
    external_id: ExternalId | None = None
    daily_cap_credits: Credits | None = None


class ChangeCustomer(Ask):
    """What may change on a customer; a field that is left out stays, `null` takes a cap or an external id away."""

    name: Name | SkipJsonSchema[None] = None
    external_id: ExternalId | None = None
    daily_cap_credits: Credits | None = None
    status: Literal["active", "disabled"] | SkipJsonSchema[None] = None


class CustomerView(Answer):
    """A customer."""

    id: str
    object: Literal["customer"] = "customer"
    name: str
    external_id: str | None
    daily_cap_credits: int | None
    spent_today_credits: int
    status: Literal["active", "disabled"]
    created_at: Time


class SourceBalance(Answer):
    """Credits left of one kind of grant."""

    source: Literal["signup", "plan", "top_up", "adjustment"]
    remaining_credits: int


class GrantView(Answer):
    """A block of credits."""

    id: str
    object: Literal["grant"] = "grant"
    source: str
    granted_credits: int
    remaining_credits: int
    expires_at: Time


class Expiry(Answer):
    """Credits that expire at one moment unless they are spent before."""

    expires_at: Time
    credits: int


class OutreachCost(Answer):
    """What the outreach accounts of the workspace and its customers cost a month, and how paying for them stands.

    While it is `unpaid` outreach goes on for 14 days, then sends hold (`on_hold`) until it is paid.
    """

    accounts: int
    account_price_cents: int
    monthly_cents: int
    status: OutreachPaying
    unpaid_since: Time | None


class BalanceView(Answer):
    """What can be spent, where it comes from and when it expires; and the monthly price of an outreach account."""

    object: Literal["balance"] = "balance"
    balance_credits: int
    by_source: list[SourceBalance]
    grants: list[GrantView]
    next_expiries: list[Expiry]
    spent_today_credits: int
    outreach_account_price_cents: int
    outreach: OutreachCost
    currency: Literal["EUR"] = "EUR"


class LedgerEntryView(Answer):
    """One movement of one grant; `credits` is signed."""

    id: str
    object: Literal["ledger_entry"] = "ledger_entry"
    kind: Literal["grant", "charge", "expiry", "refund", "adjustment"]
    credits: int
    grant_id: str
    reason: str
    subject_id: str | None
    api_key_id: str | None
    customer_id: str | None
    created_at: Time


class CreditPlan(Answer):
    """What can be bought: credits each month, or a pack once. Prices are in cents."""

    id: Literal["starter", "growth", "scale", "pack"]
    object: Literal["plan", "pack"]
    name: str
    credits: int
    price_cents: int
    currency: Literal["EUR"] = "EUR"
    interval: Literal["month"] | None
    valid_months: int


class AuditEntryView(Answer):
    """Who changed what on the account."""

    id: str
    object: Literal["audit_entry"] = "audit_entry"
    action: str
    api_key_id: str | None
    customer_id: str | None
    subject_id: str | None
    data: dict[str, JsonValue]
    created_at: Time
