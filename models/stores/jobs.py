"""Fetch jobs: created by an operation, then worked off step by step, each step one fenced transaction.

A call whose number is no longer the job's changes nothing, so that a step that runs twice is charged once.
"""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.database import lock_people
from models.errors import NotFound
from models.ids import new_id
from models.rules.events import EventType, JobEnded
from models.rules.jobs import ATTEMPTS, FINAL, LIFE, JobFailure, JobStatus
from models.rules.raw_calls import FetchAsk, FetchedRow, RowStatus
from models.rules.run_states import retry_delay
from models.rules.subjects import Subject
from models.secrets import Vault
from models.stores import doorbells, events
from models.stores.credits import Payer
from models.stores.standing import forbidden
from models.stores.upstream_calls import fetching
from models.stores.upstream_calls.fetching import Fetched
from models.stores.upstream_calls.paying import pay
from models.tables import Job
from models.tables.base import Payload
from models.tenancy import Tenant, customer_of

PURPOSE = "job"
_NOT_FETCHED: Payload = {"status": RowStatus.ERROR, "profile_id": None, "charged_credits": 0}


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
        ask=vault.seal(PURPOSE, ask.model_dump_json().encode()),
        view=view,
        total=len(ask.wanted),
        deadline_at=now + LIFE,
        created_at=now,
    )
    session.add(job)
    await session.flush()
    await doorbells.ring(session, subject(job.id))
    return job


async def get(session: AsyncSession, tenant: Tenant, job_id: str) -> Job:
    """The tenant's job. Raises `NotFound`."""
    query = select(Job).where(col(Job.id) == job_id, col(Job.tenant_id) == tenant.id)
    job = (await session.scalars(query)).one_or_none()
    if job is None:
        raise NotFound("There is no such job.")
    return job


def asked(vault: Vault, job: Job) -> FetchAsk:
    """What the job is to fetch."""
    return FetchAsk.model_validate_json(vault.open(PURPOSE, job.ask))


def counts(job: Job) -> dict[str, int]:
    """How many inputs there are of each status so far."""
    return dict(Counter(row["status"] for row in job.rows or ()))


@dataclass(frozen=True, slots=True)
class Decision:
    """What is next: a call (`act`), waiting until `until`, or nothing more. `now` is service time."""

    job: Job
    now: datetime
    act: bool = False
    until: datetime | None = None


def tenant_of(job: Job) -> Tenant:
    """Whose job it is."""
    return Tenant(job.workspace_id, customer_of(job.tenant_id))


async def _locked(session: AsyncSession, job_id: str) -> tuple[Job, datetime]:
    job = (await session.scalars(select(Job).where(col(Job.id) == job_id).with_for_update())).one()
    return job, await service_time(session)


async def _called(session: AsyncSession, job_id: str, number: int) -> tuple[Job | None, datetime]:
    job, now = await _locked(session, job_id)
    return (job if job.call_number == number and job.status not in FINAL else None), now


async def decide(session: AsyncSession, job_id: str) -> Decision:
    """Say what the job needs next; answers every ring up to now and sets `wake_at`."""
    job, now = await _locked(session, job_id)
    job.answered = job.rings
    job.wake_at = None
    if job.status in FINAL:
        return Decision(job, now)
    code = await forbidden(session, tenant_of(job), api_key_id=job.api_key_id, now=now)
    if code is not None:
        _end(session, job, JobFailure(code), now)
    elif now >= job.deadline_at:
        _end(session, job, JobFailure.UPSTREAM_BUSY, now)
    elif job.retry_at is not None and job.retry_at > now:
        job.wake_at = min(job.retry_at, job.deadline_at)
        return Decision(job, now, until=job.wake_at)
    else:
        job.call_number += 1
        return Decision(job, now, act=True)
    return Decision(job, now)


