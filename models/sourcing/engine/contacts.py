"""Contact lookups: priced, done in the background, and their results sealed for the account that paid for them."""

import json
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base import outbox
from models.base.database import service_time
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.steps import Subject
from models.base.tenants import Tenant
from models.billing.rules import prices
from models.billing.rules.prices import CreditCharge
from models.events.rules.catalogue import ContactsFound, EventType
from models.events.store import events
from models.people.store import people, profiles, suppressions
from models.people.store.people import KnownPerson
from models.sourcing.engine.calls import pay
from models.sourcing.engine.jobs import Background, payer_of_row, tenant_of_row
from models.sourcing.rules.jobs import ATTEMPTS, KEPT, LIFE, ContactKind, ContactStatus
from models.sourcing.rules.runs import retry_delay
from models.sourcing.tables import Contact, ContactAsked, ContactLookup


def contacts_subject(lookup_id: str) -> Subject:
    """Return the lookup as a waiting row."""
    return Subject("contacts", lookup_id)


async def create_contact_lookup(
    session: AsyncSession,
    tenant: Tenant,
    *,
    api_key_id: str,
    profile_ids: Sequence[str],
    want: Sequence[ContactKind],
) -> ContactLookup:
    """Add a queued lookup and wake it: it starts after the commit. Rows are ordered by person and kind."""
    now = await service_time(session)
    lookup = ContactLookup(
        id=new_id("lkp", now),
        workspace_id=tenant.workspace_id,
        tenant_id=tenant.id,
        api_key_id=api_key_id,
        deadline_at=now + LIFE,
        created_at=now,
    )
    session.add(lookup)
    await session.flush()
    session.add_all(
        ContactAsked(
            workspace_id=tenant.workspace_id,
            tenant_id=tenant.id,
            lookup_id=lookup.id,
            position=position,
            profile_id=each.profile_id,
            kind=each.kind,
        )
        for position, each in enumerate(pairs(profile_ids, want))
    )
    await session.flush()
    await outbox.wake(session, contacts_subject(lookup.id))
    return lookup


@dataclass(frozen=True, slots=True)
class AskedContact:
    """One person and kind."""

    profile_id: str
    kind: ContactKind


def pairs(profile_ids: Sequence[str], want: Sequence[ContactKind]) -> list[AskedContact]:
    """Return everything asked for: people in their order, kinds within them."""
    return [AskedContact(one, kind) for one in profile_ids for kind in want]


async def contact_rows(session: AsyncSession, lookup_id: str) -> Sequence[ContactAsked]:
    """Return the lookup's rows in their order; those of people erased since are gone."""
    query = select(ContactAsked).where(col(ContactAsked.lookup_id) == lookup_id)
    return (await session.scalars(query.order_by(col(ContactAsked.position)))).all()


@dataclass(frozen=True, slots=True)
class ContactStanding:
    """One person and kind, with the status known without asking the source; null for "to be asked for"."""

    person: str | None
    kind: ContactKind
    status: ContactStatus | None


async def read_contacts(
    session: AsyncSession, tenant: Tenant, asked: Sequence[AskedContact | ContactAsked]
) -> list[ContactStanding]:
    """Return how each person and kind stands now, in the order asked."""
    known = await people.known_people(session, tenant, {each.profile_id for each in asked}, run_id="")
    paid = await _paid(session, tenant, {each.profile_id for each in known.values()})
    return [_standing(known.get(each.profile_id), ContactKind(each.kind), paid) for each in asked]


def _standing(known: KnownPerson | None, kind: ContactKind, paid: Container[tuple[str, str]]) -> ContactStanding:
    if known is None:
        return ContactStanding(None, kind, ContactStatus.NOT_FOUND)
    status: ContactStatus | None = None
    if known.suppressed:
        status = ContactStatus.SUPPRESSED
    elif (known.profile_id, kind) in paid:
        status = ContactStatus.FOUND
    return ContactStanding(known.profile_id, kind, status)


async def _paid(session: AsyncSession, tenant: Tenant, profile_ids: Collection[str]) -> dict[tuple[str, str], bytes]:
    """Return what the account has paid for within the last twelve months, still sealed."""
    now = await service_time(session)
    rows = await session.scalars(
        select(Contact).where(
            col(Contact.workspace_id) == tenant.workspace_id,
            col(Contact.profile_id).in_(list(profile_ids)),
            col(Contact.found_at) > now - KEPT,
        )
    )
    return {(row.profile_id, row.kind): row.sealed for row in rows}


def price_contacts(standings: Sequence[ContactStanding]) -> int:
    """Return the most that asking for the rest can cost."""
    return prices.CONTACT * len({(each.person, each.kind) for each in standings if each.status is None})


async def begin_contact_call(session: AsyncSession, lookup_id: str, number: int) -> set[str] | None:
    """Return whom to ask for; null when the call is out of date."""
    lookup = await LOOKUPS.begin(session, lookup_id, number)
    if lookup is None:
        return None
    rows = await _open(session, lookup_id)
    standings = await read_contacts(session, tenant_of_row(lookup), rows)
    return {each.person for each in standings if each.status is None and each.person}


async def _open(session: AsyncSession, lookup_id: str) -> list[ContactAsked]:
    return [row for row in await contact_rows(session, lookup_id) if row.status in {None, ContactStatus.ERROR}]


