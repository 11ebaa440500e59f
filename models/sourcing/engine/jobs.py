"""Whether work in the background may go on: the key that started it, its workspace and its customer."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from sqlalchemy import func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base import outbox
from models.base.database import service_time
from models.base.errors import NotFound
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.steps import Decision, Do, Subject
from models.base.tenants import Tenant, customer_of
from models.billing.store.credits import Payer
from models.events.rules.catalogue import EventType, JobEnded
from models.events.store import events
from models.people.store import people
from models.sourcing.engine import fetch
from models.sourcing.engine.calls import pay
from models.sourcing.engine.fetch import Fetched
from models.sourcing.rules.jobs import ATTEMPTS, FINAL, LIFE, JobFailure, JobStatus
from models.sourcing.rules.raw_calls import FetchAsk, FetchedRow, RowStatus, WantedPerson
from models.sourcing.rules.runs import FailureCode, retry_delay, upstream_call
from models.sourcing.tables import BackgroundRow, Job, JobInput

STANDING = text(
    """
    select k.revoked_at is null and (k.expires_at is null or k.expires_at > :now) as key_valid,
           w.suspended_at is not null as suspended,
           coalesce((select c.status = 'disabled' from customers c where c.id = cast(:customer as text)), false)
             as disabled
      from api_keys k join workspaces w on w.id = k.workspace_id where k.id = :key
    """
)


async def work_forbidden(
    session: AsyncSession, tenant: Tenant, *, api_key_id: str, now: datetime
) -> FailureCode | None:
    """Return why the work may not go on, null when it may."""
    row = (await session.execute(STANDING, {"key": api_key_id, "customer": tenant.customer_id, "now": now})).one()
    if row.suspended:
        return FailureCode.WORKSPACE_SUSPENDED
    if row.disabled:
        return FailureCode.CUSTOMER_DISABLED
    return None if row.key_valid else FailureCode.KEY_REVOKED


# What every kind of background work does under lock, each step fenced.


W = TypeVar("W", bound=BackgroundRow)


JOB_FETCH = "job.fetch"


def tenant_of_row(row: BackgroundRow) -> Tenant:
    """Return the tenant of the work."""
    return Tenant(row.workspace_id, customer_of(row.tenant_id))


def payer_of_row(row: BackgroundRow) -> Payer:
    """Return who pays for the work."""
    return Payer(row.workspace_id, row.api_key_id, customer_of(row.tenant_id))


def _details(row: BackgroundRow) -> str:
    """Return what an operator reads on the workflow's page."""
    return f"**{row.status}**: {row.spent_credits} credits, call {row.call_number}"


