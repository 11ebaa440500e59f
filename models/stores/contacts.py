"""Contact lookups: priced, worked off in the background, and what was found sealed for the account that paid for it."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.database import lock_people
from models.ids import new_id
from models.rules import pricing
from models.rules.contacts import KEPT, ContactKind, ContactStatus
from models.rules.events import ContactsFound, EventType
from models.rules.grants import Charge
from models.rules.jobs import ATTEMPTS, LIFE
from models.rules.run_states import retry_delay
from models.rules.subjects import Subject
from models.secrets import Vault
from models.stores import doorbells, events, people
from models.stores.background import Background, payer_of, tenant_of
from models.stores.upstream_calls.paying import pay
from models.tables import Contact, ContactLookup
from models.tables.base import Payload
from models.tenancy import Tenant


def subject(lookup_id: str) -> Subject:
    """The lookup as a waiting row."""
    return Subject("contacts", lookup_id)


async def create(
    session: AsyncSession,
    tenant: Tenant,
    *,
    api_key_id: str,
    profile_ids: Sequence[str],
    want: Sequence[ContactKind],
) -> ContactLookup:
    """A queued lookup, rung once: it starts when the transaction has committed."""
    now = await service_time(session)
    lookup = ContactLookup(
        id=new_id("lkp", now),
        workspace_id=tenant.workspace_id,
        tenant_id=tenant.id,
        api_key_id=api_key_id,
        profile_ids=list(profile_ids),
        want=list(want),
        deadline_at=now + LIFE,
        created_at=now,
    )
    session.add(lookup)
    await session.flush()
    await doorbells.ring(session, subject(lookup.id))
    return lookup


@dataclass(frozen=True, slots=True)
class Standing:
    """One person and kind: who is meant, and how it stands without asking anybody; null for "to be asked for"."""

    person: str | None
    kind: ContactKind
    status: ContactStatus | None


async def look(
    session: AsyncSession, tenant: Tenant, profile_ids: Sequence[str], want: Sequence[str]
) -> list[Standing]:
    """How each person and kind stands now: people in the order asked, kinds within them."""
    known = await people.known(session, tenant, profile_ids, run_id="")
    paid = await _paid(session, tenant, {each.profile_id for each in known.values()})
    standings: list[Standing] = []
    for one in profile_ids:
        standing = known.get(one)
        for kind in map(ContactKind, want):
            if standing is None:
                standings.append(Standing(None, kind, ContactStatus.NOT_FOUND))
                continue
            status: ContactStatus | None = None
            if standing.suppressed:
                status = ContactStatus.SUPPRESSED
            elif (standing.profile_id, kind) in paid:
                status = ContactStatus.FOUND
            standings.append(Standing(standing.profile_id, kind, status))
    return standings


async def _paid(session: AsyncSession, tenant: Tenant, profile_ids: Collection[str]) -> dict[tuple[str, str], bytes]:
    """What the account has paid for within the last twelve months, still sealed."""
    now = await service_time(session)
    rows = await session.scalars(
        select(Contact).where(
            col(Contact.workspace_id) == tenant.workspace_id,
            col(Contact.profile_id).in_(list(profile_ids)),
            col(Contact.found_at) > now - KEPT,
        )
    )
    return {(row.profile_id, row.kind): row.sealed for row in rows}


def price(standings: Sequence[Standing]) -> int:
    """The most that asking for the rest can cost."""
    return pricing.CONTACT * len({(each.person, each.kind) for each in standings if each.status is None})


async def begin(session: AsyncSession, lookup_id: str, number: int) -> set[str] | None:
    """Whom to ask for; null when the call is out of date."""
    lookup = await LOOKUPS.begin(session, lookup_id, number)
    if lookup is None:
        return None
    standings = await look(session, tenant_of(lookup), lookup.profile_ids, lookup.want)
    open_rows = zip(standings, _rows(lookup), strict=True)
    return {each.person for each, row in open_rows if _is_open(row) and each.status is None and each.person}


def _rows(lookup: ContactLookup) -> list[Payload | None]:
    unasked: list[Payload | None] = [None] * (len(lookup.profile_ids) * len(lookup.want))
    return unasked if lookup.rows is None else list(lookup.rows)


def _is_open(row: Payload | None) -> bool:
    return row is None or row["status"] == ContactStatus.ERROR


@dataclass(frozen=True, slots=True)
class Answered:
    """What the source gave: values by person and kind; `again` are people it refused for now."""

    values: Mapping[tuple[str, ContactKind], Sequence[str]]
    again: Collection[str]


async def settle(
    session: AsyncSession, vault: Vault, lookup_id: str, number: int, *, asked: Collection[str], answered: Answered
) -> None:
    """Charge what was found, once for each person and kind, and keep it sealed. Raises what `pay` raises."""
    await lock_people(session, asked)
    lookup, now = await LOOKUPS.called(session, lookup_id, number)
    if lookup is None:
        return
    tenant = tenant_of(lookup)
    standings = await look(session, tenant, lookup.profile_ids, lookup.want)
    charges: list[Charge] = []
    rows: list[Payload] = []
    for standing, row in zip(standings, _rows(lookup), strict=True):
        if row is not None and not _is_open(row):
            rows.append(row)
            continue
        status, charged = standing.status, 0
        values = answered.values.get((standing.person or "", standing.kind), ())
        if status is None and values:
            await _keep(session, vault, tenant, standing, values=values, now=now)
            status, charged = ContactStatus.FOUND, pricing.CONTACT
            reference = f"contact:{lookup.id}:{standing.person}:{standing.kind}"
            charges.append(Charge(reference, "contact", lookup.id, charged))
        elif status is None:
            status = ContactStatus.ERROR if standing.person in answered.again else ContactStatus.NOT_FOUND
        rows.append({"status": status, "charged_credits": charged})
    lookup.spent_credits += await pay(session, payer_of(lookup), charges)
    lookup.rows = rows
    refused = any(row["status"] == ContactStatus.ERROR for row in rows)
    lookup.failures = lookup.failures + 1 if refused else 0
    if refused and lookup.failures < ATTEMPTS:
        LOOKUPS.wait(lookup, now + retry_delay(lookup.failures))
        return
    LOOKUPS.end(session, lookup, None, now=now)


async def _keep(
    session: AsyncSession, vault: Vault, tenant: Tenant, standing: Standing, *, values: Sequence[str], now: datetime
) -> None:
    statement = insert(Contact).values(
        workspace_id=tenant.workspace_id,
        tenant_id=tenant.workspace_id,
        profile_id=standing.person,
        kind=standing.kind,
        sealed=vault.seal(_purpose(tenant), json.dumps(list(values)).encode()),
        found_at=now,
    )
    await session.execute(
        statement.on_conflict_do_update(
            index_elements=["workspace_id", "profile_id", "kind"],
            set_={"sealed": statement.excluded.sealed, "found_at": now},
        )
    )


def _purpose(tenant: Tenant) -> str:
    """Sealed for one account: no other can open it."""
    return f"contacts/{tenant.workspace_id}"


@dataclass(frozen=True, slots=True)
class Shown:
    """One person and kind of a lookup; `status` is null while it is looked for."""

    profile_id: str
    kind: ContactKind
    status: ContactStatus | None
    values: tuple[str, ...]
    charged_credits: int


async def shown(session: AsyncSession, vault: Vault, tenant: Tenant, lookup: ContactLookup) -> list[Shown]:
    """The answer so far; of somebody suppressed since nothing is shown."""
    standings = await look(session, tenant, lookup.profile_ids, lookup.want)
    paid = await _paid(session, tenant, {each.person for each in standings if each.person})
    asked = [one for one in lookup.profile_ids for _ in lookup.want]
    result: list[Shown] = []
    for one, standing, row in zip(asked, standings, _rows(lookup), strict=True):
        status = None if row is None else ContactStatus(row["status"])
        values: list[str] = []
        if standing.status is ContactStatus.SUPPRESSED or (standing.person is None and status is ContactStatus.FOUND):
            status = ContactStatus.SUPPRESSED
        elif status is ContactStatus.FOUND and (kept := paid.get((standing.person or "", standing.kind))) is not None:
            values = json.loads(vault.open(_purpose(tenant), kept))
        result.append(
            Shown(standing.person or one, standing.kind, status, tuple(values), row["charged_credits"] if row else 0)
        )
    return result


def _tell(session: AsyncSession, lookup: ContactLookup, now: datetime) -> None:
    """Nothing has been found whose row is still open."""
    unfound: Payload = {"status": ContactStatus.ERROR, "charged_credits": 0}
    lookup.rows = [unfound if row is None else row for row in _rows(lookup)]
    found = sum(row["status"] == ContactStatus.FOUND for row in lookup.rows)
    data = ContactsFound(
        lookup_id=lookup.id, found=found, missed=len(lookup.rows) - found, spent_credits=lookup.spent_credits
    )
    events.emit(session, tenant_of(lookup), EventType.CONTACTS_COMPLETED, data, now=now)


LOOKUPS = Background(ContactLookup, "contact lookup", _tell)
