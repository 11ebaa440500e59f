"""People for the tests of registers: named by a source, with a cached profile that a tenant may read."""

from uuid import uuid4

from models.base.database import Database, service_time
from models.base.secrets import Vault
from models.base.tenants import Tenant
from models.people.rules.profiles import CurrentJob, Profile, ProfileLocation, UntrustedText
from models.people.store import people, profiles
from models.people.store.people import Sighting
from tests.api.conftest import SECRET_KEY

SOURCE = "people_data_labs"
VAULT = Vault(SECRET_KEY)


def slug() -> str:
    """Return a unique name for a profile URL."""
    return f"ada-{uuid4().hex}"


def url(name: str) -> str:
    return f"https://www.linkedin.com/in/{name}"


async def meet(
    database: Database, *names: str, workspace_id: str | None = None, source_id: str | None = None
) -> list[str]:
    """Let a source name people by an id (default `pdl-<name>`) and a profile URL; return their profile ids."""
    sightings = [Sighting(SOURCE, source_id or f"pdl-{name}", url(name)) for name in names]
    found = await database.run(lambda session: people.identify(session, VAULT, sightings, workspace_id=workspace_id))
    return [found[one.source_id] for one in sightings]


def profile(name: str, profile_id: str) -> Profile:
    return Profile(
        id=profile_id,
        profile_url=url(name),
        public_identifier=name,
        full_name=f"Full {name}",
        location=ProfileLocation(label="Ghent, Belgium"),
        current=CurrentJob(title="Engineer", company="Acme"),
        experience_years=5,
        source=SOURCE,
        untrusted_text=UntrustedText(headline=f"Headline of {name}"),
    )


async def fetched(database: Database, tenant: Tenant, name: str) -> str:
    """Let a tenant fetch a person's profile into the cache."""
    (profile_id,) = await meet(database, name)
    async with database.transaction() as session:
        now = await service_time(session)
        full = profile(name, profile_id).model_copy(update={"fetched_at": now})
        await people.store_profiles(session, {profile_id: full})
        await profiles.give_copies(session, tenant, [profile_id])
    return profile_id
