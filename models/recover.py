"""`python -m models.recover`: what an operator runs after a restore, before any worker starts."""

import argparse
import asyncio
from datetime import datetime

from models.base.database import Database
from models.base.errors import rfc3339
from models.base.settings import Settings
from models.base.tenants import all_tenants
from models.operate import recovery


async def recover(settings: Settings, since: datetime | None) -> str:
    """Begin the recovery in one transaction; return the operator's message. Raises `ValueError` for a bad time."""
    database = Database(settings.database_url, pool_size=0)
    try:
        whole = database.within(all_tenants("after a restore, what every account does next is read back first"))
        async with whole.transaction() as session:
            known = since or await recovery.last_stamp(session)
            if known is None:
                return "The database is empty: there is nothing to recover."
            begun = await recovery.begin_recovery(session, since=known)
    finally:
        await database.close()
    return (
        f"Backup of {rfc3339(begun.since)}, recovered at {rfc3339(begun.at)}. {begun.actions} open actions and"
        f" {begun.enrollments} open enrollments are read back on the network before anything is sent;"
        f" {begun.woken} waiting rows were woken. Start the workers now."
    )


def aware(value: str) -> datetime:
    """Return a time with its zone. Raises `ArgumentTypeError` for anything else."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError as error:
        raise argparse.ArgumentTypeError("not an RFC 3339 time") from error
    if moment.utcoffset() is None:
        raise argparse.ArgumentTypeError("the time needs its zone, as in 2026-11-28T09:00:00Z")
    return moment


def main() -> None:
    """Read the command line and the environment."""
    parser = argparse.ArgumentParser(prog="python -m models.recover", description=__doc__)
    parser.add_argument(
        "--since", type=aware, help="when the backup was made; without it the newest time that the database holds"
    )
    asked = parser.parse_args()
    try:
        message = asyncio.run(recover(Settings(), asked.since))
    except ValueError as error:
        parser.error(f"argument --since: {error}")
    print(message)  # noqa: T201 - a command's answer


if __name__ == "__main__":
    main()
