"""Kept answers: whom they name is known as long as they are kept, and no longer."""

from sqlalchemy import text

from models.base import idempotency
from models.base.database import Database
from models.base.idempotency import KeyStanding, Use
from tests.models.conftest import Member

ANSWER = {"status": 200, "headers": {"x": "y"}, "body": b"sealed"}


async def answered(database: Database, use: Use, *marks: str) -> None:
    async with database.autocommit() as connection:
        claim = await idempotency.claim_key(connection, use)
    assert claim.standing is KeyStanding.CLAIMED
    async with database.transaction() as session:
        assert await idempotency.complete_record(session, use, lock=claim.lock, **ANSWER, marks=marks)  # type: ignore[arg-type]  # arguments of several types


async def named(database: Database) -> list[tuple[str, str]]:
    async with database.transaction() as session:
        rows = await session.execute(text("select key, mark from idempotency_marks order by 1, 2"))
        return [(row[0], row[1]) for row in rows]


async def shown(database: Database, use: Use) -> bytes | None:
    async with database.autocommit() as connection:
        claim = await idempotency.claim_key(connection, use)
    assert claim.standing is KeyStanding.FINISHED
    return claim.body


async def test_an_answer_is_dropped_once_one_of_its_people_may_not_be_shown(database: Database, member: Member) -> None:
    both, other = (Use(member.tenant, key, b"print") for key in ("both", "other"))
    await answered(database, both, "prof_1", "prof_2", "prof_2")
    await answered(database, other, "prof_2")
    await database.run(lambda session: idempotency.forget_people(session, member.tenant, ["prof_1", "prof_9"]))
    assert await named(database) == [("other", "prof_2")]
    assert await shown(database, both) is None
    assert await shown(database, other) == b"sealed"


async def test_a_reused_key_names_no_person_of_the_earlier_use(database: Database, member: Member) -> None:
    use = Use(member.tenant, "key", b"print")
    await answered(database, use, "prof_1")
    async with database.transaction() as session:
        await session.execute(text("update idempotency_records set expires_at = now() - interval '1 s'"))
    await answered(database, use, "prof_2")
    assert await named(database) == [("key", "prof_2")]


async def test_whom_an_answer_names_goes_with_it(database: Database, member: Member) -> None:
    await answered(database, Use(member.tenant, "key", b"print"), "prof_1")
    async with database.transaction() as session:
        await session.execute(text("delete from idempotency_records"))
    assert await named(database) == []
