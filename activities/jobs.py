"""The steps of a fetch job: what is due, and one call for everybody who is left."""

from temporalio import activity

from activities.background import BackgroundSteps
from activities.fetching import fetch_live
from activities.people import People
from models.database import Database
from models.rules.raw_calls import FetchAsk
from models.secrets import Vault
from models.stores import jobs
from models.stores.jobs import JOBS
from models.tenancy import Tenant
from workflows import names
from workflows.contracts import NextStep, Step


class JobSteps:
    """What a job asks of the database and of the people source."""

    def __init__(self, database: Database, vault: Vault, source: People | None) -> None:
        self._database = database
        self._vault = vault
        self._people = source
        self._steps = BackgroundSteps(database, JOBS, call=names.JOB_FETCH, what="fetches the profiles left")

    @activity.defn(name=names.JOB_NEXT)
    async def next(self, step: Step) -> NextStep:
        """Say what is due now: a call, waiting, or nothing more."""
        return await self._steps.next(step.id)

    @activity.defn(name=names.JOB_FETCH)
    async def fetch(self, step: Step) -> NextStep:
        """Fetch everybody who is left and keep what came of it."""
        begun = await self._database.run(lambda session: jobs.begin(session, self._vault, step.id, step.number))
        if begun is not None:
            tenant, ask = begun
            await self._steps.guarded(step, lambda: self._fetch(step, tenant, ask))
        return await self._steps.next(step.id)

    async def _fetch(self, step: Step, tenant: Tenant, ask: FetchAsk) -> None:
        if self._people is None:
            raise RuntimeError("this worker serves no upstream queue")
        fetched, everybody = await fetch_live(self._database, self._vault, self._people, tenant, ask)
        await self._database.run(
            lambda session: jobs.settle(
                session, self._vault, step.id, step.number, people_ids=everybody, fetched=fetched
            )
        )
