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
    audit.router,
)
"""Every noun's routes, in the order of the documentation."""
