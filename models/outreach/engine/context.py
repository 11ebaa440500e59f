"""The context of an enrollment or direct send: its rows, locked in one order, and its person as messages see them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.database import service_time
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.tenants import Tenant
from models.events.rules.catalogue import EventType, InviteAccepted
from models.events.store import events
from models.outreach.rules.actions import CONTACTING, CONTACTING_SQL
from models.outreach.rules.caps import action_seed
from models.outreach.rules.sequences import Relation, SequenceStep, Started, steps_of
from models.outreach.rules.states import FINAL_ACTIONS, ActionOutcome, ActionReason
from models.outreach.rules.texts import Recipient
from models.outreach.store import accounts
from models.outreach.store.accounts import LockedAccount, Rules
from models.outreach.tables import Action, Enrollment, NetworkPerson, OutreachAccount, OutreachSequence
from models.people.store import opt_outs, people, suppressions
from models.people.store.people import CACHE_LIFE, ids_of_person

NOTICE = "Rather not hear from me? {link}"
NAMES = ("first_name", "full_name", "company")


@dataclass(frozen=True, slots=True)
class RecipientFacts:
    """What a tenant may know of a person for writing. `key` is what seeds name the person by."""

    person: Recipient
    profile_url: str | None
    key: str


FACTS = text(
    """
    select asked.id, c.content ->> 'first_name' as first_name, c.content ->> 'full_name' as full_name,
           c.content -> 'current' ->> 'company' as company,
           coalesce(url.value, c.content ->> 'profile_url') as profile_url,
           coalesce(encode(url.hash, 'hex'), asked.id) as key
      from unnest(cast(:ids as text[])) as asked(id)
      left join lateral (
        select coalesce(
          (select c.content from cached_profiles c join profile_copies o on o.profile_id = c.profile_id
            where c.profile_id = asked.id and o.tenant_id = :tenant
              and c.fetched_at > service_now() - cast(:life as interval)),
          (select d.content from candidates d
            where d.tenant_id = :tenant
              and d.profile_id in (select p.id from people p where p.id = asked.id or p.alias_of = asked.id)
            order by d.created_at desc, d.id desc limit 1)) as content) as c on true
      left join lateral (
        select k.value, k.hash from person_keys k where k.profile_id = asked.id and k.kind = 'url'
         order by k.value is null, k.hash limit 1) as url on true
    """
)


async def facts_for_messages(
    session: AsyncSession, tenant: Tenant, profile_ids: Collection[str]
) -> dict[str, RecipientFacts]:
    """What the tenant may know of each person, by the id that stands for them; one statement, whatever their number."""
    rows = await session.execute(FACTS, {"ids": list(profile_ids), "tenant": tenant.id, "life": CACHE_LIFE})
    return {
        row.id: RecipientFacts(Recipient(row.first_name, row.full_name, row.company), row.profile_url, row.key)
        for row in rows
    }


def complete_recipient(person: Recipient, given: Mapping[str, str]) -> Recipient:
    """The person with what the caller said in front: a full name given alone also says what to call them."""
    named = "first_name" in given or "full_name" in given
    return Recipient(
        first_name=given.get("first_name") if named else person.first_name,
        full_name=given.get("full_name") if named else person.full_name,
        company=given.get("company") or person.company,
    )


async def known_recipient(
    session: AsyncSession, tenant: Tenant, profile_id: str, given: Mapping[str, str]
) -> Recipient:
    """One person as a message of this tenant addresses them. `profile_id` is the id that stands for them."""
    found = await facts_for_messages(session, tenant, [profile_id])
    return complete_recipient(found[profile_id].person, given)


def opt_out_sentence(vault: Vault, public_url: str, profile_id: str) -> str:
    """What `{{privacy_notice}}` becomes: a sentence with the link to the person's own page, always of one length."""
    return NOTICE.format(link=f"{public_url.rstrip('/')}/o/{vault.disguise(opt_outs.PURPOSE, profile_id)}")


SEED = text(
    """
    select coalesce((select encode(k.hash, 'hex') from person_keys k where k.profile_id = :id and k.kind = 'url'
                      order by k.value is null, k.hash limit 1), :id) as key,
           (select count(*) from actions x where x.profile_id = :id and x.account_id = :account) as earlier
    """
)


async def seed_of(session: AsyncSession, account_id: str, profile_id: str, step: str) -> str:
    """The seed of a new action: `step` is the step's id, or the type of a direct send."""
    row = (await session.execute(SEED, {"id": profile_id, "account": account_id})).one()
    return action_seed(account_id, row.key, step, row.earlier)


R = TypeVar("R", Enrollment, Action)


