"""Credits (grants, ledger, leads), payments and plans, the provider's callbacks, auto-refill, and outreach plans."""

from datetime import date, datetime

from sqlalchemy import CheckConstraint, Index, LargeBinary, UniqueConstraint, false, text
from sqlmodel import Field

from models.base.tables import TIME, Row, WaitingRow, one_of, waiting, waiting_indexes
from models.billing.rules.outreach_plans import ChangeStatus
from models.billing.rules.payments import PaymentKind, PaymentStatus, PlanStatus
from models.billing.rules.prices import OFFER_OF, GrantSource, LedgerKind


class Grant(Row, table=True):
    """A block of credits with an expiry. `reference` names what granted it, and is unique in the workspace."""

    __tablename__ = "grants"
    __table_args__ = (
        UniqueConstraint("workspace_id", "reference"),
        Index("ix_grants_workspace_id_expires_at_id", "workspace_id", "expires_at", "id"),
        Index("ix_grants_expires_at", "expires_at", postgresql_where=text("remaining_credits > 0")),
        CheckConstraint("remaining_credits between 0 and granted_credits", name="remaining"),
        one_of("source", GrantSource),
    )

    id: str = Field(primary_key=True)
    workspace_id: str = Field(foreign_key="workspaces.id")
    source: str
    reference: str
    granted_credits: int
    remaining_credits: int
    expires_at: datetime = Field(sa_type=TIME)
    low_told: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    """Whether `credits.low` was emitted while this was the newest grant."""
    expiry_told: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    created_at: datetime = Field(sa_type=TIME)


class LedgerEntry(Row, table=True):
    """One movement of one grant; `credits` is signed."""

    __tablename__ = "ledger_entries"
    __table_args__ = (
        UniqueConstraint("workspace_id", "reference", "grant_id"),
        Index("ix_ledger_entries_workspace_id_created_at_id", "workspace_id", "created_at", "id"),
        one_of("kind", LedgerKind),
    )

    id: str = Field(primary_key=True)
    workspace_id: str = Field(foreign_key="workspaces.id")
    customer_id: str | None = None
    kind: str
    credits: int
    grant_id: str = Field(foreign_key="grants.id")
    reference: str
    reason: str
    subject_id: str | None = None
    api_key_id: str | None = None
    created_at: datetime = Field(sa_type=TIME)


class Lead(Row, table=True):
    """A person whose lead this workspace has paid for, and is never charged for again."""

    __tablename__ = "leads"
    __table_args__ = (Index("ix_leads_profile_id", "profile_id"),)

    workspace_id: str = Field(primary_key=True)
    profile_id: str = Field(primary_key=True)
    created_at: datetime = Field(sa_type=TIME)


OPEN_CHANGE = "status in ('pending', 'calling')"
IN_FLIGHT = "kind = 'refill' and status in ('pending', 'calling', 'processing')"


class BillingAccount(Row, table=True):
    """The payment provider's customer id of a workspace."""

    __tablename__ = "billing_accounts"
    __table_args__ = (UniqueConstraint("provider_customer_id"),)

    workspace_id: str = Field(primary_key=True, foreign_key="workspaces.id")
    provider_customer_id: str
    created_at: datetime = Field(sa_type=TIME)


@waiting("payment")
class Payment(WaitingRow, table=True):
    """One purchase, written before the provider is called; its id is the provider's idempotency key.

    `call_number` fences calls. `unclear`: a call was not answered, and its result is read back; `looks` counts how
    often. `use_key` and `use_fingerprint` lead a repeated request to it.
    """

    __tablename__ = "payments"
    __table_args__ = (
        *waiting_indexes("payments"),
        Index("ix_payments_workspace_id_created_at", "workspace_id", "created_at"),
        Index("uq_payments_refill_in_flight", "workspace_id", unique=True, postgresql_where=text(IN_FLIGHT)),
        one_of("kind", PaymentKind),
        one_of("item", OFFER_OF),
        one_of("status", PaymentStatus),
    )

    id: str = Field(primary_key=True)
    workspace_id: str = Field(foreign_key="workspaces.id")
    kind: str
    item: str
    credits: int
    amount_cents: int
    status: str
    reason: str | None = None
    success_url: str | None = None
    cancel_url: str | None = None
    use_key: str | None = None
    use_fingerprint: bytes | None = Field(default=None, sa_type=LargeBinary)
    session_id: str | None = None
    checkout_url: str | None = None
    expires_at: datetime | None = Field(default=None, sa_type=TIME)
    charge_id: str | None = None
    call_number: int = 0
    unclear: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    looks: int = 0
    created_at: datetime = Field(sa_type=TIME)
    paid_at: datetime | None = Field(default=None, sa_type=TIME)


