"""People whom a call names, by id or by any spelling of a profile URL: found or made, held, and refused by field."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from api.kernel.operation import Context
from api.people.schemas import NamePerson
from models.base.errors import InvalidRequest, NotFound, Suppressed
from models.people.rules.identity import InvalidProfileUrl, canonical_profile_url
from models.people.store import people, suppressions


@dataclass(frozen=True, slots=True)
class NamedPerson:
    """One person as named, and the field that does it."""

    field: str
    profile_id: str | None = None
    profile_url: str | None = None


def in_lists(profile_ids: Sequence[str], profile_urls: Sequence[str], *, most: int) -> list[NamedPerson]:
    """The people of a body with `profile_ids` and `profile_urls`, in that order. Raises `InvalidRequest`."""
    count = len(profile_ids) + len(profile_urls)
    if not 1 <= count <= most:
        raise InvalidRequest(
            f"Give 1 to {most} people in profile_ids and profile_urls together.",
            field="profile_urls" if profile_urls else "profile_ids",
        )
    named = [NamedPerson(f"profile_ids.{place}", profile_id=one) for place, one in enumerate(profile_ids)]
    return named + [NamedPerson(f"profile_urls.{place}", profile_url=one) for place, one in enumerate(profile_urls)]


def in_body(ask: NamePerson, *, within: str = "") -> NamedPerson:
    """The one person of a body, or of a part of it. Raises `InvalidRequest` unless exactly one field names it."""
    if (ask.profile_id is None) == (ask.profile_url is None):
        field = "profile_id" if ask.profile_id is None else "profile_url"
        raise InvalidRequest("Give either a profile_id or a profile_url.", field=within + field)
    by = "profile_url" if ask.profile_id is None else "profile_id"
    return NamedPerson(within + by, ask.profile_id, ask.profile_url)


def canonical(named: NamedPerson) -> str | None:
    """Return the canonical URL of a person named by URL. Raises `InvalidRequest` with the field."""
    if named.profile_url is None:
        return None
    try:
        return canonical_profile_url(named.profile_url)
    except InvalidProfileUrl as error:
        raise InvalidRequest(f"This is not the address of a profile: {error}.", field=named.field) from error


async def find_people(ctx: Context, named: Sequence[NamedPerson]) -> list[str]:
    """The ids that stand for these people, in order, all held; people named by URL for the first time get one.

    Raises `InvalidRequest` for what is no profile URL and `NotFound` for an unknown id, both with the field.
    """
    urls = [canonical(one) for one in named]
    made = await people.people_by_url(
        ctx.session, ctx.vault, {url for url in urls if url}, workspace_id=ctx.tenant.workspace_id
    )
    ids = [made[url] if url else one.profile_id or "" for one, url in zip(named, urls, strict=True)]
    standing = await people.lock_people(ctx.session, ids)
    for one, profile_id in zip(named, ids, strict=True):
        if profile_id not in standing:
            raise NotFound("There is no such profile.", field=one.field)
    return [standing[profile_id] for profile_id in ids]


async def find_person(ctx: Context, named: NamedPerson) -> str:
    """The same for one person."""
    (profile_id,) = await find_people(ctx, [named])
    return profile_id


async def writable(ctx: Context, profile_id: str) -> str:
    """The id that stands for a person of a path, held, to write about. Raises `NotFound`, `Suppressed`."""
    standing = (await people.lock_people(ctx.session, [profile_id])).get(profile_id)
    if standing is None:
        raise NotFound("There is no such profile.")
    if await suppressions.suppressed_among(ctx.session, ctx.tenant, [standing]):
        raise Suppressed(status=409)
    return standing


@dataclass(frozen=True, slots=True)
class SortedOut:
    """People of a bulk call: those to write about, by their first place in the call, and who was left out."""

    places: Mapping[str, int]
    suppressed: int
    duplicates: int


async def sort_out(ctx: Context, profile_ids: Sequence[str]) -> SortedOut:
    """Leave out people who are suppressed for the tenant, and repetitions."""
    places: dict[str, int] = {}
    for place, profile_id in enumerate(profile_ids):
        places.setdefault(profile_id, place)
    hidden = await suppressions.suppressed_among(ctx.session, ctx.tenant, places)
    kept = {profile_id: place for profile_id, place in places.items() if profile_id not in hidden}
    return SortedOut(kept, suppressed=len(hidden), duplicates=len(profile_ids) - len(places))
