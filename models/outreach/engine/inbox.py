"""The inbox: how an account stands with known people on the network, and what their messages change."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base import outbox
from models.base.database import service_time
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.steps import Subject
from models.events.rules.catalogue import EventType, ReplyReceived
from models.events.store import events
from models.outreach.engine import claim, record
from models.outreach.engine.context import (
    EnrollmentContext,
    Learned,
    lock_enrollment_context,
    note_learned,
    set_connected,
)
from models.outreach.engine.plan import Writer
from models.outreach.rules.sequences import text_hash
from models.outreach.store import accounts, sequences
from models.outreach.tables import Action, Conversation, Enrollment, Message, NetworkPerson, OutreachAccount
from models.people.rules.identity import InvalidProfileUrl
from models.people.store import people, suppressions

PROFILE = "https://www.linkedin.com/in/{slug}"

PENDING = text(
    "select network_id from network_people where account_id = :account and relation = 'pending'"
    " and network_id is not null order by network_id"
)


async def pending_invites(session: AsyncSession, account_id: str) -> list[str]:
    """The network's ids of people whose invite from the account is pending, as far as is known."""
    return list(await session.scalars(PENDING, {"account": account_id}))


@dataclass(frozen=True, slots=True)
class KnownRecipient:
    """A person whom the account enrolled or sent to: our id, the network's if known, and whether they are connected."""

    profile_id: str
    network_id: str | None
    connected: bool


async def find_known_person(session: AsyncSession, account_id: str, network_id: str) -> KnownRecipient | None:
    """Return the known person with this id on the network; null for strangers, of whom nothing is read or kept."""
    of_account = select(NetworkPerson).where(col(NetworkPerson.account_id) == account_id)
    query = of_account.where(col(NetworkPerson.network_id) == network_id)
    return _known_person((await session.scalars(query.order_by(col(NetworkPerson.profile_id)).limit(1))).one_or_none())


BY_ADDRESS = text(
    "select n.profile_id from person_keys k join network_people n on n.profile_id = k.profile_id"
    " where k.hash = :hash and n.account_id = :account"
)


async def find_known_by_address(
    session: AsyncSession, vault: Vault, account_id: str, person: str
) -> KnownRecipient | None:
    """Return the known person by an id of the network or by the end of a profile's address."""
    found = await find_known_person(session, account_id, person)
    if found is not None:
        return found
    try:
        address = people.url_hash(vault, PROFILE.format(slug=person))
    except InvalidProfileUrl:
        return None
    profile_id = await session.scalar(BY_ADDRESS, {"hash": address, "account": account_id})
    return None if profile_id is None else _known_person(await session.get(NetworkPerson, (account_id, profile_id)))


def _known_person(row: NetworkPerson | None) -> KnownRecipient | None:
    return None if row is None else KnownRecipient(row.profile_id, row.network_id, row.relation == "connected")


async def record_relation(session: AsyncSession, account_id: str, profile_id: str, learned: Learned) -> None:
    """Record how account and person stand now; an acceptance is published once and wakes its enrollment."""
    context = await lock_person_context(session, account_id, profile_id)
    if context is None or context.person is None:
        return  # erased meanwhile: nothing is known of them any more
    before = context.person.relation
    note_learned(session, context, learned)
    await session.flush()
    enrollment = context.enrollment
    if enrollment is not None and enrollment.finished_at is None and context.person.relation != before:
        await outbox.wake(session, Subject("enrollment", enrollment.id))


async def lock_person_context(session: AsyncSession, account_id: str, profile_id: str) -> EnrollmentContext | None:
    """Lock the context of account and person: that of their newest enrollment, or one without when there is none.

    Null for an id that does not exist.
    """
    ids = await people.ids_of_person(session, profile_id)
    query = select(col(Enrollment.id)).where(
        col(Enrollment.account_id) == account_id, col(Enrollment.profile_id).in_([*ids, profile_id])
    )
    newest = query.order_by(col(Enrollment.created_at).desc(), col(Enrollment.id).desc()).limit(1)
    enrollment_id: str | None = await session.scalar(newest)
    if enrollment_id is not None:
        return await lock_enrollment_context(session, enrollment_id)
    held = await accounts.lock_account_by_id(session, account_id)
    standing = (await people.lock_people(session, [profile_id])).get(profile_id)
    if standing is None:
        return None
    person = await session.get(NetworkPerson, (account_id, standing), populate_existing=True)
    return EnrollmentContext(held, None, None, [], person, standing, held.now)


