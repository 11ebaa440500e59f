"""Fetch jobs: created by an operation, then worked off in the background."""

from collections import Counter
from collections.abc import Collection
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from models.clock import service_time
from models.database import lock_people
from models.ids import new_id
from models.rules.events import EventType, JobEnded
from models.rules.jobs import ATTEMPTS, LIFE, JobStatus
from models.rules.raw_calls import FetchAsk, FetchedRow, RowStatus
from models.rules.run_states import retry_delay
from models.rules.subjects import Subject
from models.secrets import Vault
from models.stores import doorbells, events
from models.stores.background import Background, payer_of, tenant_of
from models.stores.upstream_calls import fetching
from models.stores.upstream_calls.fetching import Fetched
from models.stores.upstream_calls.paying import pay
from models.tables import Job
from models.tables.base import Payload
from models.tenancy import Tenant

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


def asked(vault: Vault, job: Job) -> FetchAsk:
    """What the job is to fetch."""
    return FetchAsk.model_validate_json(vault.open(PURPOSE, job.ask))


def counts(job: Job) -> dict[str, int]:
    """How many inputs there are of each status so far."""
    return dict(Counter(row["status"] for row in job.rows or ()))


async def begin(session: AsyncSession, vault: Vault, job_id: str, number: int) -> tuple[Tenant, FetchAsk] | None:
    """Whom the call is to fetch: everybody, later those refused before; null when the call is out of date."""
    job = await JOBS.begin(session, job_id, number)
    if job is None:
        return None
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
    job, now = await JOBS.called(session, job_id, number)
    if job is None:
        return
    tenant = tenant_of(job)
    made = await fetching.settled(session, vault, tenant, _left(vault, job), fetched=fetched, subject_id=job.id)
    job.spent_credits += await pay(session, payer_of(job), made.charges)
    fresh = iter(made.rows)
    job.rows = [_kept(next(fresh)) if row is None or _is_open(row) else row for row in _rows(job)]
    refused = any(row["status"] == RowStatus.ERROR for row in job.rows)
    job.failures = job.failures + 1 if refused else 0
    if refused and job.failures < ATTEMPTS:
        JOBS.wait(job, now + retry_delay(job.failures))
        return
    JOBS.end(session, job, None, now=now)


def _kept(row: FetchedRow) -> Payload:
    return {"status": row.status, "profile_id": row.profile_id, "charged_credits": row.charged_credits}


def _tell(session: AsyncSession, job: Job, now: datetime) -> None:
    """Nobody has been fetched whose row is still open."""
    job.rows = [_NOT_FETCHED if row is None else row for row in _rows(job)]
    ended = JobEnded(job_id=job.id, status=job.status, counts=counts(job), spent_credits=job.spent_credits)
    kind = EventType.JOB_FAILED if job.status == JobStatus.FAILED else EventType.JOB_COMPLETED
    events.emit(session, tenant_of(job), kind, ended, now=now)


JOBS = Background(Job, "job", _tell)
