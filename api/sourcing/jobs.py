"""Jobs: read while they run, and their results once they have ended."""

from collections.abc import Mapping

from api.billing import credits
from api.kernel.operation import Context, Effect, operation
from api.kernel.schemas import Listing
from api.sourcing.raw import RAW
from api.sourcing.raw_schemas import ContactLookupView, FetchContacts, FetchedPerson, JobView, ListResults, PricePreview
from api.sourcing.runs_schemas import CandidateShape
from models.access.rules.keys import Scope
from models.base.errors import Conflict
from models.base.paging import Cursors
from models.base.secrets import Vault
from models.people.rules.profiles import Profile
from models.people.store import people, profiles
from models.people.store.people import KnownPerson
from models.sourcing.engine import contacts, jobs
from models.sourcing.engine.contacts import LOOKUPS
from models.sourcing.rules.jobs import FINAL
from models.sourcing.rules.raw_calls import FetchedRow, RowStatus
from models.sourcing.tables import JobInput

RESULTS = "jobs.results"
SHOWN = frozenset({RowStatus.FOUND, RowStatus.CACHED})


@operation("jobs.get", scope=Scope.SOURCING_READ, effect=Effect.READ, route=RAW.get("/jobs/{job_id:id}"))
async def get_job(ctx: Context, job_id: str) -> JobView:
    """One job: its state, counts and spending."""
    job = await jobs.JOBS.get(ctx.session, ctx.tenant, job_id)
    return JobView.of(job, await jobs.count_job_inputs(ctx.session, job.id))


@operation(
    RESULTS, scope=Scope.SOURCING_READ, effect=Effect.READ, route=RAW.get("/jobs/{job_id:id}/results"), fails=[409]
)
async def list_results(ctx: Context, ask: ListResults) -> Listing[FetchedPerson]:
    """What became of each input, in input order, once the job has ended."""
    job = await jobs.JOBS.get(ctx.session, ctx.tenant, ask.job_id)
    if job.status not in FINAL:
        raise Conflict("This job has not ended yet.", retry_after=5, status=job.status)
    cursors = Cursors(ctx.vault.keyed_hash("cursor", "tag"), list_name=f"{RESULTS}/{job.id}", filters=None)
    position = cursors.read(ask.cursor)
    start = int(str(position[0])) if position else 0
    end = start + ask.limit
    kept = await jobs.inputs(ctx.session, job.id, start=start, limit=ask.limit)
    ids = {row.profile_id for row in kept if row.profile_id is not None}
    standing = await people.current_ids(ctx.session, ids)
    copies = await profiles.readable_profiles(ctx.session, ctx.tenant, set(standing.values()))
    known = await people.known_people(ctx.session, ctx.tenant, ids, run_id="")  # last: who opts out meanwhile is hidden
    following = cursors.write((end,) if end < job.total else None)
    view = ask.view or CandidateShape(job.view)
    return Listing(
        data=[FetchedPerson.of(_shown(ctx.vault, row, known, copies), view) for row in kept],
        next_cursor=following,
        has_more=following is not None,
    )


def _shown(vault: Vault, kept: JobInput, known: Mapping[str, KnownPerson], copies: Mapping[str, Profile]) -> FetchedRow:
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


# Contact lookups.


@operation(
    "contacts.fetch",
    scope=Scope.SOURCING_SPEND,
    effect=Effect.SPEND,
    route=RAW.post("/people/contacts:fetch", status=202, location="/people/contacts/{answer.id}"),
)
async def fetch_contacts(ctx: Context, ask: FetchContacts) -> ContactLookupView | PricePreview:
    """Look contact details up. Nothing found costs nothing. Preview the price with `?dry_run=true`."""
    ids, want = tuple(dict.fromkeys(ask.profile_ids)), tuple(dict.fromkeys(ask.want))
    standings = await contacts.read_contacts(ctx.session, ctx.tenant, contacts.pairs(ids, want))
    price = await credits.check_funds(ctx, contacts.price_contacts(standings))
    if ctx.dry_run:
        return price
    lookup = await contacts.create_contact_lookup(
        ctx.session, ctx.tenant, api_key_id=ctx.caller.api_key_id, profile_ids=ids, want=want
    )
    ctx.woken.append(contacts.contacts_subject(lookup.id))
    return ContactLookupView.of(lookup, await contacts.show_contacts(ctx.session, ctx.vault, ctx.tenant, lookup))


@operation(
    "contacts.get", scope=Scope.SOURCING_READ, effect=Effect.READ, route=RAW.get("/people/contacts/{lookup_id:id}")
)
async def get_contacts(ctx: Context, lookup_id: str) -> ContactLookupView:
    """A contact lookup and what it has found."""
    lookup = await LOOKUPS.get(ctx.session, ctx.tenant, lookup_id)
    return ContactLookupView.of(lookup, await contacts.show_contacts(ctx.session, ctx.vault, ctx.tenant, lookup))
