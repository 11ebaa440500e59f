"""Prospects: what keeps people from being enrolled, and what is known of them for rendering, for many at once."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.ids import new_id
from models.rules.outreach.rendering import Person
from models.rules.outreach.states import ActionReason
from models.secrets import Vault
from models.stores import people, suppressions
from models.stores.outreach import persons
from models.stores.outreach.accounts import Held
from models.stores.outreach.persons import Facts
from models.stores.outreach.sources import Named
from models.tables.outreach import OPEN_ENROLLMENTS


@dataclass(frozen=True, slots=True)
class Prospect:
    """A person to enroll. `obstacle` is why they are not; `key` and `earlier` go into the seed of the first action.

    `link_id` is the id that the opt-out link is made of: their own, or for somebody who was never met one of nobody,
    which makes a link of the same length.
    """

    profile_id: str | None
    profile_url: str | None
    link_id: str
    values: dict[str, str]
    person: Person
    key: str
    earlier: int
    obstacle: ActionReason | None


REGISTERED = text(
    f"""
    select asked.id, coalesce(e.do_not_contact, false) as do_not_contact,
           e.contacted_at is not null
           or exists (select from enrollments o where o.tenant_id = :tenant and o.profile_id = asked.id
                         and {OPEN_ENROLLMENTS}) as contacted,
           (select count(*) from actions x where x.profile_id = asked.id and x.account_id = :account) as earlier
      from unnest(cast(:ids as text[])) as asked(id)
      left join seen_entries e on e.tenant_id = :tenant and e.profile_id = asked.id
    """  # noqa: S608 - a constant of the tables
)


@dataclass(frozen=True, slots=True)
class _Registered:
    do_not_contact: bool = False
    contacted: bool = False
    earlier: int = 0


async def read(session: AsyncSession, vault: Vault, held: Held, named: Sequence[Named]) -> list[Prospect]:
    """What is known of each person, in order; three queries, whatever their number."""
    ids = [one.profile_id for one in named if one.profile_id is not None and one.known]
    hidden = await suppressions.among(session, held.tenant, ids)
    asked = {"ids": ids, "tenant": held.tenant.id, "account": held.account.id}
    registered = {row.id: _Registered(*row[1:]) for row in await session.execute(REGISTERED, asked)}
    facts = await persons.facts(session, held.tenant, ids)
    nobody = new_id("prof", held.now)
    return [_prospect(vault, one, hidden, registered, facts, nobody=nobody) for one in named]


def _prospect(
    vault: Vault,
    named: Named,
    hidden: set[str],
    registered: dict[str, _Registered],
    facts: dict[str, Facts],
    *,
    nobody: str,
) -> Prospect:
    noted = registered.get(named.profile_id or "", _Registered())
    known = facts.get(named.profile_id or "")
    url = (known.profile_url if known else None) or named.profile_url
    suppressed = named.profile_id in hidden
    values = dict(named.values)
    return Prospect(
        profile_id=named.profile_id,
        profile_url=None if suppressed or not named.known else url,
        link_id=named.profile_id or nobody,
        values=values,
        person=persons.completed(known.person if known else Person(), values),
        key=known.key if known else people.url_hash(vault, url).hex() if url else "",
        earlier=noted.earlier,
        obstacle=_obstacle(noted, found=named.known and url is not None, suppressed=suppressed),
    )


def _obstacle(noted: _Registered, *, found: bool, suppressed: bool) -> ActionReason | None:
    if suppressed:
        return ActionReason.SUPPRESSED
    if not found:
        return ActionReason.NOT_FOUND
    if noted.do_not_contact:
        return ActionReason.DO_NOT_CONTACT
    return ActionReason.ALREADY_CONTACTED if noted.contacted else None
