"""Signing in: the mailed link, what the consent page shows, and the decision."""

import hmac
import secrets
from collections.abc import Sequence

from api.access.oauth import UNKNOWN
from api.access.oauth_schemas import Choice, Consent, Decide, Decided, Mailed, MailLink, OpenLink
from api.kernel.operation import Context, Effect, operation
from models.access.rules.keys import Scope
from models.access.rules.oauth import CODE_LIFE, SIGN_IN_LIFE, host_of, is_loopback
from models.access.rules.signup import TOKEN_BYTES, MailKind, address_key
from models.access.store import mails, oauth, workspaces
from models.access.store.oauth import hash_secret, wall_time
from models.access.tables import OauthClient, OauthSignIn, Workspace
from models.base import outbox
from models.base.errors import Forbidden, InvalidRequest, InvalidVerificationLink, NotFound

INVALID = "This link is invalid, was used, or has expired. Start again in the application."
ELSEWHERE = "Open this link in the browser in which you began. Nothing was connected."


@operation("oauth.mail_link", scope=None, effect=Effect.WRITE)
async def mail_link(ctx: Context, ask: MailLink) -> Mailed:
    """Mail a sign-in link if a workspace has this address; the answer does not say whether one does.

    The dispatcher sends the mail: waking it here would take longer for known addresses than for unknown ones.
    """
    asked = ask.authorization
    client = await oauth.load_client(ctx.session, asked.client_id)
    if client is None:
        raise NotFound(UNKNOWN)
    found = await _workspaces(ctx, address_key(ask.email))
    now, token = await wall_time(ctx.session), secrets.token_urlsafe(TOKEN_BYTES)
    mailed = found[0].id if found and await oauth.may_mail_sign_in(ctx.session, found[0].id, now) else None
    sign_in = OauthSignIn(
        link_hash=hash_secret(token),
        browser_hash=hash_secret(ask.browser),
        client_id=client.id,
        redirect_uri=asked.redirect_uri,
        state=asked.state,
        code_challenge=asked.code_challenge,
        resource=asked.resource,
        scopes=list(asked.scopes),
        workspace_id=mailed,
        expires_at=now + SIGN_IN_LIFE,
        created_at=now,
    )
    ctx.session.add(sign_in)
    await ctx.session.flush()
    sealed = ctx.vault.seal(mails.SECRET_PURPOSE, token.encode())
    if mailed is not None:
        subject = await mails.queue_mail(ctx.session, mailed, MailKind.SIGN_IN, sealed_token=sealed, now=ctx.now)
        await outbox.wake(ctx.session, subject)
    return Mailed()


@operation("oauth.open_link", scope=None, effect=Effect.READ)
async def open_link(ctx: Context, ask: OpenLink) -> Consent:
    """What a mailed link asks to be decided. Opening it decides and uses up nothing."""
    sign_in = await oauth.find_sign_in(ctx.session, hash_secret(ask.token))
    client, choices = await _open(ctx, sign_in, ask.browser)
    if sign_in is None:
        raise AssertionError("an open sign-in is one")
    return Consent(
        client_id=client.client_id,
        client_name=client.name,
        redirect_host=host_of(sign_in.redirect_uri),
        redirect_uri=sign_in.redirect_uri,
        loopback=is_loopback(sign_in.redirect_uri),
        scopes=[scope for scope in Scope if scope in sign_in.scopes],
        workspaces=[Choice(id=each.id, name=each.name) for each in choices],
    )


@operation("oauth.decide", scope=None, effect=Effect.WRITE)
async def decide_sign_in(ctx: Context, ask: Decide) -> Decided:
    """Use a link up: give the client a code for what was allowed, or nothing."""
    sign_in = await oauth.lock_sign_in(ctx.session, hash_secret(ask.token))
    _, choices = await _open(ctx, sign_in, ask.browser)
    if sign_in is None:
        raise AssertionError("an open sign-in is one")
    now, code = await wall_time(ctx.session), None
    sign_in.decided_at = now
    if ask.scopes is not None:
        code = secrets.token_urlsafe(TOKEN_BYTES)
        sign_in.scopes = _allowed(ask.scopes, sign_in.scopes)
        sign_in.workspace_id = _chosen(ask.workspace_id, choices).id
        sign_in.code_hash, sign_in.code_expires_at = hash_secret(code), now + CODE_LIFE
    return Decided(redirect_uri=sign_in.redirect_uri, state=sign_in.state, code=code)


async def _open(ctx: Context, sign_in: OauthSignIn | None, browser: str) -> tuple[OauthClient, Sequence[Workspace]]:
    """The client and the workspaces of a sign-in that can be decided in this browser."""
    if sign_in is None:
        raise InvalidVerificationLink(INVALID)
    if not hmac.compare_digest(sign_in.browser_hash, hash_secret(browser)):
        raise Forbidden(ELSEWHERE)
    over = sign_in.decided_at is not None or sign_in.expires_at <= await wall_time(ctx.session)
    if over or sign_in.workspace_id is None:
        raise InvalidVerificationLink(INVALID)
    mailed = await workspaces.find_workspace(ctx.session, sign_in.workspace_id)
    choices = await _workspaces(ctx, mailed.email_key)
    client = await ctx.session.get(OauthClient, sign_in.client_id)
    if client is None or not choices:
        raise InvalidVerificationLink(INVALID)
    return client, choices


async def _workspaces(ctx: Context, email_key: str) -> Sequence[Workspace]:
    return await oauth.workspaces_of(ctx.session, email_key, confirmed=ctx.settings.email_verification)


def _allowed(chosen: Sequence[str], asked: Sequence[str]) -> list[str]:
    if not chosen or not set(chosen) <= set(asked):
        raise InvalidRequest("Choose at least one of the permissions that are asked for.", field="scope")
    return [scope for scope in Scope if scope in chosen]


def _chosen(workspace_id: str | None, choices: Sequence[Workspace]) -> Workspace:
    for each in choices:
        if each.id == workspace_id or (workspace_id is None and len(choices) == 1):
            return each
    raise InvalidRequest("Choose one of the workspaces.", field="workspace_id")
