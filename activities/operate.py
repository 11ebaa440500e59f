"""The recurring duties of the installation."""

import contextlib
from collections.abc import Sequence
from datetime import timedelta

import structlog

from activities.sourcing.people import FEED_SECONDS, PeopleCalls
from activities.steps import steps
from activities.upstream.ports.people import (
    FeedUnavailable,
    SourceBusy,
    SourceNotConfigured,
    SourceRefusedQuery,
    SourceUnusable,
)
from models.base.database import Database
from models.base.secrets import Vault
from models.base.steps import Call, Do, NextStep, Queue, Step, served_step
from models.operate import housekeeping
from models.people.store import opt_outs
from models.sourcing.rules.runs import HEARTBEAT_SECONDS

log = structlog.get_logger(__name__)

HOUSEKEEPING_DO = "housekeeping.do"
HOUSEKEEPING_READ_OPT_OUTS = "housekeeping.read_opt_outs"

FAIRNESS_KEY = "installation"
PRIORITY = 4
"""Below everything that a caller waits for."""
AT_ONCE = 500
"""Ids stored in one transaction."""
SOON = timedelta(minutes=15)
NOT_CONFIGURED = timedelta(hours=1)


@steps
class HousekeepingSteps:
    """The database steps of the recurring duties."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @served_step("housekeeping.next")
    async def next(self, step: Step) -> NextStep:
        """Return the next step: do the duty, or wait until it is due."""
        now, until = await self._database.run(lambda session: housekeeping.next_due(session, step.id))
        if until is None:
            return NextStep(do=Do.ACT, call=_call(step.id))
        reason = f"{step.id} is due {until:%d %b %H:%M} UTC"
        return NextStep(do=Do.WAIT, wait_seconds=(until - now).total_seconds(), reason=reason, details=reason)

    @served_step(HOUSEKEEPING_DO)
    async def do(self, step: Step) -> NextStep:
        """Do the duty once."""
        await self._database.run(lambda session: housekeeping.do(session, step.id))
        return await self.next(step)


def _call(name: str) -> Call:
    if name != housekeeping.OPT_OUTS:
        return Call(step=HOUSEKEEPING_DO, summary=f"does {name}")
    return Call(
        step=HOUSEKEEPING_READ_OPT_OUTS,
        queue=Queue.UPSTREAM,
        summary="reads who opted out at the people source",
        limit_seconds=FEED_SECONDS,
        heartbeat_seconds=3 * HEARTBEAT_SECONDS,
        fairness_key=FAIRNESS_KEY,
        priority=PRIORITY,
    )


@steps
class OptOutSteps:
    """Reads the opt-out feed of the people source into the suppressions of the installation."""

    def __init__(self, database: Database, vault: Vault, people: PeopleCalls) -> None:
        self._database = database
        self._vault = vault
        self._people = people
        self._duties = HousekeepingSteps(database)

    @served_step(HOUSEKEEPING_READ_OPT_OUTS, Queue.UPSTREAM)
    async def read(self, step: Step) -> NextStep:
        """Read the whole feed. If it breaks off, the ids read so far are kept, and it is read again soon."""
        after = await self._read()
        await self._database.run(lambda session: housekeeping.rest(session, step.id, after=after))
        return await self._duties.next(step)

    async def _read(self) -> timedelta:
        count = 0
        try:
            async with contextlib.aclosing(self._people.opted_out(at_once=AT_ONCE)) as feed:
                async for ids in feed:
                    await self._keep(ids)
                    count += len(ids)
        except FeedUnavailable:
            log.info("opt_outs.feed_not_available")
        except SourceNotConfigured:
            log.warning("opt_outs.source_not_configured")
            return NOT_CONFIGURED
        except (SourceBusy, SourceUnusable, SourceRefusedQuery) as error:
            log.warning("opt_outs.broken_off", error=type(error).__name__, read=count)
            return SOON
        else:
            log.info("opt_outs.read", read=count)
        return housekeeping.AT_LEAST_EVERY

    async def _keep(self, ids: Sequence[str]) -> None:
        name = self._people.source.name
        await self._database.run(lambda session: opt_outs.suppress_source_opt_outs(session, self._vault, name, ids))