async def begin(session: AsyncSession, vault: Vault, job_id: str, number: int) -> tuple[Tenant, FetchAsk] | None:
    """Whom the call is to fetch: everybody, later those refused before; null when the call is out of date."""
    job, _ = await _called(session, job_id, number)
    if job is None:
        return None
    job.status = JobStatus.RUNNING
    job.retry_at = None
    return tenant_of(job), _left(vault, job)


def _left(vault: Vault, job: Job) -> FetchAsk:
    ask = asked(vault, job)
    wanted = tuple(one for one, row in zip(ask.wanted, _rows(job), strict=True) if _is_open(row))
    return ask.model_copy(update={"wanted": wanted})


def _rows(job: Job) -> list[Payload | None]:
    return list(job.rows) if job.rows is not None else [None] * job.total


def _is_open(row: Payload | None) -> bool:
    return row is None or row["status"] == RowStatus.ERROR


async def settle(
    session: AsyncSession, vault: Vault, job_id: str, number: int, *, people_ids: Collection[str], fetched: Fetched
) -> None:
    """Charge and keep what the call gave; the last one ends the job. Raises what `pay` raises."""
    await lock_people(session, people_ids)
    job, now = await _called(session, job_id, number)
    if job is None:
        return
    tenant = tenant_of(job)
    made = await fetching.settled(session, vault, tenant, _left(vault, job), fetched=fetched, subject_id=job.id)
    job.spent_credits += await pay(session, Payer(job.workspace_id, job.api_key_id, tenant.customer_id), made.charges)
    fresh = iter(made.rows)
    job.rows = [_kept(next(fresh)) if row is None or _is_open(row) else row for row in _rows(job)]
    refused = any(row["status"] == RowStatus.ERROR for row in job.rows)
    job.failures = job.failures + 1 if refused else 0
    if refused and job.failures < ATTEMPTS:
        job.status = JobStatus.WAITING_FOR_QUOTA
        job.retry_at = now + retry_delay(job.failures)
        return
    _end(session, job, None, now)


def _kept(row: FetchedRow) -> Payload:
    return {"status": row.status, "profile_id": row.profile_id, "charged_credits": row.charged_credits}


async def put_off(session: AsyncSession, job_id: str, number: int, *, after: timedelta | None) -> None:
    """The source is busy: wait as it said; when it said nothing, twice as long each time."""
    job, now = await _called(session, job_id, number)
    if job is None:
        return
    job.failures += 1
    job.status = JobStatus.WAITING_FOR_QUOTA
    job.retry_at = now + (retry_delay(job.failures) if after is None else after)


async def unusable(session: AsyncSession, job_id: str, number: int, *, final: bool) -> None:
    """The source answered with something unusable: try again, and after a few times (or at once) fail."""
    job, now = await _called(session, job_id, number)
    if job is None:
        return
    job.failures += 1
    if final or job.failures >= ATTEMPTS:
        _end(session, job, JobFailure.UPSTREAM_ERROR, now)
        return
    job.status = JobStatus.WAITING_FOR_QUOTA
    job.retry_at = now + retry_delay(job.failures)


async def fail(session: AsyncSession, job_id: str, number: int, failure: JobFailure) -> None:
    """End the job."""
    job, now = await _called(session, job_id, number)
    if job is not None:
        _end(session, job, failure, now)


def _end(session: AsyncSession, job: Job, failure: JobFailure | None, now: datetime) -> None:
    """Bring the job to a final state and tell of it; nobody has been fetched whose row is still open."""
    job.status = JobStatus.COMPLETED if failure is None else JobStatus.FAILED
    job.failure_code = failure
    job.rows = [_NOT_FETCHED if row is None else row for row in _rows(job)]
    job.finished_at = now
    job.retry_at = job.wake_at = None
    ended = JobEnded(job_id=job.id, status=job.status, counts=counts(job), spent_credits=job.spent_credits)
    kind = EventType.JOB_COMPLETED if failure is None else EventType.JOB_FAILED
    events.emit(session, tenant_of(job), kind, ended, now=now)