@dataclass(frozen=True, slots=True)
class Background(Generic[W]):
    """One kind of work: `step` is the activity that calls upstream, `summary` what an operator reads of it.

    `tell` is called once with the row in its final state, in the transaction that ends it.
    """

    table: type[W]
    noun: str
    tell: Callable[[AsyncSession, W, datetime], Awaitable[None]]
    step: str
    summary: str

    async def get(self, session: AsyncSession, tenant: Tenant, row_id: str) -> W:
        """Return the tenant's row. Raises `NotFound`."""
        query = select(self.table).where(col(self.table.id) == row_id, col(self.table.tenant_id) == tenant.id)
        row = (await session.scalars(query)).one_or_none()
        if row is None:
            raise NotFound(f"There is no such {self.noun}.")
        return row

    async def _locked(self, session: AsyncSession, row_id: str) -> tuple[W, datetime]:
        query = select(self.table).where(col(self.table.id) == row_id)
        return (await session.scalars(query.with_for_update())).one(), await service_time(session)

    async def called(self, session: AsyncSession, row_id: str, number: int) -> tuple[W | None, datetime]:
        """Return the row, locked, if it still waits for this call; and the service time."""
        row, now = await self._locked(session, row_id)
        return (row if row.call_number == number and row.status not in FINAL else None), now

    async def decide(self, session: AsyncSession, row_id: str) -> Decision:
        """Say what is needed next; answers every wake up to now and sets `wake_at`."""
        row, now = await self._locked(session, row_id)
        row.answered = row.rings
        row.wake_at = None
        if row.status in FINAL:
            return Decision(Do.DONE, now, details=_details(row))
        code = await work_forbidden(session, tenant_of_row(row), api_key_id=row.api_key_id, now=now)
        if code is not None:
            await self.end(session, row, JobFailure(code), now=now)
        elif now >= row.deadline_at:
            await self.end(session, row, JobFailure.UPSTREAM_BUSY, now=now)
        elif row.retry_at is not None and row.retry_at > now:
            row.wake_at = min(row.retry_at, row.deadline_at)
            reason = f"data source busy until {row.wake_at:%d %b %H:%M:%S} UTC"
            return Decision(Do.WAIT, now, until=row.wake_at, reason=reason, details=f"{_details(row)}; {reason}")
        else:
            row.call_number += 1
            call = upstream_call(self.step, row.workspace_id, self.summary, number=row.call_number)
            return Decision(Do.ACT, now, call, details=_details(row))
        return Decision(Do.DONE, now, details=_details(row))

    async def begin(self, session: AsyncSession, row_id: str, number: int) -> W | None:
        """Note that the call leaves the queue; null when it is out of date."""
        row, _ = await self.called(session, row_id, number)
        if row is not None:
            row.status = JobStatus.RUNNING
            row.retry_at = None
        return row

    async def put_off(self, session: AsyncSession, row_id: str, number: int, *, after: timedelta | None) -> None:
        """Put the work off while the source is busy: as long as it said, else twice as long each time."""
        row, now = await self.called(session, row_id, number)
        if row is not None:
            row.failures += 1
            self.wait(row, now + (retry_delay(row.failures) if after is None else after))

    async def unusable(self, session: AsyncSession, row_id: str, number: int, *, final: bool) -> None:
        """Handle an unusable answer: try again, and after a few times (or at once) fail."""
        row, now = await self.called(session, row_id, number)
        if row is None:
            return
        row.failures += 1
        if final or row.failures >= ATTEMPTS:
            await self.end(session, row, JobFailure.UPSTREAM_ERROR, now=now)
        else:
            self.wait(row, now + retry_delay(row.failures))

    async def fail(self, session: AsyncSession, row_id: str, number: int, failure: JobFailure) -> None:
        """End the work with an error."""
        row, now = await self.called(session, row_id, number)
        if row is not None:
            await self.end(session, row, failure, now=now)

    def wait(self, row: W, until: datetime) -> None:
        """Wait until then. The call is over: begun or answered again, it changes nothing."""
        row.call_number += 1
        row.status = JobStatus.WAITING_FOR_QUOTA
        row.retry_at = until

    async def end(self, session: AsyncSession, row: W, failure: JobFailure | None, *, now: datetime) -> None:
        """Bring the work to a final state and emit its event."""
        row.status = JobStatus.COMPLETED if failure is None else JobStatus.FAILED
        row.failure_code = failure
        row.finished_at = now
        row.retry_at = row.wake_at = None
        await self.tell(session, row, now)


# Fetch jobs: created by an operation, then done in the background.


PURPOSE = "job"


def job_subject(job_id: str) -> Subject:
    """Return the job as a waiting row."""
    return Subject("job", job_id)


async def create_job(
    session: AsyncSession, vault: Vault, tenant: Tenant, *, api_key_id: str, ask: FetchAsk, view: str
) -> Job:
    """Add a queued job and wake it: it starts when the transaction has committed."""
    now = await service_time(session)
    job = Job(
        id=new_id("job", now),
        workspace_id=tenant.workspace_id,
        tenant_id=tenant.id,
        api_key_id=api_key_id,
        view=view,
        max_age_days=ask.max_age_days,
        total=len(ask.wanted),
        deadline_at=now + LIFE,
        created_at=now,
    )
    session.add(job)
    await session.flush()
    session.add_all(_input(vault, job, position, one) for position, one in enumerate(ask.wanted))
    await session.flush()
    await outbox.wake(session, job_subject(job.id))
    return job


def _input(vault: Vault, job: Job, position: int, one: WantedPerson) -> JobInput:
    return JobInput(
        workspace_id=job.workspace_id,
        tenant_id=job.tenant_id,
        job_id=job.id,
        position=position,
        sealed=vault.seal(PURPOSE, one.model_dump_json().encode()),
        url_hash=None if one.url is None else people.url_hash(vault, one.url),
        profile_id=one.profile_id,
    )


def given(vault: Vault, row: JobInput) -> WantedPerson | None:
    """Return the person as they were asked for; null once they are erased."""
    return None if row.sealed is None else WantedPerson.model_validate_json(vault.open(PURPOSE, row.sealed))


