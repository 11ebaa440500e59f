"""`python -m models.erase`: erase a person from the whole installation at the person's request."""

import argparse
import asyncio

from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database
from models.base.errors import NotFound
from models.base.secrets import Vault
from models.base.settings import Settings
from models.base.tenants import all_tenants
from models.people.store import people, suppressions


async def erase(database: Database, vault: Vault, *, by: str, value: str) -> str:
    """Erase the person with this `profile_id`, `profile_url` or `email` (`by`); return the erasure's id.

    Raises `InvalidProfileUrl`, and `NotFound` for an unknown id.
    """

    async def work(session: AsyncSession) -> str:
        match by:
            case "profile_url":
                named = (await people.people_by_url(session, vault, [value], workspace_id=None))[value]
            case "email":
                named = await people.person_by_email(session, vault, value)
            case _:
                named = value
        person = (await people.lock_people(session, [named])).get(named)
        if person is None:
            raise NotFound("There is no such profile.")
        return (await suppressions.erase_person(session, None, person)).id

    return await database.within(all_tenants("an operator erases a person from the installation")).run(work)


async def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m models.erase", description=__doc__)
    whom = parser.add_mutually_exclusive_group(required=True)
    for name in ("profile-id", "profile-url", "email"):
        whom.add_argument(f"--{name}")
    asked = {name: value for name, value in vars(parser.parse_args()).items() if value is not None}
    ((by, value),) = asked.items()
    settings = Settings()
    database = Database(settings.database_url, pool_size=1)
    try:
        erasure = await erase(database, Vault(settings.secret_key.get_secret_value()), by=by, value=value)
    finally:
        await database.close()
    print(erasure)  # noqa: T201 - the answer of a command


if __name__ == "__main__":
    asyncio.run(_main())
