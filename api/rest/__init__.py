"""REST routes: thin rows over the operations."""

from api.rest import audit, billing, customers, intents, keys, lookups, raw, runs, search_plans, workspaces
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
    raw.router,
    audit.router,
)
"""Every noun's routes, in the order of the documentation."""
