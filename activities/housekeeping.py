"""The recurring duties of the installation."""

from temporalio import activity

from models.database import Database
from models.stores import housekeeping
from workflows import names
from workflows.contracts import Call, Do, NextStep, Step


class HousekeepingSteps:
    """What a duty asks of the database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @activity.defn(name=names.HOUSEKEEPING_NEXT)
    async def next(self, step: Step) -> NextStep:
        """Say whether the duty is due."""
        now, until = await self._database.run(lambda session: housekeeping.next_due(session, step.id))
        if until is None:
            return NextStep(do=Do.ACT, call=Call(step=names.HOUSEKEEPING_DO, summary=f"does {step.id}"))
        reason = f"{step.id} is due {until:%d %b %H:%M} UTC"
        return NextStep(do=Do.WAIT, wait_seconds=(until - now).total_seconds(), reason=reason, details=reason)

    @activity.defn(name=names.HOUSEKEEPING_DO)
    async def do(self, step: Step) -> NextStep:
        """Do the duty once."""
        await self._database.run(lambda session: housekeeping.do(session, step.id))
        return await self.next(step)
