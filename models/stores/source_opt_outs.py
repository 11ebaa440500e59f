"""Who opted out at a people source: suppressed in the whole installation, also before anybody meets them."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.clock import service_time
from models.ids import new_id
from models.rules.suppressions import Reason
from models.secrets import Vault
from models.stores import people, suppressions

MET = text(
    """
    select k.profile_id from person_keys k
     where k.hash = any(cast(:hashes as bytea[]))
       and not exists (select 1 from suppressions s join person_keys o on o.hash = s.key_hash
                        where o.profile_id = k.profile_id and s.workspace_id is null and s.profile_id is not null)
    """
)
"""People of these keys on whom the installation's suppression has not been written yet."""
KEEP = text(
    """
    insert into suppressions (id, workspace_id, customer_id, key_hash, profile_id, reason, created_at)
    select given.id, null, null, given.hash, null, :reason, :now
      from unnest(cast(:ids as text[]), cast(:hashes as bytea[])) as given(id, hash)
     where not exists (select 1 from suppressions s where s.key_hash = given.hash and s.workspace_id is null)
       and not exists (select 1 from person_keys k join person_keys o on o.profile_id = k.profile_id
                         join suppressions s on s.key_hash = o.hash
                        where k.hash = given.hash and s.workspace_id is null)
    """
)


async def keep(session: AsyncSession, vault: Vault, source: str, source_ids: Sequence[str]) -> None:
    """Suppress these people for everybody. Doing it again changes nothing, but for people met in between.

    Somebody whom nobody has met is suppressed by the keyed hash of the source's id alone: whoever meets them later
    finds the suppression there. Somebody who is being met in this moment is found by the next reading of the feed as
    somebody met, and what is shown of them is hidden from now on.
    """
    hashes = sorted({people.source_hash(vault, source, one) for one in source_ids})
    await _keep_keys(session, hashes, await service_time(session))
    met = set((await session.scalars(MET, {"hashes": hashes})).all())
    for profile_id in sorted(set((await people.hold(session, met)).values())):
        await suppressions.suppress(session, None, profile_id, reason=Reason.SOURCE_OPT_OUT)


async def _keep_keys(session: AsyncSession, hashes: Sequence[bytes], now: datetime) -> None:
    named = {"ids": [new_id("sup", now) for _ in hashes], "hashes": list(hashes)}
    await session.execute(KEEP, named | {"reason": Reason.SOURCE_OPT_OUT, "now": now})