async def inputs(session: AsyncSession, job_id: str, *, start: int = 0, limit: int | None = None) -> Sequence[JobInput]:
    """Return the job's inputs in their order, from the `start`th (0-based) on."""
    query = select(JobInput).where(col(JobInput.job_id) == job_id, col(JobInput.position) >= start)
    return (await session.scalars(query.order_by(col(JobInput.position)).limit(limit))).all()


async def count_job_inputs(session: AsyncSession, job_id: str) -> dict[str, int]:
    """Return how many inputs there are of each status so far."""
    status = col(JobInput.status)
    query = select(status, func.count()).where(col(JobInput.job_id) == job_id, status.is_not(None)).group_by(status)
    return {str(each): count for each, count in await session.execute(query)}


async def begin_job_call(
    session: AsyncSession, vault: Vault, job_id: str, number: int
) -> tuple[Tenant, FetchAsk] | None:
    """Return the people to fetch: all of them, later those refused before; null when the call is out of date."""
    job = await JOBS.begin(session, job_id, number)
    if job is None:
        return None
    return tenant_of_row(job), _ask(vault, job, await _open(session, job_id))


async def _open(session: AsyncSession, job_id: str) -> list[JobInput]:
    """Select the inputs without a final status, except those emptied by an erasure."""
    rows = await inputs(session, job_id)
    return [row for row in rows if row.sealed is not None and row.status in {None, RowStatus.ERROR}]


def _ask(vault: Vault, job: Job, rows: Sequence[JobInput]) -> FetchAsk:
    wanted = tuple(one for row in rows if (one := given(vault, row)) is not None)
    return FetchAsk(wanted=wanted, max_age_days=job.max_age_days)


UNNAME_ERASED = text(
    """
    update job_inputs i set sealed = null, url_hash = null, profile_id = null
     where job_id = :job and status = 'suppressed' and sealed is not null
       and exists (select 1 from person_keys o
                     join person_keys k on k.profile_id = o.profile_id
                     join suppressions s on s.key_hash = k.hash
                    where (o.profile_id = i.profile_id or o.hash = i.url_hash) and s.reason = 'erasure'
                      and (s.workspace_id is null or s.workspace_id = i.workspace_id))
    """
)
"""Empty the inputs of people who were erased before the job came to them: not even what the caller gave is kept."""


async def settle_job(
    session: AsyncSession, vault: Vault, job_id: str, number: int, *, people_ids: Collection[str], fetched: Fetched
) -> None:
    """Charge and keep the answers of a call; the last one ends the job. Raises what `pay` raises."""
    await people.lock_people(session, people_ids)
    job, now = await JOBS.called(session, job_id, number)
    if job is None:
        return
    tenant = tenant_of_row(job)
    rows = await _open(session, job_id)
    made = await fetch.fetch_results(session, vault, tenant, _ask(vault, job, rows), fetched=fetched, subject_id=job.id)
    job.spent_credits += await pay(session, payer_of_row(job), made.charges)
    for row, fresh in zip(rows, made.rows, strict=True):
        _keep(row, fresh)
    await session.flush()
    await session.execute(UNNAME_ERASED, {"job": job.id})
    refused = any(row.status == RowStatus.ERROR for row in rows)
    job.failures = job.failures + 1 if refused else 0
    if refused and job.failures < ATTEMPTS:
        JOBS.wait(job, now + retry_delay(job.failures))
        return
    await JOBS.end(session, job, None, now=now)


def _keep(row: JobInput, fresh: FetchedRow) -> None:
    row.status = fresh.status
    row.profile_id = fresh.profile_id or row.profile_id
    row.charged_credits = fresh.charged_credits


async def _tell(session: AsyncSession, job: Job, now: datetime) -> None:
    """Mark every input that is still open as not found."""
    await session.flush()
    left = (col(JobInput.job_id) == job.id, col(JobInput.status).is_(None))
    await session.execute(update(JobInput).where(*left).values(status=RowStatus.ERROR))
    ended = JobEnded(
        job_id=job.id,
        status=job.status,
        counts=await count_job_inputs(session, job.id),
        spent_credits=job.spent_credits,
    )
    kind = EventType.JOB_FAILED if job.status == JobStatus.FAILED else EventType.JOB_COMPLETED
    events.emit(session, tenant_of_row(job), kind, ended, now=now)


JOBS = Background(Job, "job", _tell, JOB_FETCH, "fetches the profiles left")
