"""What is told of actions: the events of a sent, failed or held one."""

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from models.rules.events import ActionChanged, EventType
from models.stores import events
from models.tables import Action
from models.tenancy import Tenant, customer_of


def tell(session: AsyncSession, type: EventType, action: Action, now: datetime) -> None:
    """Tell what became of an action, if this transaction commits."""
    data = ActionChanged(
        action_id=action.id,
        enrollment_id=action.enrollment_id,
        sequence_id=action.sequence_id,
        account_id=action.account_id,
        profile_id=action.profile_id,
        type=action.type,
        outcome=action.outcome,
        reason=action.reason,
    )
    events.emit(session, Tenant(action.workspace_id, customer_of(action.tenant_id)), type, data, now=now)
