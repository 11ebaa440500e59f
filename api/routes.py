"""REST routes: thin rows over the operations."""

from api.access import audit_routes, customers_routes, keys_routes, workspaces_routes
from api.billing import credits_routes
from api.events import endpoints_routes, events_routes
from api.kernel.routing import Router
from api.outreach import accounts_routes, actions_routes, conversations_routes, enrollments_routes, sequences_routes
from api.people import lists_routes, profiles_routes, registers_routes
from api.sourcing import (
    contacts_routes,
    intents_routes,
    jobs_routes,
    lookups_routes,
    plans_routes,
    raw_routes,
    runs_routes,
)

ROUTERS: tuple[Router, ...] = (
    workspaces_routes.router,
    keys_routes.router,
    customers_routes.router,
    credits_routes.router,
    lookups_routes.router,
    intents_routes.router,
    plans_routes.router,
    runs_routes.router,
    profiles_routes.router,
    lists_routes.router,
    registers_routes.router,
    raw_routes.router,
    jobs_routes.router,
    contacts_routes.router,
    events_routes.router,
    endpoints_routes.router,
    accounts_routes.router,
    sequences_routes.router,
    enrollments_routes.router,
    actions_routes.router,
    conversations_routes.router,
    audit_routes.router,
)
"""Every noun's routes, in the order of the documentation."""
