"""Arrivals: keeping what the outreach provider, or a browser it sent back, says about an account."""

from datetime import timedelta

from api.operations.kernel import Kernel
from models.database import LOCK_NOT_AVAILABLE, sqlstate
from models.stores.outreach import callbacks
from models.stores.outreach.callbacks import Arrived


async def store(kernel: Kernel, arrived: Arrived, *, after: timedelta = timedelta()) -> None:
    """Keep a callback, due `after` some time, and ring its account, which may be busy."""
    try:
        await kernel.database.run(lambda session: callbacks.keep(session, arrived, after=after))
    except Exception as error:
        if sqlstate(error) != LOCK_NOT_AVAILABLE:
            raise
        # The account is held for long: its next step finds the callback without a ring.
        await kernel.database.run(lambda session: callbacks.keep(session, arrived, ring=False, after=after))
