"""Arrivals: keeping what the outreach provider, or a browser it sent back, says about an account."""

from datetime import timedelta

from api.kernel.kernel import Kernel
from models.base.database import LOCK_NOT_AVAILABLE, Database, sqlstate
from models.base.tenants import all_tenants
from models.outreach.store import accounts
from models.outreach.store.accounts import Arrived


def of_anybody(kernel: Kernel) -> Database:
    """The database for looking up whose account it is about."""
    return kernel.database.within(all_tenants("what the outreach provider says names an account of anybody"))


async def store_callback(kernel: Kernel, arrived: Arrived, *, after: timedelta = timedelta()) -> None:
    """Keep a callback, due `after` some time, and ring its account, which may be busy."""
    database = of_anybody(kernel)
    try:
        await database.run(lambda session: accounts.keep_network_callback(session, arrived, after=after))
    except Exception as error:
        if sqlstate(error) != LOCK_NOT_AVAILABLE:
            raise
        # The account is held for long: its next step finds the callback without a ring.
        await database.run(lambda session: accounts.keep_network_callback(session, arrived, ring=False, after=after))
