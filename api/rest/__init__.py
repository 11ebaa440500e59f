"""REST routes: thin rows over the operations."""

from api.rest import audit, billing, keys, workspaces
from api.rest.routing import Router

ROUTERS: tuple[Router, ...] = (workspaces.router, keys.router, billing.router, audit.router)
"""Every noun's routes, in the order of the documentation."""
