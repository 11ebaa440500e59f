"""REST routes: thin rows over the operations."""

from api.rest import (
    audit,
    billing,
    contacts,
    customers,
    events,
    intents,
    jobs,
    keys,
    lookups,
    people_lists,
    profiles,
    raw,
    registers,
    runs,
    search_plans,
    webhook_endpoints,
    workspaces,
)
from api.rest.outreach import accounts as outreach_accounts
from api.rest.outreach import actions as outreach_actions
from api.rest.outreach import conversations as outreach_conversations
from api.rest.outreach import enrollments as outreach_enrollments
from api.rest.outreach import sequences as outreach_sequences
from api.rest.routing import Router

ROUTERS: tuple[Router, ...] = (
    workspaces.router,
    keys.router,
    customers.router,
    billing.router,
    lookups.router,
    intents.router,
    search_plans.router,
    runs.router,
    profiles.router,
    people_lists.router,
    registers.router,
    raw.router,
    jobs.router,
    contacts.router,
    events.router,
    webhook_endpoints.router,
    outreach_accounts.router,
    outreach_sequences.router,
    outreach_enrollments.router,
    outreach_actions.router,
    outreach_conversations.router,
    audit.router,
)
"""Every noun's routes, in the order of the documentation."""