OVERLAP = timedelta(hours=1)
"""Read again what the network may have shown late."""


@dataclass(frozen=True, slots=True)
class ChatLine:
    """A message as the network shows it: the provider's id, and whether the account's owner (or we) wrote it."""

    provider_id: str
    text: str | None
    sent_at: datetime | None
    from_owner: bool


FIRST = text(
    """
    select least(
      (select min(created_at) from enrollments where account_id = :account and profile_id = any(cast(:ids as text[]))),
      (select min(created_at) from actions where account_id = :account and profile_id = any(cast(:ids as text[])))
    ) as first
    """
)
LAST = text("select last_message_at from conversations where account_id = :account and chat_id = :chat")


BEGUN = text(
    """
    select least((select min(created_at) from enrollments where account_id = :account),
                 (select min(created_at) from actions where account_id = :account and enrollment_id is null)) as begun
    """
)
"""No action of an enrollment is older than that."""


async def begun_at(session: AsyncSession, account_id: str) -> datetime | None:
    """Return when the account first enrolled or sent to a person; null while it has not, and no chat matters."""
    begun: datetime | None = await session.scalar(BEGUN, {"account": account_id})
    return begun


async def wanted_since(session: AsyncSession, account_id: str, profile_id: str, chat_id: str) -> datetime | None:
    """Return from when on the messages of a chat are to be read; null when none of them may be read."""
    account = await session.get_one(OutreachAccount, account_id)
    ids = await people.ids_of_person(session, profile_id)
    if not ids or await suppressions.suppressed_among(session, accounts.tenant_of_account(account), ids):
        return None
    first: datetime | None = await session.scalar(FIRST, {"account": account_id, "ids": [*ids, profile_id]})
    last: datetime | None = await session.scalar(LAST, {"account": account_id, "chat": chat_id})
    return first if first is None or last is None else max(first, last - OVERLAP)


async def take_messages(
    session: AsyncSession, account_id: str, profile_id: str, chat_id: str, lines: Sequence[ChatLine], *, writer: Writer
) -> None:
    """Store the new messages, oldest first, and act on them. Taking them again changes nothing."""
    context = await lock_person_context(session, account_id, profile_id)
    if context is None or context.profile_id is None or not lines:
        return
    if await suppressions.suppressed_among(session, context.tenant, [context.profile_id]):
        return
    if context.person is not None:
        context.person.chat_id = chat_id
    conversation = await _conversation(session, context, context.profile_id, chat_id)
    ours = await claim.forgotten_texts(session, writer, context) | await _ours(session, context)
    kept = await _kept(session, context, conversation, lines, ours)
    await session.flush()
    await _mean(session, context, conversation, kept)


async def _conversation(
    session: AsyncSession, context: EnrollmentContext, profile_id: str, chat_id: str
) -> Conversation:
    """The conversation of a chat, locked; made when it is new."""
    query = select(Conversation).where(
        col(Conversation.account_id) == context.account.id, col(Conversation.chat_id) == chat_id
    )
    locked = query.with_for_update().execution_options(populate_existing=True)
    found: Conversation | None = (await session.scalars(locked)).one_or_none()
    if found is not None:
        return found
    made = Conversation(
        id=new_id("conv", context.now),
        workspace_id=context.account.workspace_id,
        tenant_id=context.account.tenant_id,
        account_id=context.account.id,
        profile_id=profile_id,
        enrollment_id=context.enrollment.id if context.enrollment is not None else None,
        chat_id=chat_id,
        created_at=context.now,
    )
    session.add(made)
    await session.flush()
    return made


async def _kept(
    session: AsyncSession,
    context: EnrollmentContext,
    conversation: Conversation,
    lines: Sequence[ChatLine],
    ours: Mapping[str, str | None],
) -> list[Message]:
    """The messages among these that were not known, now in the database."""
    known = await _known(session, context.account.id, [line.provider_id for line in lines])
    now = await service_time(session)  # after the conversation's lock: later than what was marked as read
    kept = []
    for line in lines:
        if line.provider_id not in known:
            known.add(line.provider_id)
            kept.append(_message(conversation, line, ours, now))
    session.add_all(kept)
    for message in kept:
        conversation.last_message_at = _later(conversation.last_message_at, message.sent_at)
        if message.direction == "in":
            conversation.last_inbound_at = _later(conversation.last_inbound_at, message.sent_at)
    return kept


