"""Results: what came of a claimed action's call, written once, by the holder of its number (design, section 5.4).

A result that comes after the action was given up for lost still counts while nothing was decided about it: it says more
than a reading back.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.rules.outreach.pauses import MethodHold, Signal, resends_mean_limit
from models.rules.outreach.states import ActionOutcome, ActionReason, ActionType
from models.stores.outreach import account_states, deciding, endings, news, scenes
from models.stores.outreach.account_states import Standing
from models.stores.outreach.answers import Decision
from models.stores.outreach.claims import Parcel
from models.stores.outreach.facts import Learned, forget_erased, note, set_connected
from models.stores.outreach.planning import unplan
from models.stores.outreach.scenes import Scene
from models.stores.outreach.texts import Writer
from models.tables import Action

BACK_OFF = timedelta(minutes=1)
LONGEST_BACK_OFF = timedelta(hours=1)
MOST_DOUBLINGS = 6


@dataclass(frozen=True, slots=True)
class Result:
    """What came of a call; `learned` is what the network said of the person on the way."""

    learned: Learned = field(default=Learned(), kw_only=True)


@dataclass(frozen=True, slots=True)
class Done(Result):
    """Executed. The message's id where the network told it."""

    message_id: str | None = None


@dataclass(frozen=True, slots=True)
class NotNeeded(Result):
    """Not executed, and nothing to repeat: the network is so already, or cannot do it with this person."""

    reason: ActionReason


@dataclass(frozen=True, slots=True)
class Refused(Result):
    """Not executed: the network does not take it for this person, or at all. `reason` is the action's."""

    reason: str


@dataclass(frozen=True, slots=True)
class Again(Result):
    """Not executed: plan it anew. `after` null: with growing distance."""

    code: str
    after: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Limited(Result):
    """Not executed: the network or the provider says slower. `doubtful`: read back before it is planned anew."""

    signal: Signal
    retry_after: timedelta | None = None
    doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Troubled(Result):
    """Not executed: the account cannot act now."""

    standing: Standing


@dataclass(frozen=True, slots=True)
class Unclear(Result):
    """It may have been executed."""

    interrupted: bool = False


@dataclass(frozen=True, slots=True)
class Heard(Result):
    """Not executed, for the chat has news: the person wrote, or the owner did by hand."""

    by_person: bool
    at: datetime | None
    """Of the first message of the person, or the last of the owner."""


async def write(session: AsyncSession, writer: Writer, parcel: Parcel, result: Result) -> Decision:
    """Write what came of the call and say what is next. A result that no longer counts changes nothing."""
    scene = await scenes.of_subject(session, parcel.subject_id)
    if scene is None:
        return await deciding.decide(session, writer, parcel.subject_id)
    action = next((one for one in scene.actions if one.id == parcel.action_id), None)
    if action is not None and _counts(action, parcel.number):
        note(session, scene, result.learned)
        await _apply(session, scene, action, result)
        await forget_erased(session, scene, action)
    return await deciding.decide_in(session, writer, scene)


def _counts(action: Action, number: int) -> bool:
    return action.call_number == number and action.outcome in {ActionOutcome.SENDING, ActionOutcome.RECONCILING}


async def _apply(session: AsyncSession, scene: Scene, action: Action, result: Result) -> None:
    match result:
        case Done():
            done(session, scene, action, at=scene.now, message_id=result.message_id)
        case NotNeeded(reason=reason):
            endings.end_action(session, scene, action, ActionOutcome.SKIPPED, reason)
            _stands_for_ours(scene, reason)
        case Refused(reason=reason):
            endings.end_action(session, scene, action, ActionOutcome.FAILED, reason)
            await _look_for_limit(session, scene, reason)
        case Again(after=after):
            again(scene, action, after=_back_off(action) if after is None else after)
        case Limited():
            await _limited(session, scene, action, result)
        case Troubled(standing=standing):
            again(scene, action, after=BACK_OFF)
            await _troubled(session, scene, standing)
        case Unclear(interrupted=interrupted):
            action.outcome = ActionOutcome.RECONCILING.value
            if interrupted:
                await account_states.interrupted(session, scene.held, Standing.INTERRUPTED)
        case Heard():
            await news.heard(session, scene, action, by_person=result.by_person, at=result.at)


