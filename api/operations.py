"""The modules whose operations the API serves, in the order of the documentation."""

from types import ModuleType

from api.access import customers, keys, workspaces
from api.billing import credits, purchases
from api.events import endpoints, events
from api.kernel.operation import Operation
from api.kernel.routing import OperationRoute
from api.kernel.spreadsheet import SheetRoute
from api.outreach import accounts, actions, conversations, enrollments, sequences
from api.people import lists, profiles, seen, suppressions
from api.sourcing import jobs, lookups, plans, raw, runs

MODULES: tuple[ModuleType, ...] = (
    workspaces,
    keys,
    customers,
    credits,
    purchases,
    lookups,
    plans,
    runs,
    profiles,
    lists,
    suppressions,
    seen,
    raw,
    jobs,
    events,
    endpoints,
    accounts,
    sequences,
    enrollments,
    actions,
    conversations,
)


def routes() -> list[OperationRoute]:
    """Return the routes of every operation that REST serves, in the order in which the modules define them."""
    return [
        (SheetRoute if found.route.sheet else OperationRoute)(found, found.route)
        for module in MODULES
        for found in vars(module).values()
        if isinstance(found, Operation) and found.route and found.handler.__module__ == module.__name__
    ]
