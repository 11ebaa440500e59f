"""The seen register: reading, noting, importing and checking (contract, section 5 "Registers")."""

from dataclasses import dataclass
from datetime import datetime

from api.kernel.operation import Context, Effect, operation
from api.kernel.schemas import Listing
from api.people.named_people import canonical, find_people, in_body, in_lists, sort_out, writable
from api.people.schemas import (
    MAX_CHECKED,
    ChangeSeen,
    CheckSeen,
    ImportPerson,
    ImportSeen,
    ListSeen,
    RegisterOmitted,
    SeenCheck,
    SeenChecked,
    SeenEntryView,
    SeenImported,
)
from api.people.suppressions import REGISTERS
from models.access.rules.keys import Scope
from models.base.errors import InvalidRequest
from models.people.rules.registers import MAX_TAGS
from models.people.store import people, seen
from models.people.store.seen import ImportedEntry, SeenFilters
from models.people.tables import SeenEntry


@dataclass(frozen=True, slots=True)
class SeenChange:
    """A person and what is to be noted."""

    profile_id: str
    change: ChangeSeen


@operation("seen.list", scope=Scope.SOURCING_READ, effect=Effect.READ, route=REGISTERS.get("/seen"))
async def list_seen(ctx: Context, ask: ListSeen) -> Listing[SeenEntryView]:
    """The seen register, newest first."""
    paging = ctx.paging(ask)
    filters = SeenFilters(ask.status, ask.do_not_contact, ask.contacted, ask.tag)
    return paging.listing(await seen.page_of_seen(ctx.session, ctx.tenant, filters, paging.page), _shown)


@operation(
    "seen.change", scope=Scope.SOURCING_WRITE, effect=Effect.WRITE, route=REGISTERS.patch("/seen/{profile_id:id}")
)
async def change_seen(ctx: Context, ask: SeenChange) -> SeenEntryView:
    """Note something about a person; the entry is made when there is none."""
    change = ask.change
    given = {name: getattr(change, name) for name in change.model_fields_set}
    for name in given.keys() & {"status", "do_not_contact"}:
        if given[name] is None:
            raise InvalidRequest(f"{name} cannot be null.", field=name)
    profile_id = await writable(ctx, ask.profile_id)
    if "tags" in given:
        given["tags"] = list(dict.fromkeys(change.tags or ()))
    return _shown(await seen.note_seen(ctx.session, ctx.tenant, profile_id, given))


@operation("seen.import", scope=Scope.SOURCING_WRITE, effect=Effect.WRITE, route=REGISTERS.post("/seen:import"))
async def import_seen(ctx: Context, ask: ImportSeen) -> SeenImported:
    """Merge up to 10,000 people into the register, all or none; `do_not_contact` is never lowered."""
    _check_past(ask, ctx.now)
    ids = await find_people(ctx, [in_body(one, within=f"people.{place}.") for place, one in enumerate(ask.people)])
    sorted_out = await sort_out(ctx, ids)
    given: dict[str, ImportedEntry] = {}
    for profile_id, one in zip(ids, ask.people, strict=True):
        if profile_id in sorted_out.places:
            said = _said(one)
            given[profile_id] = given[profile_id].followed_by(said) if profile_id in given else said
    done = await seen.import_entries(ctx.session, ctx.tenant, given)
    if done.over_full is not None:
        field = f"people.{sorted_out.places[done.over_full]}.tags"
        raise InvalidRequest(f"Together with the existing tags these are more than {MAX_TAGS}.", field=field)
    omitted = RegisterOmitted(suppressed=sorted_out.suppressed, duplicates=sorted_out.duplicates)
    return SeenImported(created=done.created, updated=done.updated, omitted=omitted)


@operation("seen.check", scope=Scope.SOURCING_READ, effect=Effect.READ, route=REGISTERS.post("/seen:check"))
async def check_seen(ctx: Context, ask: CheckSeen) -> SeenChecked:
    """Ask about up to 500 people."""
    named = in_lists(ask.profile_ids, ask.profile_urls, most=MAX_CHECKED)
    urls = [canonical(one) for one in named]
    asked = [
        (one.profile_id, None if url is None else people.url_hash(ctx.vault, url))
        for one, url in zip(named, urls, strict=True)
    ]
    found = await seen.check_people(ctx.session, ctx.tenant, asked)
    inputs = [*ask.profile_ids, *ask.profile_urls]
    return SeenChecked(data=[_checked(given, row) for given, row in zip(inputs, found, strict=True)])


def _check_past(ask: ImportSeen, now: datetime) -> None:
    for place, one in enumerate(ask.people):
        for field in ("first_seen_at", "contacted_at"):
            at: datetime | None = getattr(one, field)
            if at is not None and at > now:
                raise InvalidRequest("This has not happened yet.", field=f"people.{place}.{field}")


def _said(one: ImportPerson) -> ImportedEntry:
    return ImportedEntry(
        status=one.status,
        do_not_contact=one.do_not_contact,
        tags=tuple(dict.fromkeys(one.tags)),
        note=one.note,
        first_seen_at=one.first_seen_at,
        contacted_at=one.contacted_at,
    )


def _checked(given: str, row: seen.CheckedPerson) -> SeenCheck:
    """A suppressed person is told as such, without what was noted."""
    return SeenCheck(
        input=given,
        profile_id=row.profile_id,
        seen=row.seen,
        contacted=row.contacted,
        do_not_contact=row.do_not_contact,
        suppressed=row.suppressed,
        status=None if row.suppressed else row.status,
        tags=[] if row.suppressed else list(row.tags),
    )


def _shown(row: SeenEntry) -> SeenEntryView:
    shown = row.model_dump(include=set(SeenEntryView.model_fields))
    return SeenEntryView.model_validate(shown | {"id": row.profile_id})
