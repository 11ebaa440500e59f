"""Fetch jobs: created by an operation, then worked off in the background."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.ids import new_id
from models.rules.events import EventType, JobEnded
from models.rules.jobs import ATTEMPTS, LIFE, JobStatus
from models.rules.raw_calls import FetchAsk, FetchedRow, RowStatus, WantedPerson
from models.rules.run_states import retry_delay
from models.rules.subjects import Subject
from models.secrets import Vault
from models.stores import doorbells, events, people
from models.stores.background import Background, payer_of, tenant_of
from models.stores.upstream_calls import fetching
from models.stores.upstream_calls.fetching import Fetched
from models.stores.upstream_calls.paying import pay
from models.tables import Job, JobInput
from models.tenancy import Tenant

PURPOSE = "job"


def subject(job_id: str) -> Subject:
    """The job as a waiting row."""
    return Subject("job", job_id)


async def create(
    session: AsyncSession, vault: Vault, tenant: Tenant, *, api_key_id: str, ask: FetchAsk, view: str
) -> Job:
    """A queued job, rung once: it starts when the transaction has committed."""
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
    await doorbells.ring(session, subject(job.id))
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
    """The person as they were asked for; null once they are erased."""
    return None if row.sealed is None else WantedPerson.model_validate_json(vault.open(PURPOSE, row.sealed))


async def inputs(session: AsyncSession, job_id: str, *, start: int = 0, limit: int | None = None) -> Sequence[JobInput]:
    """The job's inputs in their order, from the `start`th (0-based) on."""
    query = select(JobInput).where(col(JobInput.job_id) == job_id, col(JobInput.position) >= start)
    return (await session.scalars(query.order_by(col(JobInput.position)).limit(limit))).all()


async def counts(session: AsyncSession, job_id: str) -> dict[str, int]:
    """How many inputs there are of each status so far."""
    status = col(JobInput.status)
    query = select(status, func.count()).where(col(JobInput.job_id) == job_id, status.is_not(None)).group_by(status)
    return {str(each): count for each, count in await session.execute(query)}


async def begin(session: AsyncSession, vault: Vault, job_id: str, number: int) -> tuple[Tenant, FetchAsk] | None:
    """Whom the call is to fetch: everybody, later those refused before; null when the call is out of date."""
    job = await JOBS.begin(session, job_id, number)
    if job is None:
        return None
    return tenant_of(job), _ask(vault, job, await _open(session, job_id))


async def _open(session: AsyncSession, job_id: str) -> list[JobInput]:
    """Inputs that nothing final is known of, but those emptied by an erasure."""
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
"""Of somebody who was erased before the job came to them, not even what the caller gave is kept."""


async def settle(
    session: AsyncSession, vault: Vault, job_id: str, number: int, *, people_ids: Collection[str], fetched: Fetched
) -> None:
    """Charge and keep what the call gave; the last one ends the job. Raises what `pay` raises."""
    await people.hold(session, people_ids)
    job, now = await JOBS.called(session, job_id, number)
    if job is None:
        return
    tenant = tenant_of(job)
    rows = await _open(session, job_id)
    made = await fetching.settled(session, vault, tenant, _ask(vault, job, rows), fetched=fetched, subject_id=job.id)
    job.spent_credits += await pay(session, payer_of(job), made.charges)
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
    """Nobody has been fetched whose input is still open."""
    await session.flush()
    left = (col(JobInput.job_id) == job.id, col(JobInput.status).is_(None))
    await session.execute(update(JobInput).where(*left).values(status=RowStatus.ERROR))
    ended = JobEnded(
        job_id=job.id, status=job.status, counts=await counts(session, job.id), spent_credits=job.spent_credits
    )
    kind = EventType.JOB_FAILED if job.status == JobStatus.FAILED else EventType.JOB_COMPLETED
    events.emit(session, tenant_of(job), kind, ended, now=now)


JOBS = Background(Job, "job", _tell)
