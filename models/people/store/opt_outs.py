"""Opt-outs: the token of a person's own page, and what using it does in the whole installation."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import service_time
from models.base.errors import NotFound
from models.base.ids import new_id
from models.base.secrets import Vault
from models.people.rules.registers import SuppressionReason
from models.people.store import people, suppressions

PURPOSE = "opt_out"
"""Of the disguised profile id that is the token of a person's own page."""
PREFIX = "prof"


async def opt_out_person(session: AsyncSession, vault: Vault, given: str, *, erase: bool) -> None:
    """Suppress the person for the whole installation, and erase them there if `erase`. It may be repeated.

    Raises `NotFound` for a token of no person.
    """
    try:
        profile_id = vault.recognise(PURPOSE, PREFIX, given)
    except ValueError as error:
        raise NotFound("This link is incomplete. Open it exactly as it was sent.") from error
    standing = (await people.lock_people(session, [profile_id])).get(profile_id)
    if standing is None:
        raise NotFound("This link is not valid. Open it exactly as it was sent.")
    await suppressions.suppress(session, None, standing, reason=SuppressionReason.OPT_OUT)
    if erase:
        await suppressions.erase_person(session, None, standing)


UNSUPPRESSED = text(
    """
    select k.profile_id from person_keys k
     where k.hash = any(cast(:hashes as bytea[]))
       and not exists (select 1 from suppressions s join person_keys o on o.hash = s.key_hash
                        where o.profile_id = k.profile_id and s.workspace_id is null and s.profile_id is not null)
    """
)
"""Known people of these keys whom the installation does not suppress yet."""
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


async def suppress_source_opt_outs(session: AsyncSession, vault: Vault, source: str, source_ids: Sequence[str]) -> None:
    """Suppress people who opted out at a source for the whole installation. It may be repeated.

    A person unknown here is suppressed by the keyed hash of the source's id alone, and found suppressed when a source
    names them later. A person who becomes known at the same moment is hidden at once, and gets the suppression when
    the feed is read next.
    """
    hashes = sorted({people.source_hash(vault, source, one) for one in source_ids})
    await _keep_keys(session, hashes, await service_time(session))
    known = set((await session.scalars(UNSUPPRESSED, {"hashes": hashes})).all())
    for profile_id in sorted(set((await people.lock_people(session, known)).values())):
        await suppressions.suppress(session, None, profile_id, reason=SuppressionReason.SOURCE_OPT_OUT)


async def _keep_keys(session: AsyncSession, hashes: Sequence[bytes], now: datetime) -> None:
    named = {"ids": [new_id("sup", now) for _ in hashes], "hashes": list(hashes)}
    await session.execute(KEEP, named | {"reason": SuppressionReason.SOURCE_OPT_OUT, "now": now})
