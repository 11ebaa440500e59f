"""Activity: figures of a span of time (contract, section 7)."""

from datetime import datetime, timedelta

from api.kernel.operation import Context, Effect, operation
from api.outreach.activity_schemas import ActivityCounts, ActivityDay, ActivityView, AskActivity, Rate
from api.outreach.conversations import CONVERSATIONS
from models.access.rules.keys import Scope
from models.base.errors import InvalidRequest
from models.outreach.store import accounts, actions
from models.outreach.store.actions import Span

USUAL = timedelta(days=30)
LONGEST = timedelta(days=366)


@operation(
    "outreach_activity.get",
    scope=Scope.OUTREACH_READ,
    effect=Effect.READ,
    route=CONVERSATIONS.get("/outreach/activity"),
)
async def get_activity(ctx: Context, ask: AskActivity) -> ActivityView:
    """What was done per day and type, and how many accepted and replied."""
    if ask.account_id is not None:
        await accounts.get_account(ctx.session, ctx.tenant, ask.account_id)
    since, until = _span(ask, ctx.now)
    span = Span(since, until, ask.account_id)
    days = await actions.days(ctx.session, ctx.tenant, span)
    total = {name: sum(day[name] for day in days.values()) for name in ActivityCounts.model_fields}
    return ActivityView(
        account_id=ask.account_id,
        since=since,
        until=until,
        days=[ActivityDay(date=day, **counts) for day, counts in sorted(days.items())],
        totals=ActivityCounts(**total),
        acceptance=_rate(*await actions.count_accepted(ctx.session, ctx.tenant, span)),
        replies=_rate(*await actions.count_replied(ctx.session, ctx.tenant, span)),
    )


def _span(ask: AskActivity, now: datetime) -> tuple[datetime, datetime]:
    """Raises `InvalidRequest` for a span that ends before it begins, or is longer than a year."""
    until = ask.until or now
    try:
        since = ask.since or until - USUAL
    except OverflowError:
        raise InvalidRequest("until is too early.", field="until") from None
    if since >= until:
        raise InvalidRequest("since must lie before until.", field="since")
    if until - since > LONGEST:
        raise InvalidRequest("The span is at most 366 days.", field="since")
    return since, until


def _rate(count: int, sample_size: int) -> Rate:
    return Rate(rate=round(count / sample_size, 4) if sample_size else None, count=count, sample_size=sample_size)
