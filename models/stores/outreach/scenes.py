"""Scenes: everything that a step on the network is decided from, locked in the one order and read again after that.

Order: settings, account, sequence (shared), people, enrollment, actions. Whoever forbids a send takes the same locks,
so what is read here holds until the transaction ends.
"""

from collections.abc import Sequence as Ordered
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.rules.outreach.sequences import Step
from models.rules.outreach.states import FINAL_ACTIONS, ActionOutcome, ActionReason
from models.rules.outreach.steps import Connection, Started
from models.stores import people
from models.stores.outreach import accounts, sequences
from models.stores.outreach.accounts import Held
from models.stores.outreach.settings import Rules
from models.tables import Action, Enrollment, NetworkPerson, OutreachAccount, Sequence
from models.tenancy import Tenant

R = TypeVar("R", Enrollment, Action)


@dataclass(slots=True)
class Scene:
    """One enrollment (null for a direct send), its open action where there is one, and where both happen.

    `actions` are all of the enrollment, in order of creation; of a direct send the action alone. `profile_id` is the id
    that stands for the person now, null for one who was erased from the installation.
    """

    held: Held
    sequence: Sequence | None
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
        """The row whose `wake_at` and rings this is about."""
        return self.enrollment if self.enrollment is not None else self.actions[0]

    @property
    def steps(self) -> tuple[Step, ...]:
        """The sequence as it is now."""
        return () if self.sequence is None else sequences.steps_of(self.sequence)

    def started(self, *, without: Action | None = None) -> list[Started]:
        """The enrollment's actions as the rules see them, one left out where that is asked."""
        return [_started(one) for one in self.actions if one is not without]

    def connection(self) -> Connection:
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


def connection_of(known: NetworkPerson | None, enrollment: Enrollment | None) -> Connection:
    """How an account and a person stand on the network, as far as it is known."""
    return Connection(
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


async def of_enrollment(session: AsyncSession, enrollment_id: str) -> Scene | None:
    """The scene of an enrollment; null when there is no such row any more."""
    where = (await session.execute(WHERE_ENROLLMENT, {"id": enrollment_id})).one_or_none()
    if where is None:
        return None
    held = await accounts.locked(session, where.account_id)
    sequence = await _sequence(session, where.sequence_id)
    standing = (await people.hold(session, [where.profile_id])).get(where.profile_id)
    enrollment = await _locked(session, Enrollment, enrollment_id)
    if enrollment is None:
        return None
    query = select(Action).where(col(Action.enrollment_id) == enrollment_id).order_by(col(Action.id))
    actions = await session.scalars(query.with_for_update().execution_options(populate_existing=True))
    return Scene(
        held=held,
        sequence=sequence,
        enrollment=enrollment,
        actions=sorted(actions, key=lambda one: (one.created_at, one.id)),
        person=await _known(session, held.account.id, where.profile_id),
        profile_id=standing,
        now=await service_time(session),
    )


async def of_action(session: AsyncSession, action_id: str) -> Scene | None:
    """The scene of an action: its enrollment's where it has one; null when there is no such row any more."""
    where = (await session.execute(WHERE_ACTION, {"id": action_id})).one_or_none()
    if where is None:
        return None
    if where.enrollment_id is not None:
        return await of_enrollment(session, where.enrollment_id)
    held = await accounts.locked(session, where.account_id)
    standing = (await people.hold(session, [where.profile_id])).get(where.profile_id)
    action = await _locked(session, Action, action_id)
    if action is None:
        return None
    person = await _known(session, held.account.id, where.profile_id)
    return Scene(held, None, None, [action], person, standing, await service_time(session))


async def of_subject(session: AsyncSession, subject_id: str) -> Scene | None:
    """The scene of an enrollment or a direct send, by its id."""
    return await (of_enrollment if subject_id.startswith("enr_") else of_action)(session, subject_id)


async def _sequence(session: AsyncSession, sequence_id: str) -> Sequence | None:
    query = select(Sequence).where(col(Sequence.id) == sequence_id).with_for_update(read=True)
    return (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()


async def _locked(session: AsyncSession, kind: type[R], row_id: str) -> R | None:
    query = select(kind).where(col(kind.id) == row_id).with_for_update()
    return (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()


async def _known(session: AsyncSession, account_id: str, profile_id: str) -> NetworkPerson | None:
    return await session.get(NetworkPerson, (account_id, profile_id), populate_existing=True)


ALIASES = text("select id from people where id = :id or alias_of = :id")


async def ids_of(session: AsyncSession, profile_id: str) -> Ordered[str]:
    """Every id that means the person who is now called so."""
    return list(await session.scalars(ALIASES, {"id": profile_id}))
