"""Sign-ins under way: the mailed link, the decision on the consent page, and the code that it gives."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.rules.oauth.lives import MAILS_AN_HOUR
from models.tables import OauthSignIn, Workspace

HOUR = timedelta(hours=1)


async def workspaces_of(session: AsyncSession, email_key: str, *, confirmed: bool) -> Sequence[Workspace]:
    """The workspaces of a mailbox that may be signed in to, oldest first.

    `confirmed`: only those whose owner has confirmed the address, as others may be of somebody who wrote a foreign one.
    """
    query = select(Workspace).where(
        col(Workspace.email_key) == email_key,
        col(Workspace.suspended_at).is_(None),
        or_(col(Workspace.verified_at).is_not(None), literal(not confirmed)),
    )
    return (await session.scalars(query.order_by(col(Workspace.created_at), col(Workspace.id)))).all()


async def may_mail(session: AsyncSession, workspace_id: str, now: datetime) -> bool:
    """Whether one more sign-in may be mailed to the owner of a workspace within this hour."""
    query = select(func.count()).where(
        col(OauthSignIn.workspace_id) == workspace_id, col(OauthSignIn.created_at) > now - HOUR
    )
    return (await session.scalar(query) or 0) < MAILS_AN_HOUR


async def find(session: AsyncSession, link_hash: bytes) -> OauthSignIn | None:
    """The sign-in of a mailed link, whatever its state."""
    return (await session.scalars(select(OauthSignIn).where(col(OauthSignIn.link_hash) == link_hash))).one_or_none()


async def locked(session: AsyncSession, link_hash: bytes) -> OauthSignIn | None:
    """The same, closed to others until the transaction ends."""
    query = select(OauthSignIn).where(col(OauthSignIn.link_hash) == link_hash).with_for_update()
    return (await session.scalars(query)).one_or_none()


async def locked_by_code(session: AsyncSession, code_hash: bytes) -> OauthSignIn | None:
    """The sign-in that gave a code, closed to others until the transaction ends."""
    query = select(OauthSignIn).where(col(OauthSignIn.code_hash) == code_hash).with_for_update()
    return (await session.scalars(query)).one_or_none()
