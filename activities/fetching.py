"""Fetching the people of a request who are not cached: who they are in the source's words, and whose each answer is."""

from activities.people import People
from activities.upstream.ports import FetchStatus
from models.database import Database
from models.rules.raw_calls import FetchAsk
from models.secrets import Vault
from models.stores import people
from models.stores.upstream_calls import fetching
from models.stores.upstream_calls.fetching import Fetched
from models.tenancy import Tenant


async def fetch_live(
    database: Database, vault: Vault, source: People, tenant: Tenant, ask: FetchAsk
) -> tuple[Fetched, set[str]]:
    """One call for everybody who is to be fetched live; and everybody of the request whom we know by then.

    Raises what `People.fetch` raises.
    """
    async with database.transaction() as session:
        standings = await fetching.look(session, vault, tenant, ask)
        live = [standing for standing in standings if standing.status is None]
        named = await people.source_ids(session, source.source.name, fetching.persons(live))
        directory = await source.directory(session)
    # Somebody whom this source never named and who was not asked for by URL cannot be asked for.
    keys = {
        named[one.person][-1] if one.person in named else one.wanted.url: one
        for one in live
        if one.person in named or one.wanted.url is not None
    }
    asked = {asked_with: one.person for asked_with, one in keys.items() if asked_with is not None}
    results = await source.fetch(list(asked), directory) if asked else ()
    owners = await source.owners(database, vault, asked, results, workspace_id=tenant.workspace_id)
    profiles = {
        owners[result.asked]: result.profile
        for result in results
        if result.status is FetchStatus.FOUND and result.profile is not None
    }
    again = {keys[result.asked].key for result in results if result.status is FetchStatus.RETRY}
    return Fetched(profiles, again), fetching.persons(standings) | profiles.keys()