@dataclass(frozen=True, slots=True)
class Answered:
    """What the source gave: values by person and kind; `again` are people it refused for now."""

    values: Mapping[tuple[str, ContactKind], Sequence[str]]
    again: Collection[str]

    def addresses(self, person: str) -> Sequence[str]:
        """Return the e-mail addresses found of a person."""
        return self.values.get((person, ContactKind.EMAIL), ())

    def of(self, standing_for: Mapping[str, str]) -> "Answered":
        """Return the same values, by the current ids of the people."""
        return Answered(
            {(standing_for.get(one, one), kind): found for (one, kind), found in self.values.items()},
            {standing_for.get(one, one) for one in self.again},
        )


async def settle_contacts(
    session: AsyncSession, vault: Vault, lookup_id: str, number: int, *, asked: Collection[str], answered: Answered
) -> None:
    """Charge what was found, once for each person and kind, and keep it sealed. Raises what `pay` raises."""
    standing_for = await profiles.people_of_addresses(session, vault, {one: answered.addresses(one) for one in asked})
    answered = answered.of(standing_for)
    lookup, now = await LOOKUPS.called(session, lookup_id, number)
    if lookup is None:
        return
    tenant = tenant_of_row(lookup)
    rows = await _open(session, lookup_id)
    charges: list[CreditCharge] = []
    for row, standing in zip(rows, await read_contacts(session, tenant, rows), strict=True):
        values = answered.values.get((standing.person or "", standing.kind), ())
        if standing.status is None and values:
            await _keep(session, vault, tenant, standing, values=values, now=now)
            if standing.kind is ContactKind.EMAIL:
                await profiles.keep_addresses(session, vault, standing.person or "", values)
            row.status, row.charged_credits = ContactStatus.FOUND, prices.CONTACT
            reference = f"contact:{lookup.id}:{standing.person}:{standing.kind}"
            charges.append(CreditCharge(reference, "contact", lookup.id, prices.CONTACT))
        elif standing.status is None:
            row.status = ContactStatus.ERROR if standing.person in answered.again else ContactStatus.NOT_FOUND
        else:
            row.status = standing.status
    lookup.spent_credits += await pay(session, payer_of_row(lookup), charges)
    refused = any(row.status == ContactStatus.ERROR for row in rows)
    lookup.failures = lookup.failures + 1 if refused else 0
    if refused and lookup.failures < ATTEMPTS:
        LOOKUPS.wait(lookup, now + retry_delay(lookup.failures))
        return
    await LOOKUPS.end(session, lookup, None, now=now)


async def _keep(
    session: AsyncSession,
    vault: Vault,
    tenant: Tenant,
    standing: ContactStanding,
    *,
    values: Sequence[str],
    now: datetime,
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
    """Seal the values for one account: no other can open them."""
    return f"contacts/{tenant.workspace_id}"


@dataclass(frozen=True, slots=True)
class ContactRow:
    """One person and kind of a lookup; `status` is null while it is looked for."""

    profile_id: str
    kind: ContactKind
    status: ContactStatus | None
    values: tuple[str, ...]
    charged_credits: int


async def show_contacts(session: AsyncSession, vault: Vault, tenant: Tenant, lookup: ContactLookup) -> list[ContactRow]:
    """Return the answer so far; of a person suppressed since, nothing is shown."""
    rows = await contact_rows(session, lookup.id)
    standing_for = await people.current_ids(session, {row.profile_id for row in rows})
    paid = await _paid(session, tenant, set(standing_for.values()))
    hidden = await suppressions.suppressed_among(
        session, tenant, set(standing_for.values())
    )  # last, so that it covers people who opt out meanwhile
    result: list[ContactRow] = []
    for row in rows:
        person, kind = standing_for.get(row.profile_id, row.profile_id), ContactKind(row.kind)
        status = None if row.status is None else ContactStatus(row.status)
        values: list[str] = []
        if person in hidden:
            status = ContactStatus.SUPPRESSED
        elif status is ContactStatus.FOUND and (kept := paid.get((person, kind))) is not None:
            values = json.loads(vault.open(_purpose(tenant), kept))
        result.append(ContactRow(person, kind, status, tuple(values), row.charged_credits))
    return result


async def _tell(session: AsyncSession, lookup: ContactLookup, now: datetime) -> None:
    """Mark every row that is still open as not found."""
    await session.flush()
    left = (col(ContactAsked.lookup_id) == lookup.id, col(ContactAsked.status).is_(None))
    await session.execute(update(ContactAsked).where(*left).values(status=ContactStatus.ERROR))
    ended = select(func.count(), func.count().filter(col(ContactAsked.status) == ContactStatus.FOUND))
    every, found = (await session.execute(ended.where(col(ContactAsked.lookup_id) == lookup.id))).one()
    data = ContactsFound(lookup_id=lookup.id, found=found, missed=every - found, spent_credits=lookup.spent_credits)
    events.emit(session, tenant_of_row(lookup), EventType.CONTACTS_COMPLETED, data, now=now)


CONTACTS_FIND = "contacts.find"
LOOKUPS = Background(ContactLookup, "contact lookup", _tell, CONTACTS_FIND, "looks contact details up")