class Plan(Row, table=True):
    """A monthly plan that a workspace pays for; its id is the provider's. `changed_at` is the provider's time.

    `replaced`: another plan was bought, and the provider ends this one with its present month.
    """

    __tablename__ = "plans"
    __table_args__ = (
        Index("ix_plans_workspace_id", "workspace_id"),
        one_of("status", PlanStatus),
    )

    id: str = Field(primary_key=True)
    workspace_id: str = Field(foreign_key="workspaces.id")
    payment_id: str = Field(foreign_key="payments.id")
    item: str
    status: str
    replaced: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    anchored_at: datetime | None = Field(default=None, sa_type=TIME)
    changed_at: datetime | None = Field(default=None, sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)


class PaymentMethod(Row, table=True):
    """A payment method by the provider's id; its attachment and removal may be reported in any order."""

    __tablename__ = "payment_methods"
    __table_args__ = (Index("ix_payment_methods_workspace_id", "workspace_id"),)

    id: str = Field(primary_key=True)
    workspace_id: str = Field(foreign_key="workspaces.id")
    attached_at: datetime | None = Field(default=None, sa_type=TIME)
    detached_at: datetime | None = Field(default=None, sa_type=TIME)


@waiting("callback", open_when="processed_at is null")
class PaymentCallback(WaitingRow, table=True):
    """A signed callback of the payment provider, kept raw (`body`, encrypted) until it is applied; the id is theirs.

    The row stays for a while, so that the same event is not applied twice.
    """

    __tablename__ = "payment_callbacks"
    __table_args__ = (*waiting_indexes("payment_callbacks"), Index("ix_payment_callbacks_received_at", "received_at"))

    id: str = Field(primary_key=True)
    body: bytes | None = Field(default=None, sa_type=LargeBinary)
    received_at: datetime = Field(sa_type=TIME)
    processed_at: datetime | None = Field(default=None, sa_type=TIME)


@waiting("refill")
class AutoRefill(WaitingRow, table=True):
    """A workspace's auto-refill; its id is the workspace's. `failures` counts declines in a row."""

    __tablename__ = "auto_refills"
    __table_args__ = (*waiting_indexes("auto_refills"),)

    id: str = Field(primary_key=True)
    workspace_id: str = Field(foreign_key="workspaces.id")
    enabled: bool
    threshold_credits: int
    monthly_cap_cents: int
    failures: int = 0
    retry_at: datetime | None = Field(default=None, sa_type=TIME)
    updated_at: datetime = Field(sa_type=TIME)


class SignupCount(Row, table=True):
    """The workspaces made from one network on one UTC day. The network is kept as a keyed hash, for two days."""

    __tablename__ = "signup_counts"

    network: bytes = Field(primary_key=True, sa_type=LargeBinary)
    day: date = Field(primary_key=True)
    signups: int


@waiting("outreach_plan")
class OutreachPlan(WaitingRow, table=True):
    """What a workspace is charged for its outreach accounts; its id is the workspace's.

    `charged` and `method_id` are the provider's last known state, `changed_at` is the provider's time of it.
    `unpaid_since`: a charge was declined or is missing; outreach is put on hold some time later.
    """

    __tablename__ = "outreach_plans"
    __table_args__ = (*waiting_indexes("outreach_plans"),)

    id: str = Field(primary_key=True)
    workspace_id: str = Field(foreign_key="workspaces.id")
    subscription_id: str | None = None
    charged: int = 0
    method_id: str | None = None
    past_due: bool = False
    changed_at: datetime | None = Field(default=None, sa_type=TIME)
    looked_at: datetime | None = Field(default=None, sa_type=TIME)
    unpaid_since: datetime | None = Field(default=None, sa_type=TIME)
    failures: int = 0
    retry_at: datetime | None = Field(default=None, sa_type=TIME)
    created_at: datetime = Field(sa_type=TIME)


class OutreachChange(Row, table=True):
    """One change of the charged accounts, written before the provider is called; its id is the idempotency key."""

    __tablename__ = "outreach_changes"
    __table_args__ = (
        Index("ix_outreach_changes_workspace_id_created_at", "workspace_id", "created_at"),
        Index("uq_outreach_changes_open", "workspace_id", unique=True, postgresql_where=text(OPEN_CHANGE)),
        one_of("status", ChangeStatus),
    )

    id: str = Field(primary_key=True)
    workspace_id: str = Field(foreign_key="workspaces.id")
    accounts: int
    amount_cents: int
    method_id: str | None = None
    status: str
    reason: str | None = None
    call_number: int = 0
    unclear: bool = Field(default=False, sa_column_kwargs={"server_default": false()})
    created_at: datetime = Field(sa_type=TIME)
    ended_at: datetime | None = Field(default=None, sa_type=TIME)
