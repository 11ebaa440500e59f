"""The steps of a fetch job: what is due, and one call for everybody who is left."""

from datetime import UTC, datetime, timedelta

import structlog
from temporalio import activity

from activities.fetching import fetch_live
from activities.people import CALL_SECONDS, HEARTBEAT_SECONDS, People
from activities.upstream.ports import SourceBusy, SourceRefusedQuery, SourceUnusable
from models.database import Database
from models.errors import DailyCreditCapReached, InsufficientCredits
from models.rules.jobs import JobFailure
from models.rules.raw_calls import FetchAsk
from models.secrets import Vault
from models.stores import jobs
from models.stores.jobs import Decision
from models.tenancy import Tenant
from workflows import names
from workflows.contracts import Call, Do, NextStep, Queue, Step

log = structlog.get_logger(__name__)

PRIORITY = 3
"""With the pages of runs: nobody waits on the line."""


class JobSteps:
    """What a job asks of the database and of the people source."""

    def __init__(self, database: Database, vault: Vault, source: People | None) -> None:
        self._database = database
        self._vault = vault
        self._people = source

    @activity.defn(name=names.JOB_NEXT)
    async def next(self, step: Step) -> NextStep:
        """Say what is due now: a call, waiting, or nothing more."""
        return _answer(await self._database.run(lambda session: jobs.decide(session, step.id)))

    @activity.defn(name=names.JOB_FETCH)
    async def fetch(self, step: Step) -> NextStep:
        """Fetch everybody who is left and keep what came of it."""
        begun = await self._database.run(lambda session: jobs.begin(session, self._vault, step.id, step.number))
        if begun is not None:
            await self._guarded(step, *begun)
        return await self.next(step)

    async def _guarded(self, step: Step, tenant: Tenant, ask: FetchAsk) -> None:
        try:
            await self._fetch(step, tenant, ask)
        except SourceBusy as busy:
            after = announced(busy)
            await self._database.run(lambda session: jobs.put_off(session, step.id, step.number, after=after))
        except (SourceUnusable, SourceRefusedQuery) as error:
            final = isinstance(error, SourceRefusedQuery)
            log.warning("job.source_unusable", job_id=step.id, error=type(error).__name__)
            await self._database.run(lambda session: jobs.unusable(session, step.id, step.number, final=final))
        except (InsufficientCredits, DailyCreditCapReached) as error:
            failure = JobFailure(error.code)
            await self._database.run(lambda session: jobs.fail(session, step.id, step.number, failure))

    async def _fetch(self, step: Step, tenant: Tenant, ask: FetchAsk) -> None:
        if self._people is None:
            raise RuntimeError("this worker serves no upstream queue")
        fetched, everybody = await fetch_live(self._database, self._vault, self._people, tenant, ask)
        await self._database.run(
            lambda session: jobs.settle(
                session, self._vault, step.id, step.number, people_ids=everybody, fetched=fetched
            )
        )


def announced(busy: SourceBusy) -> timedelta | None:
    """How long the source asked to be left alone, by the wall clock that it speaks of; null when it did not say."""
    if busy.retry_at is not None:
        return max(busy.retry_at - datetime.now(UTC), timedelta(seconds=1))
    return None if busy.cooldown_seconds is None else timedelta(seconds=busy.cooldown_seconds)


def _answer(decision: Decision) -> NextStep:
    job = decision.job
    if decision.act:
        call = Call(
            step=names.JOB_FETCH,
            number=job.call_number,
            queue=Queue.UPSTREAM,
            summary=f"fetches up to {job.total} profiles",
            limit_seconds=2 * CALL_SECONDS,
            heartbeat_seconds=3 * HEARTBEAT_SECONDS,
            fairness_key=job.workspace_id,
            priority=PRIORITY,
        )
        return NextStep(do=Do.ACT, call=call, details=f"**{job.status}**: {job.total} people")
    if decision.until is not None:
        reason = f"data source busy until {decision.until:%d %b %H:%M:%S} UTC"
        seconds = (decision.until - decision.now).total_seconds()
        return NextStep(do=Do.WAIT, wait_seconds=seconds, reason=reason, details=reason)
    details = f"**{job.status}**: {jobs.counts(job)}, {job.spent_credits} credits"
    return NextStep(do=Do.DONE, details=details)