def _later(one: datetime | None, other: datetime) -> datetime:
    return other if one is None else max(one, other)


async def _known(session: AsyncSession, account_id: str, provider_ids: Collection[str]) -> set[str]:
    query = select(col(Message.provider_id)).where(
        col(Message.account_id) == account_id, col(Message.provider_id).in_(provider_ids)
    )
    return set(await session.scalars(query))


async def _ours(session: AsyncSession, context: EnrollmentContext) -> dict[str, str]:
    """Ids and text hashes of what the service wrote to the person, or may have written, to the action of each."""
    profile_id = context.profile_id or ""
    ids = await people.ids_of_person(session, profile_id)
    query = select(Action).where(
        col(Action.account_id) == context.account.id,
        col(Action.profile_id).in_([*ids, profile_id]),
        col(Action.claimed_at).is_not(None),
    )
    rows = (await session.scalars(query.order_by(col(Action.created_at).desc(), col(Action.id).desc()))).all()
    marks = {row.text_hash: row.id for row in rows if row.text_hash}
    return marks | {row.provider_message_id: row.id for row in rows if row.provider_message_id}


def _message(conversation: Conversation, line: ChatLine, ours: Mapping[str, str | None], now: datetime) -> Message:
    written = None if line.text is None else _storable(line.text)
    marks = [line.provider_id] if line.text is None else [line.provider_id, text_hash(line.text)]
    mark = next((one for one in marks if line.from_owner and one in ours), None)
    return Message(
        id=new_id("msg", now),
        workspace_id=conversation.workspace_id,
        tenant_id=conversation.tenant_id,
        conversation_id=conversation.id,
        account_id=conversation.account_id,
        profile_id=conversation.profile_id,
        direction="out" if line.from_owner else "in",
        sent_by="candidate" if not line.from_owner else "service" if mark is not None else "owner",
        action_id=ours[mark] if mark is not None else None,
        provider_id=line.provider_id,
        text=written,
        sent_at=line.sent_at or now,
        created_at=now,
    )


def _storable(written: str) -> str:
    """A text without what PostgreSQL cannot hold: NUL characters and halves of surrogate pairs."""
    return written.replace("\0", "").encode("utf-8", "replace").decode()


async def _mean(
    session: AsyncSession, context: EnrollmentContext, conversation: Conversation, kept: Sequence[Message]
) -> None:
    """Act on new messages: replies are published and end the enrollment, the owner's own messages hold it."""
    replies = [one for one in kept if one.sent_by == "candidate"]
    for one in replies:
        _tell(session, context, conversation, one)
    if replies:
        await sequences.mark_replied(session, context.tenant, conversation.profile_id, context.now)
        person = context.person
        if person is not None and person.invited_at is not None and person.relation != "connected":
            set_connected(session, context, person, replies[0].sent_at)  # only connected people can write
    await _affect(session, context, kept)


async def _affect(session: AsyncSession, context: EnrollmentContext, kept: Sequence[Message]) -> None:
    enrollment = context.enrollment
    if enrollment is None:
        return
    was_open = enrollment.finished_at is None
    since = [one for one in kept if one.sent_at > enrollment.created_at and one.sent_by != "service"]
    replies = [one.sent_at for one in since if one.sent_by == "candidate"]
    if replies:
        await record.record_reply(session, context, replies[0])
    elif since:
        record.owner_wrote(context, since[-1].sent_at)
    if since and was_open:
        await session.flush()
        await outbox.wake(session, Subject("enrollment", enrollment.id))


def _tell(session: AsyncSession, context: EnrollmentContext, conversation: Conversation, message: Message) -> None:
    data = ReplyReceived(
        conversation_id=conversation.id,
        message_id=message.id,
        enrollment_id=conversation.enrollment_id,
        account_id=conversation.account_id,
        profile_id=conversation.profile_id,
    )
    events.emit(session, context.tenant, EventType.REPLY_RECEIVED, data, now=context.now)
