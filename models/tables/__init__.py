"""SQLModel rows without behaviour."""

from models.tables.access import ApiKey, AuditEntry, IdempotencyRecord, RateWindow
from models.tables.account import Customer, Mail, Verification, Workspace
from models.tables.base import Row, WaitingRow
from models.tables.billing import DailySpend, Grant, Lead, LedgerEntry
from models.tables.companies import CompanyKey, CompanyRecord
from models.tables.events import Delivery, Event, EventClock, WebhookEndpoint
from models.tables.inbox import Conversation, Message, NetworkCallback, NetworkEndpoint
from models.tables.jobs import Contact, ContactAsked, ContactLookup, Job, JobInput
from models.tables.oauth import OauthClient, OauthGrant, OauthSignIn, OauthToken
from models.tables.outreach import (
    Action,
    CapNotice,
    Enrollment,
    NetworkPerson,
    OutreachAccount,
    OutreachSettings,
    Recovery,
    Sequence,
)
from models.tables.payments import (
    AutoRefill,
    BillingAccount,
    OutreachChange,
    OutreachPlan,
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
from models.tables.upstream import ScrollPage, UpstreamCall, UpstreamSlot

WAITING: dict[str, type[WaitingRow]] = {
    "run": Run,
    "mail": Mail,
    "housekeeping": Housekeeping,
    "delivery": Delivery,
    "job": Job,
    "contacts": ContactLookup,
    "account": OutreachAccount,
    "enrollment": Enrollment,
    "action": Action,
    "payment": Payment,
    "callback": PaymentCallback,
    "refill": AutoRefill,
    "client": OauthClient,
    "outreach_plan": OutreachPlan,
}
"""Each kind of waiting row by the first part of its workflow id."""

__all__ = [
    "WAITING",
    "Action",
    "ApiKey",
    "AuditEntry",
    "AutoRefill",
    "BillingAccount",
    "CachedProfile",
    "Candidate",
    "CapNotice",
    "CompanyKey",
    "CompanyRecord",
    "Contact",
    "ContactAsked",
    "ContactLookup",
    "Conversation",
    "Customer",
    "DailySpend",
    "Delivery",
    "Enrollment",
    "Erasure",
    "Event",
    "EventClock",
    "Grant",
    "Housekeeping",
    "IdempotencyRecord",
    "IntentRow",
    "Job",
    "JobInput",
    "Lead",
    "LedgerEntry",
    "ListPerson",
    "Mail",
    "Message",
    "NetworkCallback",
    "NetworkEndpoint",
    "NetworkPerson",
    "OauthClient",
    "OauthGrant",
    "OauthSignIn",
    "OauthToken",
    "OutreachAccount",
    "OutreachChange",
    "OutreachPlan",
    "OutreachSettings",
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
    "Recovery",
    "Row",
    "Run",
    "ScrollPage",
    "SearchPageRow",
    "SearchPlan",
    "SeenEntry",
    "Sequence",
    "ServiceClock",
    "SignupCount",
    "Suppression",
    "UpstreamCall",
    "UpstreamSlot",
    "Verification",
    "WaitingRow",
    "WebhookEndpoint",
    "Workspace",
]
