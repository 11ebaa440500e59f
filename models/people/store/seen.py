"""The seen register as callers read and write it; runs write to it in `people.mark_seen`.

The caller of a function that writes has locked the people. `contacted_at` never goes back to null, and writing to an
entry marks the person as seen.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.database import service_time
from models.base.paging import Page, Slice, fetch, newest_first
from models.base.tenants import Tenant
from models.people.outreach_port import outreach
from models.people.rules.registers import MAX_TAGS, NoContactReason, SeenStatus
from models.people.store import suppressions
from models.people.tables import SeenEntry


@dataclass(frozen=True, slots=True)
class SeenFilters:
    """Which entries to show; null is any."""

    status: SeenStatus | None = None
    do_not_contact: bool | None = None
    contacted: bool | None = None
    tag: str | None = None


async def page_of_seen(session: AsyncSession, tenant: Tenant, filters: SeenFilters, page: Page) -> Slice[SeenEntry]:
    """Return the tenant's entries, newest first, without suppressed people."""
    profile_id, created_at = col(SeenEntry.profile_id), col(SeenEntry.created_at)
    query = select(SeenEntry).where(
        col(SeenEntry.tenant_id) == tenant.id, ~suppressions.is_suppressed_for(tenant, profile_id)
    )
    if filters.status is not None:
        query = query.where(col(SeenEntry.status) == filters.status)
    if filters.do_not_contact is not None:
        do_not_contact = col(SeenEntry.do_not_contact)
        query = query.where(do_not_contact if filters.do_not_contact else ~do_not_contact)
    if filters.contacted is not None:
        contacted_at = col(SeenEntry.contacted_at)
        query = query.where(contacted_at.is_not(None) if filters.contacted else contacted_at.is_(None))
    if filters.tag is not None:
        query = query.where(col(SeenEntry.tags).contains([filters.tag]))
    return await fetch(session, query, page, order=newest_first(created_at, profile_id), created_at=created_at)


async def seen_entry(session: AsyncSession, tenant: Tenant, profile_id: str) -> SeenEntry:
    """Return the tenant's entry of a locked person, added when there is none."""
    found = await session.get(SeenEntry, (tenant.id, profile_id), populate_existing=True)
    now = await service_time(session)
    if found is None:
        found = SeenEntry(workspace_id=tenant.workspace_id, tenant_id=tenant.id, profile_id=profile_id, created_at=now)
        session.add(found)
    found.first_seen_at = found.first_seen_at or now
    return found


async def note_seen(session: AsyncSession, tenant: Tenant, profile_id: str, changes: Mapping[str, object]) -> SeenEntry:
    """Write fields of a locked person's entry; `do_not_contact` stops outreach to them."""
    found = await seen_entry(session, tenant, profile_id)
    for name, value in changes.items():
        setattr(found, name, value)
    if changes.get("do_not_contact"):
        await _stop(session, tenant, [profile_id])
    return found


async def _stop(session: AsyncSession, tenant: Tenant, profile_ids: Collection[str]) -> None:
    await outreach().stop(session, profile_ids, NoContactReason.DO_NOT_CONTACT, within=tenant, alone=True)


@dataclass(frozen=True, slots=True)
class ImportedEntry:
    """What an import says about one person; null leaves a field as it is."""

    status: SeenStatus | None = None
    do_not_contact: bool | None = None
    tags: tuple[str, ...] = ()
    note: str | None = None
    first_seen_at: datetime | None = None
    contacted_at: datetime | None = None

    def followed_by(self, later: "ImportedEntry") -> "ImportedEntry":
        """Merge two entries of the same person: later texts win, facts are combined."""
        return ImportedEntry(
            status=later.status or self.status,
            do_not_contact=True if later.do_not_contact else self.do_not_contact,
            tags=tuple(dict.fromkeys(self.tags + later.tags)),
            note=self.note if later.note is None else later.note,
            first_seen_at=_earlier(self.first_seen_at, later.first_seen_at),
            contacted_at=_earlier(self.contacted_at, later.contacted_at),
        )


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    return min((at for at in (one, other) if at is not None), default=None)


GIVEN = """jsonb_to_recordset(cast(:given as jsonb)) as g
           (profile_id text, status text, do_not_contact boolean, tags text[], note text,
            first_seen_at timestamptz, contacted_at timestamptz)"""

