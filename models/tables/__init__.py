"""SQLModel rows without behaviour."""

from models.tables.access import ApiKey, AuditEntry, IdempotencyRecord, RateWindow
from models.tables.account import Customer, Mail, Verification, Workspace
from models.tables.base import Row, WaitingRow
from models.tables.billing import DailySpend, Grant, Lead, LedgerEntry
from models.tables.companies import CompanyKey, CompanyRecord
from models.tables.events import Delivery, Event, EventClock, WebhookEndpoint
from models.tables.jobs import Contact, ContactAsked, ContactLookup, Job, JobInput
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
}
"""Each kind of waiting row by the first part of its workflow id."""

__all__ = [
    "WAITING",
    "ApiKey",
    "AuditEntry",
    "CachedProfile",
    "Candidate",
    "CompanyKey",
    "CompanyRecord",
    "Contact",
    "ContactAsked",
    "ContactLookup",
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
    "Job",
    "JobInput",
    "Lead",
    "LedgerEntry",
    "ListPerson",
    "Mail",
    "PeopleList",
    "Person",
    "PersonKey",
    "ProfileCopy",
    "QueryTotal",
    "RateWindow",
    "Row",
    "Run",
    "ScrollPage",
    "SearchPageRow",
    "SearchPlan",
    "SeenEntry",
    "ServiceClock",
    "Suppression",
    "UpstreamCall",
    "UpstreamSlot",
    "Verification",
    "WaitingRow",
    "WebhookEndpoint",
    "Workspace",
]
