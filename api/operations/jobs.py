"""Jobs: read while they run, and their results once they have ended."""

from collections.abc import Mapping

from api.operations.kernel import Context, Effect, operation
from api.schemas.candidates import CandidateShape
from api.schemas.jobs import JobView, ListResults
from api.schemas.lists import Listing
from api.schemas.raw import FetchedPerson
from models.errors import Conflict
from models.rules.access import Scope
from models.rules.jobs import FINAL
from models.rules.people import Profile
from models.rules.raw_calls import FetchedRow, RowStatus
from models.secrets import Vault
from models.stores import jobs, people, profiles
from models.stores.paging import Cursors
from models.stores.people import Known
from models.tables import JobInput

RESULTS = "jobs.results"
SHOWN = frozenset({RowStatus.FOUND, RowStatus.CACHED})


@operation("jobs.get", scope=Scope.SOURCING_READ, effect=Effect.READ)
async def get_job(ctx: Context, job_id: str) -> JobView:
    """One job."""
    job = await jobs.JOBS.get(ctx.session, ctx.tenant, job_id)
    return JobView.of(job, await jobs.counts(ctx.session, job.id))


@operation(RESULTS, scope=Scope.SOURCING_READ, effect=Effect.READ, fails=[409])
async def list_results(ctx: Context, ask: ListResults) -> Listing[FetchedPerson]:
    """A page of a job's results in input order. Profiles come from the cache; of suppressed people nothing is shown."""
    job = await jobs.JOBS.get(ctx.session, ctx.tenant, ask.job_id)
    if job.status not in FINAL:
        raise Conflict("This job has not ended yet.", retry_after=5, status=job.status)
    cursors = Cursors(ctx.vault.keyed_hash("cursor", "tag"), list_name=f"{RESULTS}/{job.id}", filters=None)
    position = cursors.read(ask.cursor)
    start = int(str(position[0])) if position else 0
    end = start + ask.limit
    kept = await jobs.inputs(ctx.session, job.id, start=start, limit=ask.limit)
    ids = {row.profile_id for row in kept if row.profile_id is not None}
    standing = await people.stands_for(ctx.session, ids)
    copies = await profiles.readable(ctx.session, ctx.tenant, set(standing.values()))
    known = await people.known(ctx.session, ctx.tenant, ids, run_id="")  # last: who opts out meanwhile is hidden
    following = cursors.write((end,) if end < job.total else None)
    view = ask.view or CandidateShape(job.view)
    return Listing(
        data=[FetchedPerson.of(_shown(ctx.vault, row, known, copies), view) for row in kept],
        next_cursor=following,
        has_more=following is not None,
    )


def _shown(vault: Vault, kept: JobInput, known: Mapping[str, Known], copies: Mapping[str, Profile]) -> FetchedRow:
    given = jobs.given(vault, kept)
    row = FetchedRow(
        input=None if given is None else given.input,
        status=RowStatus(kept.status or RowStatus.ERROR),
        profile_id=kept.profile_id,
        charged_credits=kept.charged_credits,
    )
    standing = None if row.profile_id is None else known.get(row.profile_id)
    if standing is None:
        return row
    if standing.suppressed:
        return row.model_copy(update={"status": RowStatus.SUPPRESSED})
    profile = copies.get(standing.profile_id) if row.status in SHOWN else None
    return row.model_copy(update={"profile_id": standing.profile_id, "profile": profile})
