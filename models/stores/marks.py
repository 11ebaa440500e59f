"""Marks: the texts by which sealed rows say whom they are about, so that they are found without being opened."""

from collections.abc import Collection

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

MARKS = text(
    """
    select id from people where id = any(cast(:ids as text[])) or alias_of = any(cast(:ids as text[]))
    union all
    select encode(hash, 'hex') from person_keys where profile_id = any(cast(:ids as text[]))
    """
)


async def of(session: AsyncSession, profile_ids: Collection[str]) -> list[str]:
    """Every mark of these people, given by the ids that stand for them: their ids, aliases and keyed hashes."""
    return list(await session.scalars(MARKS, {"ids": list(profile_ids)}))


def of_key(key_hash: bytes) -> str:
    """The mark of somebody of whom only a key is known, by its keyed hash."""
    return key_hash.hex()
