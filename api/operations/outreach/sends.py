"""Direct sends: one invite, message, visit or withdrawal for one person (contract, section 7)."""

from api.operations.kernel import Context, Effect, operation
from api.operations.named_people import find_person, in_body
from api.operations.outreach.actions import in_the_way, shown, tell_cap, writer_of
from api.schemas.outreach.actions import ActionPreview, ActionView, SendAsk
from api.schemas.registers import NamePerson
from models.errors import InvalidRequest, OutreachCapReached
from models.rules.access import Scope
from models.rules.outreach.placeholders import Placeholder, placeholders_of, unknown_placeholders
from models.rules.outreach.rendering import Caution
from models.rules.outreach.sequences import MAX_BODY, MAX_NOTE
from models.rules.outreach.states import ActionType
from models.stores import doorbells
from models.stores.outreach import accounts, approvals, marks, sends
from models.stores.outreach.facts import TOUCHES
from models.stores.outreach.sends import Draft, Planned

GIVEN = ("full_name", "first_name", "company")


@operation("outreach_sends.create", scope=Scope.OUTREACH_SEND, effect=Effect.SEND)
async def send(ctx: Context, ask: SendAsk) -> ActionView | ActionPreview:
    """Queue one action for one person, or preview its text and time."""
    written = _text(ask)
    named = in_body(NamePerson(profile_id=ask.profile_id, profile_url=ask.profile_url))
    if not ctx.dry_run:
        await accounts.refuse_unverified(ctx.session, ctx.tenant, needed=ctx.settings.email_verification)
    held = await accounts.held(ctx.session, ctx.tenant, ask.account_id)  # before the people: the order of the locks
    profile_id = await find_person(ctx, named)
    given = {name: value for name in GIVEN if (value := getattr(ask, name)) is not None}
    draft = Draft(ask.account_id, ask.type, profile_id, written, given)
    planned = await sends.prepare(ctx.session, writer_of(ctx), ctx.tenant, draft, api_key_id=ctx.caller.api_key_id)
    ctx.now = planned.held.now
    if ctx.dry_run:
        error = await in_the_way(ctx, held.account, planned.slot)
        return shown(planned.action, planned.slot, error, warnings=_warnings(planned, written))
    accounts.refuse_unready(held.account, ctx.now)
    try:
        approvals.refuse_capped(planned.slot)
    except OutreachCapReached as error:
        tell_cap(ctx, held.account, error)
        raise
    action = sends.queue(ctx.session, planned)
    if ask.type in TOUCHES:
        await marks.contacted(ctx.session, ctx.tenant, [profile_id], ctx.now)
    await ctx.session.flush()
    await doorbells.ring(ctx.session, sends.subject(action.id))  # the dispatcher starts it: it knows whose it is
    return ActionView.of(action)


def _text(ask: SendAsk) -> str | None:
    """What is to be written, as given. Raises `InvalidRequest` with its field."""
    invites, writes = ask.type is ActionType.INVITE, ask.type is ActionType.MESSAGE
    if ask.note is not None and not invites:
        raise InvalidRequest("Only an invite has a note.", field="note")
    if ask.body is not None and not writes:
        raise InvalidRequest("Only a message has a body.", field="body")
    if writes and not 1 <= len(ask.body or "") <= MAX_BODY:
        raise InvalidRequest(f"A message has 1 to {MAX_BODY} characters.", field="body")
    if len(ask.note or "") > MAX_NOTE:
        raise InvalidRequest(f"A note has at most {MAX_NOTE} characters.", field="note")
    written = (ask.note if invites else ask.body) or None
    unknown = unknown_placeholders(written or "")
    if unknown:
        raise InvalidRequest(
            f"Nothing is known to put in the place of {', '.join(unknown)}.", field="note" if invites else "body"
        )
    return written


def _warnings(planned: Planned, written: str | None) -> list[Caution]:
    """A first message should say how not to be written to."""
    first = planned.action.first_touch and written is not None
    lacks = first and Placeholder.PRIVACY_NOTICE not in placeholders_of(written or "")
    return [Caution.NO_PRIVACY_NOTICE] if lacks else []
