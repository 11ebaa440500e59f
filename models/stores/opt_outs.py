"""Opt-outs: the token of a person's own page, and what using it does in the whole installation."""

import base64
import binascii

from sqlalchemy.ext.asyncio import AsyncSession

from models import ids
from models.errors import NotFound
from models.rules.suppressions import Reason
from models.secrets import Vault
from models.stores import erasures, people, suppressions

PURPOSE = "opt_out"
PREFIX = "prof_"
TOKEN_LENGTH = 22


def token(vault: Vault, profile_id: str) -> str:
    """The 22 characters that lead to a person's page; always the same for one person, and stored nowhere."""
    block = ids.decode(profile_id.removeprefix(PREFIX)).to_bytes(16)
    return base64.urlsafe_b64encode(vault.disguise(PURPOSE, block)).decode().rstrip("=")


def profile_of(vault: Vault, given: str) -> str:
    """The profile id of a token. Raises `NotFound` for what cannot be one; most inventions give ids that nobody has."""
    try:
        block = base64.b64decode(given.encode("ascii") + b"==", altchars=b"-_", validate=True)
    except (ValueError, binascii.Error):
        block = b""
    if len(given) != TOKEN_LENGTH or base64.urlsafe_b64encode(block).decode().rstrip("=") != given:
        raise NotFound("This link is not complete. Open it as it was sent.")
    return PREFIX + ids.encode(int.from_bytes(vault.recognise(PURPOSE, block)))


async def opt_out(session: AsyncSession, vault: Vault, given: str, *, erase: bool) -> None:
    """Suppress the person for the whole installation, and erase them there if they ask. Doing it again is the same.

    Raises `NotFound` for a token that leads to nobody.
    """
    profile_id = profile_of(vault, given)
    standing = (await people.hold(session, [profile_id])).get(profile_id)
    if standing is None:
        raise NotFound("This link is not valid. Open it as it was sent.")
    await suppressions.suppress(session, None, standing, reason=Reason.OPT_OUT)
    if erase:
        await erasures.erase(session, None, standing)
