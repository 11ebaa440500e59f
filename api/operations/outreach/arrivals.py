"""Arrivals: keeping what the outreach provider, or a browser it sent back, says about an account."""

from datetime import timedelta

from api.operations.kernel import Kernel
from models.database import LOCK_NOT_AVAILABLE, Database, sqlstate
from models.reach import everywhere
from models.stores.outreach import callbacks
from models.stores.outreach.callbacks import Arrived


def of_anybody(kernel: Kernel) -> Database:
    """The database for looking up whose account it is about."""
    return kernel.database.within(everywhere("what the outreach provider says names an account of anybody"))


async def store(kernel: Kernel, arrived: Arrived, *, after: timedelta = timedelta()) -> None:
    """Keep a callback, due `after` some time, and ring its account, which may be busy."""
    database = of_anybody(kernel)
    try:
        await database.run(lambda session: callbacks.keep(session, arrived, after=after))
    except Exception as error:
        if sqlstate(error) != LOCK_NOT_AVAILABLE:
            raise
        # The account is held for long: its next step finds the callback without a ring.
        await database.run(lambda session: callbacks.keep(session, arrived, ring=False, after=after))
