"""`python -m activities.reread --since 2026-11-28T00:00:00Z`: work in again what the payment provider told since then.

For an operator who has restored a backup: payments since the backup are unknown, and their callbacks are not sent
again. Everything is worked in as a callback is, so that what is known already changes nothing; it may be repeated.
"""

import argparse
import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from activities.upstream.payments import Payments, Purchase
from activities.upstream.stripe.client import StripePayments
from models.base.clock import service_time
from models.base.database import Database
from models.base.settings import Settings
from models.base.tenants import all_tenants
from models.billing.engine import callbacks as engine_callbacks
from models.billing.engine import outreach_plans
from models.billing.rules.outreach_plans import LOOK_EVERY
from models.billing.store import payments as store_payments

OVERLAP = timedelta(minutes=10)
"""Read from a little before, for a backup holds what was committed and not what was on its way."""

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Reread:
    """How many callbacks were read and worked in, and how many payments had to be written down again.

    `strange` are of workspaces that this database does not have.
    """

    callbacks: int = 0
    payments: int = 0
    strange: int = 0


async def reread(database: Database, payments: Payments, since: datetime) -> Reread:
    """Work in every callback since then, oldest first, each in a transaction of its own.

    Raises `PaymentsError` when the provider does not answer: what was worked in until then stays, and it is repeated.
    """
    whole = database.within(all_tenants("after a restore, the payments of every workspace are read again"))
    done = Reread()
    bodies = [body async for body in payments.told_since(since - OVERLAP)]
    for body in reversed(bodies):
        await _work_in(whole, payments, body, done)
    await whole.run(lambda session: outreach_plans.look_again(session, before=LOOK_EVERY))
    return done


async def _work_in(database: Database, payments: Payments, body: bytes, done: Reread) -> None:
    try:
        purchase, happenings = payments.read_purchase(body), payments.read_callback(body)
    except ValueError:
        log.warning("callback.unreadable")
        return

    async def work(session: AsyncSession) -> tuple[bool, bool]:
        now = await service_time(session)
        known, written = await _known(session, purchase, now)
        for happening in happenings if known else ():
            await engine_callbacks.apply(session, happening, now=now)
        return known, written

    known, written = await database.run(work)
    done.callbacks += known
    done.payments += written
    done.strange += not known


async def _known(session: AsyncSession, purchase: Purchase | None, now: datetime) -> tuple[bool, bool]:
    """Whether the purchase is of a workspace that is there, and whether its row had to be written again."""
    if purchase is None:
        return True, False
    if not await store_payments.is_there(session, purchase.workspace_id):
        log.warning("payment.of_no_workspace", payment_id=purchase.payment_id)
        return False, False
    await store_payments.remember_customer(session, purchase.workspace_id, purchase.customer_id, now=now)
    written = await store_payments.write_again(
        session, purchase.payment_id, purchase.workspace_id, purchase.kind, purchase.item, now=now
    )
    return True, written


def _moment(value: str) -> datetime:
    moment = datetime.fromisoformat(value)
    if moment.tzinfo is None:
        raise argparse.ArgumentTypeError("needs a time zone, such as 2026-11-28T00:00:00Z")
    return moment.astimezone(UTC)


async def _main() -> None:
    parser = argparse.ArgumentParser(prog="python -m activities.reread", description=__doc__)
    parser.add_argument("--since", type=_moment, required=True, help="the time of the backup")
    since: datetime = parser.parse_args().since
    settings = Settings()
    if settings.stripe_api_key is None:
        parser.error("STRIPE_API_KEY is not set: there is nothing to read")
    database = Database(settings.database_url, pool_size=1)
    provider = StripePayments(base_url=settings.stripe_base_url, api_key=settings.stripe_api_key.get_secret_value())
    try:
        done = await reread(database, provider, since)
    finally:
        await provider.close()
        await database.close()
    print(  # noqa: T201 - the answer of a command
        f"{done.callbacks} callbacks worked in, {done.payments} payments written down again,"
        f" {done.strange} of workspaces that are not there"
    )


if __name__ == "__main__":
    asyncio.run(_main())