def _stands_for_ours(scene: Scene, reason: ActionReason) -> None:
    """The owner invited the person by hand: it counts as the enrollment's invite, of the network's time."""
    if reason is ActionReason.ALREADY_INVITED and scene.enrollment is not None and scene.person is not None:
        scene.enrollment.invited_at = scene.person.invited_at


def done(session: AsyncSession, scene: Scene, action: Action, *, at: datetime, message_id: str | None = None) -> None:
    """The action is done since `at`: say so, and know what it means between the account and the person."""
    endings.end_action(session, scene, action, ActionOutcome.SENT)
    action.sent_at = action.ended_at = at
    action.failures = 0
    action.provider_message_id = message_id or action.provider_message_id
    known = scene.network_person(session)
    match ActionType(action.type):
        case ActionType.INVITE:
            known.invited_at = at
            if scene.enrollment is not None:
                scene.enrollment.invited_at = at
            if known.relation == "connected":  # accepted before anybody knew that it had been sent
                known.connected_at = None
                set_connected(session, scene, known, scene.now)
            else:
                known.relation = "pending"
        case ActionType.WITHDRAW_INVITE:
            known.withdrawn_at = at
            if known.relation == "pending":
                known.relation = "none"
        case ActionType.MESSAGE:
            set_connected(session, scene, known, at)  # the network takes messages between the connected only
        case ActionType.PROFILE_VISIT:
            pass


def again(scene: Scene, action: Action, *, after: timedelta) -> None:
    """The action was not done: it is planned anew, after a while."""
    action.outcome = ActionOutcome.SCHEDULED.value
    action.failures += 1
    action.not_before = scene.now + after
    unplan(action)


def _back_off(action: Action) -> timedelta:
    doublings: int = 2 ** min(action.failures, MOST_DOUBLINGS)
    return min(BACK_OFF * doublings, LONGEST_BACK_OFF)


async def _limited(session: AsyncSession, scene: Scene, action: Action, result: Limited) -> None:
    if result.doubtful:
        action.outcome = ActionOutcome.RECONCILING.value
    else:
        again(scene, action, after=timedelta())
    await session.flush()
    answer = await account_states.limit_reached(session, scene.held, result.signal, retry_after=result.retry_after)
    if isinstance(answer, MethodHold):
        scene.account.holds = scene.account.holds | {action.type: answer.until.isoformat()}
    elif answer is None and not result.doubtful:
        action.not_before = scene.now + _back_off(action)


RESENDS = text(
    """
    select profile_id, ended_at from actions
     where account_id = :account and type = 'invite' and outcome = 'failed' and reason = 'recently_withdrawn'
       and ended_at > coalesce((select max(ended_at) from actions where account_id = :account and type = 'invite'
                                   and outcome = 'sent'), '-infinity')
    """
)


async def _look_for_limit(session: AsyncSession, scene: Scene, reason: str) -> None:
    """Several persons in a row "invited recently" are a limit of the account in disguise (provider, section 11)."""
    if reason != ActionReason.RECENTLY_WITHDRAWN:
        return
    await session.flush()
    rows = (await session.execute(RESENDS, {"account": scene.account.id})).all()
    if resends_mean_limit([(row.profile_id, row.ended_at) for row in rows], scene.now):
        await account_states.limit_reached(session, scene.held, Signal.DAILY)


async def _troubled(session: AsyncSession, scene: Scene, standing: Standing) -> None:
    await session.flush()
    match standing:
        case Standing.DISCONNECTED:
            await account_states.disconnected(session, scene.held)
        case Standing.RESTRICTED:
            await account_states.restricted(session, scene.held)
        case _:
            await account_states.interrupted(session, scene.held, standing)
