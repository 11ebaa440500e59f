"""Replying: an answer within a conversation, written by somebody, queued as a message of its own.

Working hours and rests apply to it, caps do not: it takes the place of what sequences have planned.
"""

from sqlalchemy.ext.asyncio import AsyncSession

from models.errors import Conflict, Suppressed
from models.ids import new_id
from models.rules.outreach.rendering import Rendered, utf16_units
from models.rules.outreach.slots import find_slot
from models.rules.outreach.states import ActionReason, ActionType
from models.stores import people, suppressions
from models.stores.outreach import accounts, calendars, conversations, persons
from models.stores.outreach.sends import Planned
from models.tables import Action, Conversation, SeenEntry
from models.tenancy import Tenant


async def prepare(
    session: AsyncSession, tenant: Tenant, conversation: Conversation, written: str, *, api_key_id: str | None
) -> Planned:
    """Lock what the answer depends on, refuse what may not be, and find its time; `sends.queue` queues it.

    Raises `Suppressed` (409), and `Conflict` with `details.reason` for somebody who asked not to be contacted and did
    not write last.
    """
    held = await accounts.held(session, tenant, conversation.account_id)
    profile_id = await _person(session, tenant, conversation)
    action = Action(
        id=new_id("act", held.now),
        workspace_id=tenant.workspace_id,
        tenant_id=tenant.id,
        type=ActionType.MESSAGE.value,
        seed=await persons.seed_of(session, held.account.id, profile_id, ActionType.MESSAGE.value),
        account_id=held.account.id,
        profile_id=profile_id,
        conversation_id=conversation.id,
        text=written,
        text_fixed=True,
        not_before=held.now,
        api_key_id=api_key_id,
        created_at=held.now,
    )
    calendar = await calendars.load(session, held)
    slot = find_slot(calendar, calendars.request_of(action, None), held.now)
    return Planned(held, action, slot, Rendered(None, written, utf16_units(written)))


async def _person(session: AsyncSession, tenant: Tenant, conversation: Conversation) -> str:
    """The id that stands for the person, locked."""
    standing = (await people.hold(session, [conversation.profile_id])).get(conversation.profile_id)
    if standing is None or await suppressions.among(session, tenant, [standing]):
        raise Suppressed(status=409)
    entry = await session.get(SeenEntry, (tenant.id, standing), populate_existing=True)
    forbidden = entry is not None and entry.do_not_contact
    if forbidden and not await conversations.last_is_theirs(session, conversation.id):
        raise Conflict(
            "This person is marked as not to be contacted, and did not write last.",
            reason=ActionReason.DO_NOT_CONTACT.value,
        )
    return standing
