"""Outgoing mail: queued in the transaction that asks for it, sent at least once, its secret cleared afterwards."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.access.rules.oauth import SIGN_IN_LIFE
from models.access.rules.signup import LINK_LIFE, MailKind
from models.access.tables import Mail, Workspace
from models.base.database import service_time
from models.base.ids import new_id
from models.base.steps import Subject

SECRET_PURPOSE = "mail"  # noqa: S105 - the vault's purpose, not a secret
LIFE = {MailKind.VERIFICATION: LINK_LIFE, MailKind.SIGN_IN: SIGN_IN_LIFE}
"""How long a mail of each kind is tried: as long as its link works."""


async def queue_mail(
    session: AsyncSession, workspace_id: str, kind: MailKind, *, sealed_token: bytes, now: datetime
) -> Subject:
    """Queue a mail to the owner of a workspace; the caller wakes the returned subject."""
    mail = Mail(id=new_id("mail", now), workspace_id=workspace_id, kind=kind, secret=sealed_token, created_at=now)
    session.add(mail)
    await session.flush()
    return Subject("mail", mail.id)


@dataclass(frozen=True, slots=True)
class MailState:
    """Whether a mail is `over` or `due` now; otherwise it waits until `wake_at`."""

    over: bool
    due: bool
    now: datetime
    wake_at: datetime | None
    attempts: int


async def decide_mail(session: AsyncSession, mail_id: str) -> MailState:
    """Return whether the mail is due, and mark every wake up to now as answered."""
    mail = await _locked(session, mail_id)
    now = await service_time(session)
    mail.answered = mail.rings
    if mail.secret is not None and now >= mail.created_at + LIFE[MailKind(mail.kind)]:
        mail.secret = None
    if mail.secret is None:
        mail.wake_at = None
    return MailState(
        over=mail.secret is None,
        due=mail.wake_at is None or mail.wake_at <= now,
        now=now,
        wake_at=mail.wake_at,
        attempts=mail.attempts,
    )


async def _locked(session: AsyncSession, mail_id: str) -> Mail:
    return (await session.scalars(select(Mail).where(col(Mail.id) == mail_id).with_for_update())).one()


@dataclass(frozen=True, slots=True)
class MailContent:
    """What a mail is written from. `sealed_secret` opens with `SECRET_PURPOSE`."""

    id: str
    kind: MailKind
    email: str
    first_name: str | None
    workspace_name: str
    sealed_secret: bytes


async def mail_content(session: AsyncSession, mail_id: str) -> MailContent | None:
    """Return what the mail is written from, null when it was sent or given up."""
    row = (
        await session.execute(
            select(Mail, Workspace)
            .join(Workspace, col(Workspace.id) == col(Mail.workspace_id))
            .where(col(Mail.id) == mail_id, col(Mail.secret).is_not(None))
        )
    ).one_or_none()
    if row is None:
        return None
    mail, workspace = row
    if mail.secret is None:
        return None
    return MailContent(mail.id, MailKind(mail.kind), workspace.email, workspace.first_name, workspace.name, mail.secret)


async def note_mail_attempt(session: AsyncSession, mail_id: str, *, sent: bool) -> None:
    """Write the outcome of an attempt: sent, or to be repeated after 10 seconds, doubling up to an hour."""
    mail = await _locked(session, mail_id)
    now = await service_time(session)
    mail.attempts += 1
    if sent:
        mail.sent_at, mail.secret, mail.wake_at = now, None, None
        return
    mail.wake_at = now + min(timedelta(seconds=10) * (1 << min(mail.attempts - 1, 10)), timedelta(hours=1))