MERGE = text(
    f"""
    update seen_entries e set
      status = coalesce(g.status, e.status),
      do_not_contact = e.do_not_contact or coalesce(g.do_not_contact, false),
      tags = e.tags || array(select tag from unnest(g.tags) as tag where tag <> all(e.tags)),
      note = coalesce(g.note, e.note),
      first_seen_at = least(e.first_seen_at, coalesce(g.first_seen_at, :now)),
      contacted_at = least(e.contacted_at, g.contacted_at),
      last_contacted_at = greatest(e.last_contacted_at, g.contacted_at)
      from {GIVEN} where e.tenant_id = :tenant and e.profile_id = g.profile_id
    """  # noqa: S608 - a constant of this module
)
ADD = text(
    f"""
    insert into seen_entries (workspace_id, tenant_id, profile_id, status, do_not_contact, tags, note, first_seen_at,
                              contacted_at, last_contacted_at, run_ids, created_at)
    select :workspace, :tenant, g.profile_id, coalesce(g.status, 'seen'), coalesce(g.do_not_contact, false), g.tags,
           g.note, coalesce(g.first_seen_at, :now), g.contacted_at, g.contacted_at, '{{}}', :now
      from {GIVEN} order by g.profile_id
    on conflict do nothing
    """  # noqa: S608 - a constant of this module
)
OVER_FULL = text(
    "select profile_id from seen_entries where tenant_id = :tenant and cardinality(tags) > :most"
    " and profile_id = any(cast(:ids as text[])) order by profile_id limit 1"
)


@dataclass(frozen=True, slots=True)
class ImportDone:
    """How many entries an import added and changed. `over_full`: a person with too many tags; roll the import back."""

    created: int
    updated: int
    over_full: str | None


async def import_entries(session: AsyncSession, tenant: Tenant, given: Mapping[str, ImportedEntry]) -> ImportDone:
    """Merge what an import says about locked people into the register."""
    named = {
        "workspace": tenant.workspace_id,
        "tenant": tenant.id,
        "now": await service_time(session),
        "given": json.dumps([_row(profile_id, said) for profile_id, said in given.items()]),
    }
    forbidden = [profile_id for profile_id, said in given.items() if said.do_not_contact]
    if forbidden:
        await _stop(session, tenant, forbidden)
    updated = await session.execute(MERGE, named)
    created = await session.execute(ADD, named)
    over_full = await session.scalar(OVER_FULL, {"tenant": tenant.id, "most": MAX_TAGS, "ids": list(given)})
    return ImportDone(created.rowcount, updated.rowcount, over_full)  # type: ignore[attr-defined] # the results of both statements have it


def _row(profile_id: str, said: ImportedEntry) -> dict[str, object]:
    return {
        "profile_id": profile_id,
        "status": said.status,
        "do_not_contact": said.do_not_contact,
        "tags": said.tags,
        "note": said.note,
        "first_seen_at": said.first_seen_at and said.first_seen_at.isoformat(),
        "contacted_at": said.contacted_at and said.contacted_at.isoformat(),
    }


@dataclass(frozen=True, slots=True)
class CheckedPerson:
    """What a tenant knows of a person. `profile_id` is null for a person whom no source has named."""

    profile_id: str | None
    suppressed: bool
    seen: bool
    contacted: bool
    do_not_contact: bool
    status: str | None
    tags: Sequence[str]


CHECK = text(
    f"""
    with asked as materialized (
      select a.place, a.hash,
             coalesce((select coalesce(p.alias_of, p.id) from people p where p.id = a.id),
                      (select k.profile_id from person_keys k where k.hash = a.hash)) as person
        from unnest(cast(:ids as text[]), cast(:hashes as bytea[])) with ordinality as a(id, hash, place)
    )
    select a.person,
           exists (select 1 from suppressions s where s.key_hash = a.hash and {suppressions.BINDS})
           or exists (select 1 from person_keys k join suppressions s on s.key_hash = k.hash
                       where k.profile_id = a.person and {suppressions.BINDS}) as suppressed,
           e.first_seen_at is not null as seen, e.contacted_at is not null as contacted,
           coalesce(e.do_not_contact, false) as do_not_contact, e.status, coalesce(e.tags, '{{}}') as tags
      from asked a
      left join lateral (
        select * from seen_entries r where r.tenant_id = :tenant and r.profile_id = a.person offset 0) as e on true
     order by a.place
    """  # noqa: S608 - a constant of this module
)
"""Materialised and looked up one by one (`offset 0`): otherwise row security keeps the planner from the index."""


async def check_people(
    session: AsyncSession, tenant: Tenant, asked: Collection[tuple[str | None, bytes | None]]
) -> list[CheckedPerson]:
    """Return in order what is known of each person, named by id or by the hash of a profile URL."""
    named = {
        "tenant": tenant.id,
        "ids": [profile_id for profile_id, _ in asked],
        "hashes": [key_hash for _, key_hash in asked],
    }
    rows = await session.execute(CHECK, named | suppressions.suppression_parameters(tenant))
    return [CheckedPerson(*row) for row in rows]
