"""SQLModel rows without behaviour."""

from models.tables.access import ApiKey, AuditEntry, IdempotencyRecord, RateWindow
from models.tables.account import Customer, Mail, Verification, Workspace
from models.tables.base import Row, WaitingRow
from models.tables.billing import DailySpend, Grant, Lead, LedgerEntry
from models.tables.events import Delivery, Event, EventClock, WebhookEndpoint
from models.tables.payments import (
    AutoRefill,
    BillingAccount,
    Payment,
    PaymentCallback,
    PaymentMethod,
    Plan,
    SignupCount,
)
from models.tables.people import (
    CachedProfile,
    Erasure,
    ListPerson,
    PeopleList,
    Person,
    PersonKey,
    ProfileCopy,
    SeenEntry,
    Suppression,
)
from models.tables.service import Housekeeping, ServiceClock
from models.tables.sourcing import Candidate, IntentRow, QueryTotal, Run, SearchPageRow, SearchPlan
from models.tables.upstream import UpstreamSlot

WAITING: dict[str, type[WaitingRow]] = {
    "run": Run,
    "mail": Mail,
    "housekeeping": Housekeeping,
    "delivery": Delivery,
    "payment": Payment,
    "callback": PaymentCallback,
    "refill": AutoRefill,
}
"""Each kind of waiting row by the first part of its workflow id."""

__all__ = [
    "WAITING",
    "ApiKey",
    "AuditEntry",
    "AutoRefill",
    "BillingAccount",
    "CachedProfile",
    "Candidate",
    "Customer",
    "DailySpend",
    "Delivery",
    "Erasure",
    "Event",
    "EventClock",
    "Grant",
    "Housekeeping",
    "IdempotencyRecord",
    "IntentRow",
    "Lead",
    "LedgerEntry",
    "ListPerson",
    "Mail",
    "Payment",
    "PaymentCallback",
    "PaymentMethod",
    "PeopleList",
    "Person",
    "PersonKey",
    "Plan",
    "ProfileCopy",
    "QueryTotal",
    "RateWindow",
    "Row",
    "Run",
    "SearchPageRow",
    "SearchPlan",
    "SeenEntry",
    "ServiceClock",
    "SignupCount",
    "Suppression",
    "UpstreamSlot",
    "Verification",
    "WaitingRow",
    "WebhookEndpoint",
    "Workspace",
]
