"""A page of a raw search becomes a result: sorted out, charged and kept in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.rules.raw_calls import SCROLL_LIFE, FoundRow, SearchAsk, SearchResult
from models.secrets import Vault
from models.stores import people
from models.stores.people import Known
from models.stores.upstream_calls.paying import lead_charges, pay
from models.stores.upstream_calls.rows import Begun, done, running
from models.tables import ScrollPage, ScrollPerson
from models.tenancy import Tenant


@dataclass(frozen=True, slots=True)
class PageFound:
    """What the source gave: its people with our ids, in its order, and the token of the next page."""

    people: tuple[FoundRow, ...]
    next_token: str | None


async def page_before(session: AsyncSession, tenant: Tenant, scroll_id: str, number: int) -> ScrollPage | None:
    """The page of a search that page `number` follows, if it is the tenant's and not too old."""
    query = select(ScrollPage).where(
        col(ScrollPage.scroll_id) == scroll_id,
        col(ScrollPage.number) == number - 1,
        col(ScrollPage.tenant_id) == tenant.id,
        col(ScrollPage.created_at) > await service_time(session) - SCROLL_LIFE,
    )
    return (await session.scalars(query)).one_or_none()


async def settle(session: AsyncSession, vault: Vault, call: Begun, *, ask: SearchAsk, page: PageFound) -> None:
    """Sort out, charge and keep the page. Raises what `pay` raises; the transaction then leaves nothing behind."""
    everybody = [person.profile_id for person in page.people]
    await people.hold(session, everybody)
    row = await running(session, call.id)
    if row is None:
        return
    now = await service_time(session)
    shown_before = await _shown_before(session, ask)
    known = await people.known(session, call.tenant, everybody, run_id="")
    sorted_out = _sort_out(ask, page.people, known, shown_before)
    kept = [person.profile_id for person in sorted_out.rows]
    charges = await lead_charges(session, call.tenant.workspace_id, kept, subject_id=call.id)
    charged = await pay(session, call.payer, charges)
    await _keep_page(session, call, ask, next_token=page.next_token, kept=kept, now=now)
    result = sorted_out.model_copy(update={"charged_credits": charged, "more": page.next_token is not None})
    done(vault, row, result, about=kept)


async def _shown_before(session: AsyncSession, ask: SearchAsk) -> set[str]:
    shown = select(col(ScrollPerson.profile_id)).where(
        col(ScrollPerson.scroll_id) == ask.scroll_id, col(ScrollPerson.number) < ask.page
    )
    return set(await session.scalars(shown))


def _sort_out(
    ask: SearchAsk, found: Sequence[FoundRow], known: dict[str, Known], shown_before: set[str]
) -> SearchResult:
    rows: dict[str, FoundRow] = {}
    suppressed = duplicates = seen = 0
    for person in found:
        standing = known.get(person.profile_id)
        if standing is None or standing.suppressed:
            suppressed += 1
        elif standing.profile_id in rows or not shown_before.isdisjoint({person.profile_id, standing.profile_id}):
            duplicates += 1
        elif ask.exclude_seen and standing.seen:
            seen += 1
        else:
            rows[standing.profile_id] = person.model_copy(update={"profile_id": standing.profile_id})
    return SearchResult(
        scroll_id=ask.scroll_id,
        page=ask.page,
        rows=tuple(rows.values()),
        suppressed=suppressed,
        duplicates=duplicates,
        seen=seen,
        charged_credits=0,
        more=False,
    )


async def _keep_page(
    session: AsyncSession, call: Begun, ask: SearchAsk, *, next_token: str | None, kept: Sequence[str], now: datetime
) -> None:
    page = {
        "workspace_id": call.tenant.workspace_id,
        "tenant_id": call.tenant.id,
        "scroll_id": ask.scroll_id,
        "number": ask.page,
    }
    statement = insert(ScrollPage).values(page | {"next_token": next_token, "created_at": now})
    await session.execute(
        statement.on_conflict_do_update(
            index_elements=["scroll_id", "number"],
            set_={name: statement.excluded[name] for name in ("next_token", "created_at")},
        )
    )
    shown_then = (col(ScrollPerson.scroll_id) == ask.scroll_id, col(ScrollPerson.number) == ask.page)
    await session.execute(delete(ScrollPerson).where(*shown_then))
    if kept:
        await session.execute(insert(ScrollPerson), [page | {"profile_id": one} for one in kept])
