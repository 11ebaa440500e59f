"""Mails wait, are tried again ever later, and forget what their link carries once they are sent."""

from datetime import timedelta

from models.access.rules.signup import MailKind
from models.access.store import mails
from models.access.tables import Mail
from models.base.database import Database, service_time
from tests.models.conftest import Member

SEALED = b"sealed"


async def queued(database: Database, member: Member) -> str:
    async with database.transaction() as session:
        now = await service_time(session)
        subject = await mails.queue_mail(
            session, member.tenant.workspace_id, MailKind.SIGN_IN, sealed_token=SEALED, now=now
        )
    return subject.id


async def test_a_mail_that_is_sent_forgets_its_secret_and_is_not_written_again(
    database: Database, member: Member
) -> None:
    mail_id = await queued(database, member)
    async with database.transaction() as session:
        letter = await mails.mail_content(session, mail_id)
    assert letter is not None
    assert (letter.kind, letter.email, letter.sealed_secret) == ("sign_in", "a@acme.example", SEALED)
    await database.run(lambda session: mails.note_mail_attempt(session, mail_id, sent=True))
    async with database.transaction() as session:
        assert await mails.mail_content(session, mail_id) is None
        assert (await session.get_one(Mail, mail_id)).secret is None
        assert (await mails.decide_mail(session, mail_id)).over


async def test_each_failure_waits_twice_as_long_and_never_over_an_hour(database: Database, member: Member) -> None:
    mail_id = await queued(database, member)
    waits = []
    for _ in range(11):
        await database.run(lambda session: mails.note_mail_attempt(session, mail_id, sent=False))
        async with database.transaction() as session:
            mail, now = await session.get_one(Mail, mail_id), await service_time(session)
        assert mail.wake_at is not None
        assert mail.secret == SEALED
        waits.append(round((mail.wake_at - now + timedelta(seconds=5)).total_seconds() / 10))
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 360, 360]
