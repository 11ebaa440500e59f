"""Steps of work in the background: what is due, and what a source's trouble means for the row."""

from collections.abc import Awaitable, Callable, Collection
from datetime import UTC, datetime, timedelta
from typing import Generic, TypeVar

import structlog

from activities.sourcing.calls import fetch_live
from activities.sourcing.people import PeopleCalls
from activities.steps import steps
from activities.upstream.ports.people import FetchStatus, SourceBusy, SourceRefusedQuery, SourceUnusable
from models.base.database import Database
from models.base.errors import DailyCreditCapReached, InsufficientCredits
from models.base.secrets import Vault
from models.base.steps import NextStep, Queue, Step, served_step
from models.base.tenants import Tenant
from models.people.store import people
from models.sourcing.engine import contacts, jobs
from models.sourcing.engine.contacts import LOOKUPS, Answered
from models.sourcing.engine.jobs import JOBS, Background
from models.sourcing.rules.jobs import ContactKind, JobFailure
from models.sourcing.rules.raw_calls import FetchAsk
from models.sourcing.tables import BackgroundRow

log = structlog.get_logger(__name__)

W = TypeVar("W", bound=BackgroundRow)


class BackgroundSteps(Generic[W]):
    """What one kind of work asks of its row."""

    def __init__(self, database: Database, work: Background[W]) -> None:
        self._database = database
        self._work = work

    async def next(self, row_id: str) -> NextStep:
        """Say what is due now: a call, waiting, or nothing more."""
        return (await self._database.run(lambda session: self._work.decide(session, row_id))).next_step

    async def guarded(self, step: Step, call: Callable[[], Awaitable[None]]) -> None:
        """Make the call; what the source answers instead of data becomes the row's state."""
        work = self._work
        try:
            await call()
        except SourceBusy as busy:
            after = _announced(busy)
            await self._database.run(lambda session: work.put_off(session, step.id, step.number, after=after))
        except (SourceUnusable, SourceRefusedQuery) as error:
            final = isinstance(error, SourceRefusedQuery)
            log.warning("background.source_unusable", id=step.id, error=type(error).__name__)
            await self._database.run(lambda session: work.unusable(session, step.id, step.number, final=final))
        except (InsufficientCredits, DailyCreditCapReached) as error:
            failure = JobFailure(error.code)
            await self._database.run(lambda session: work.fail(session, step.id, step.number, failure))


def _announced(busy: SourceBusy) -> timedelta | None:
    """Return how long the source asks to be left alone, by its wall clock; null when it did not say."""
    if busy.retry_at is not None:
        return max(busy.retry_at - datetime.now(UTC), timedelta(seconds=1))
    return None if busy.cooldown_seconds is None else timedelta(seconds=busy.cooldown_seconds)


# Fetch jobs.


@steps
class JobSteps:
    """What a job asks of the database and of the people source."""

    def __init__(self, database: Database, vault: Vault, people: PeopleCalls) -> None:
        self._database = database
        self._vault = vault
        self._people = people
        self._steps = BackgroundSteps(database, JOBS)

    @served_step("job.next")
    async def next(self, step: Step) -> NextStep:
        """Say what is due now: a call, waiting, or nothing more."""
        return await self._steps.next(step.id)

    @served_step(jobs.JOB_FETCH, Queue.UPSTREAM)
    async def fetch(self, step: Step) -> NextStep:
        """Fetch the people who are left and keep the answers."""
        begun = await self._database.run(
            lambda session: jobs.begin_job_call(session, self._vault, step.id, step.number)
        )
        if begun is not None:
            tenant, ask = begun
            await self._steps.guarded(step, lambda: self._fetch(step, tenant, ask))
        return await self._steps.next(step.id)

    async def _fetch(self, step: Step, tenant: Tenant, ask: FetchAsk) -> None:
        fetched, everybody = await fetch_live(self._database, self._vault, self._people, tenant, ask)
        await self._database.run(
            lambda session: jobs.settle_job(
                session, self._vault, step.id, step.number, people_ids=everybody, fetched=fetched
            )
        )


# Contact lookups.


@steps
class ContactSteps:
    """What a lookup asks of the database and of the contacts source."""

    def __init__(self, database: Database, vault: Vault, people: PeopleCalls) -> None:
        self._database = database
        self._vault = vault
        self._people = people
        self._steps = BackgroundSteps(database, LOOKUPS)

    @served_step("contacts.next")
    async def next(self, step: Step) -> NextStep:
        """Say what is due now: a call, waiting, or nothing more."""
        return await self._steps.next(step.id)

    @served_step(contacts.CONTACTS_FIND, Queue.UPSTREAM)
    async def find(self, step: Step) -> NextStep:
        """Ask for the people who are left and keep what was found."""
        asked = await self._database.run(lambda session: contacts.begin_contact_call(session, step.id, step.number))
        if asked is not None:
            await self._steps.guarded(step, lambda: self._find(step, asked))
        return await self._steps.next(step.id)

    async def _find(self, step: Step, asked: Collection[str]) -> None:
        async with self._database.transaction() as session:
            named = await people.source_ids(session, self._people.source.name, asked)
        owners = {source_ids[-1]: person for person, source_ids in named.items()}
        results = await self._people.contacts(list(owners)) if owners else ()
        values = {
            (owners[result.asked], kind): found
            for result in results
            for kind, found in ((ContactKind.EMAIL, result.emails), (ContactKind.PHONE, result.phones))
        }
        again = {owners[result.asked] for result in results if result.status is FetchStatus.RETRY}
        answered = Answered(values, again)
        await self._database.run(
            lambda session: contacts.settle_contacts(
                session, self._vault, step.id, step.number, asked=asked, answered=answered
            )
        )