@dataclass(slots=True)
class EnrollmentContext:
    """One enrollment (null for a direct send), its open action where there is one, and where both happen.

    `actions` are all of the enrollment, in order of creation; of a direct send the action alone. `profile_id` is the id
    that stands for the person now, null for one who was erased from the installation.
    """

    held: LockedAccount
    sequence: OutreachSequence | None
    enrollment: Enrollment | None
    actions: list[Action]
    person: NetworkPerson | None
    profile_id: str | None
    now: datetime

    @property
    def account(self) -> OutreachAccount:
        """The account that writes."""
        return self.held.account

    @property
    def rules(self) -> Rules:
        """The tenant's hours and caps."""
        return self.held.rules

    @property
    def tenant(self) -> Tenant:
        """Whose all this is."""
        return self.held.tenant

    @property
    def action(self) -> Action | None:
        """What is planned, held, under way or unsettled: at most one."""
        return next((one for one in self.actions if ActionOutcome(one.outcome) not in FINAL_ACTIONS), None)

    @property
    def waiting(self) -> Enrollment | Action:
        """The row that waits: its `wake_at` and wakes are meant."""
        return self.enrollment if self.enrollment is not None else self.actions[0]

    @property
    def steps(self) -> tuple[SequenceStep, ...]:
        """The sequence as it is now."""
        return () if self.sequence is None else steps_of(self.sequence.steps)

    def started(self, *, without: Action | None = None) -> list[Started]:
        """The enrollment's actions as the rules see them, one left out where that is asked."""
        return [_started(one) for one in self.actions if one is not without]

    def connection(self) -> Relation:
        """How account and person stand on the network, as far as it is known."""
        return connection_of(self.person, self.enrollment)

    def network_person(self, session: AsyncSession) -> NetworkPerson:
        """What the account knows of the person, made when there was nothing."""
        if self.person is None:
            self.person = NetworkPerson(
                account_id=self.account.id,
                profile_id=self.waiting.profile_id,
                workspace_id=self.account.workspace_id,
                tenant_id=self.account.tenant_id,
            )
            session.add(self.person)
        return self.person


def connection_of(known: NetworkPerson | None, enrollment: Enrollment | None) -> Relation:
    """How an account and a person stand on the network, as far as it is known."""
    return Relation(
        invited_at=known.invited_at if known else None,
        invite_pending=known is not None and known.relation == "pending",
        accepted_at=enrollment.accepted_at if enrollment else None,
        connected=known is not None and known.relation == "connected",
        withdrawn_at=known.withdrawn_at if known else None,
    )


def _started(action: Action) -> Started:
    return Started(
        step_id=action.step_id or "",
        outcome=ActionOutcome(action.outcome),
        started_at=action.created_at,
        finished_at=action.ended_at,
        reason=ActionReason(action.reason) if action.reason in set(ActionReason) else None,
    )


WHERE_ENROLLMENT = text("select account_id, sequence_id, profile_id from enrollments where id = :id")
WHERE_ACTION = text("select account_id, enrollment_id, profile_id from actions where id = :id")


async def lock_enrollment_context(session: AsyncSession, enrollment_id: str) -> EnrollmentContext | None:
    """The context of an enrollment; null when there is no such row any more."""
    where = (await session.execute(WHERE_ENROLLMENT, {"id": enrollment_id})).one_or_none()
    if where is None:
        return None
    held = await accounts.lock_account_by_id(session, where.account_id)
    sequence = await _sequence(session, where.sequence_id)
    standing = (await people.lock_people(session, [where.profile_id])).get(where.profile_id)
    enrollment = await _locked(session, Enrollment, enrollment_id)
    if enrollment is None:
        return None
    query = select(Action).where(col(Action.enrollment_id) == enrollment_id).order_by(col(Action.id))
    actions = await session.scalars(query.with_for_update().execution_options(populate_existing=True))
    return EnrollmentContext(
        held=held,
        sequence=sequence,
        enrollment=enrollment,
        actions=sorted(actions, key=lambda one: (one.created_at, one.id)),
        person=await _known(session, held.account.id, where.profile_id),
        profile_id=standing,
        now=await service_time(session),
    )


async def lock_action_context(session: AsyncSession, action_id: str) -> EnrollmentContext | None:
    """The context of an action: its enrollment's where it has one; null when there is no such row any more."""
    where = (await session.execute(WHERE_ACTION, {"id": action_id})).one_or_none()
    if where is None:
        return None
    if where.enrollment_id is not None:
        return await lock_enrollment_context(session, where.enrollment_id)
    held = await accounts.lock_account_by_id(session, where.account_id)
    standing = (await people.lock_people(session, [where.profile_id])).get(where.profile_id)
    action = await _locked(session, Action, action_id)
    if action is None:
        return None
    person = await _known(session, held.account.id, where.profile_id)
    return EnrollmentContext(held, None, None, [action], person, standing, await service_time(session))


async def lock_context(session: AsyncSession, subject_id: str) -> EnrollmentContext | None:
    """The context of an enrollment or a direct send, by its id."""
    return await (lock_enrollment_context if subject_id.startswith("enr_") else lock_action_context)(
        session, subject_id
    )


async def _sequence(session: AsyncSession, sequence_id: str) -> OutreachSequence | None:
    query = select(OutreachSequence).where(col(OutreachSequence.id) == sequence_id).with_for_update(read=True)
    return (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()


async def _locked(session: AsyncSession, kind: type[R], row_id: str) -> R | None:
    query = select(kind).where(col(kind.id) == row_id).with_for_update()
    return (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()


async def _known(session: AsyncSession, account_id: str, profile_id: str) -> NetworkPerson | None:
    return await session.get(NetworkPerson, (account_id, profile_id), populate_existing=True)


A_MILLISECOND = timedelta(milliseconds=1)


TOUCHED = text(
    f"""
    select exists (
      select from actions where tenant_id = :tenant and profile_id = any(cast(:ids as text[]))
         and type in ({CONTACTING_SQL}) and outcome in ('sent', 'sending', 'reconciling', 'unknown')
    )
    """  # noqa: S608 - constants of the rules
)


async def was_touched(session: AsyncSession, tenant_id: str, profile_ids: Sequence[str]) -> bool:
    """Whether the tenant invited or wrote to the person whom these ids all mean, or may have."""
    asked = {"tenant": tenant_id, "ids": list(profile_ids)}
    touched: bool = (await session.execute(TOUCHED, asked)).scalar_one()
    return touched


async def new_step_action(
    session: AsyncSession, context: EnrollmentContext, enrollment: Enrollment, step: SequenceStep
) -> Action:
    """A new action for a step of the enrollment: planned, without a text or a time yet."""
    await session.flush()
    ids = await ids_of_person(session, context.profile_id or enrollment.profile_id)
    touched = step.type in CONTACTING and await was_touched(session, enrollment.tenant_id, ids)
    action = Action(
        id=new_id("act", context.now),
        workspace_id=enrollment.workspace_id,
        tenant_id=enrollment.tenant_id,
        type=step.type.value,
        seed=await seed_of(session, context.account.id, enrollment.profile_id, step.id or step.type),
        account_id=context.account.id,
        profile_id=enrollment.profile_id,
        enrollment_id=enrollment.id,
        sequence_id=enrollment.sequence_id,
        step_id=step.id,
        step_index=context.steps.index(step),
        first_touch=step.type in CONTACTING and not touched,
        starts_sequence=not any(one.claimed_at for one in context.actions),
        created_at=_after(context),
    )
    session.add(action)
    return action


def _after(context: EnrollmentContext) -> datetime:
    """Now, but later than every action before: their order is that of their creation."""
    return max([context.now, *(one.created_at + A_MILLISECOND for one in context.actions)])


@dataclass(frozen=True, slots=True)
class Learned:
    """What a look at the network said of the person; null is nothing said.

    `connected` and `pending` as the network shows them now, `invited_at` the time of the pending invite.
    """

    network_id: str | None = None
    connected: bool | None = None
    pending: bool | None = None
    invited_at: datetime | None = None
    chat_id: str | None = None


def note_learned(session: AsyncSession, context: EnrollmentContext, learned: Learned) -> None:
    """Write down what was learned of the person."""
    known = context.network_person(session)
    known.network_id = learned.network_id or known.network_id
    known.chat_id = learned.chat_id or known.chat_id
    if learned.connected is None:
        return
    known.read_at = context.now
    if learned.connected:
        set_connected(session, context, known, context.now)
    elif learned.pending:
        known.relation = "pending"
        known.invited_at = learned.invited_at or known.invited_at or context.now
    else:
        known.relation = "none"


def set_connected(session: AsyncSession, context: EnrollmentContext, known: NetworkPerson, at: datetime) -> None:
    """The two are connected: what waits for the acceptance goes on, and an accepted invite is published once."""
    accepted = _accepts(known)
    known.relation = "connected"
    if accepted or known.connected_at is None:
        known.connected_at = at if known.invited_at is None else max(at, known.invited_at)
    if context.enrollment is not None and context.enrollment.accepted_at is None:
        context.enrollment.accepted_at = at
    if accepted:
        enrollment_id = context.enrollment.id if context.enrollment is not None else None
        data = InviteAccepted(
            enrollment_id=enrollment_id,
            account_id=context.account.id,
            profile_id=context.profile_id or known.profile_id,
        )
        events.emit(session, context.tenant, EventType.INVITE_ACCEPTED, data, now=context.now)


def _accepts(known: NetworkPerson) -> bool:
    """Whether being connected now means that the last invite, which was not withdrawn, was accepted just now."""
    invited = known.invited_at
    if invited is None or (known.withdrawn_at is not None and known.withdrawn_at >= invited):
        return False
    return known.connected_at is None or known.connected_at < invited


ERASED = text(
    f"""
    select exists (
      select from person_keys k join suppressions s on s.key_hash = k.hash
       where k.profile_id = :id and s.reason = 'erasure' and {suppressions.BINDS}
    )
    """  # noqa: S608 - a constant of the suppressions
)


async def forget_erased(session: AsyncSession, context: EnrollmentContext, action: Action) -> None:
    """Drop what a call said of a person who was erased while it was under way; that it was made stays."""
    whom = {"id": context.profile_id or action.profile_id}
    if not (await session.execute(ERASED, whom | suppressions.suppression_parameters(context.tenant))).scalar_one():
        return
    action.provider_message_id = None
    person, context.person = context.person, None
    if person is not None:
        await session.flush()
        await session.delete(person)
