"""Credits: the balance, the ledger, and what can be bought (specification, "Credits")."""

from collections import defaultdict

from api.access.schemas import BalanceView, CreditPlan, Expiry, GrantView, LedgerEntryView, OutreachCost, SourceBalance
from api.kernel.operation import Context, Effect, Noun, operation
from api.kernel.schemas import Listing, PageAsk
from api.sourcing.raw_schemas import PricePreview
from api.sourcing.runs_schemas import WouldFail
from models.access.rules.keys import Scope
from models.base.errors import DailyCreditCapReached
from models.billing.engine import outreach_plans
from models.billing.rules.prices import OFFERS, OUTREACH_ACCOUNT_CENTS, outreach_price_cents
from models.billing.store import credits
from models.billing.tables import Grant
from models.sourcing.engine.calls import payment_refusal

CREDITS = Noun("Credits", "Balance, ledger, plans, buying and auto-refill.")

SOURCES = ("signup", "plan", "top_up", "adjustment")


@operation("billing.balance", scope=Scope.ACCOUNT_READ, effect=Effect.READ, route=CREDITS.get("/billing/balance"))
async def get_balance(ctx: Context, _: None) -> BalanceView:
    """What can be spent, where it comes from and when it expires."""
    workspace_id = ctx.tenant.workspace_id
    grants = await credits.open_grants(ctx.session, workspace_id)
    by_source: dict[str, int] = defaultdict(int)
    by_expiry: dict[object, list[Grant]] = defaultdict(list)
    for grant in grants:
        by_source[grant.source] += grant.remaining_credits
        by_expiry[grant.expires_at].append(grant)
    return BalanceView(
        balance_credits=sum(by_source.values()),
        by_source=[
            SourceBalance.model_validate({"source": source, "remaining_credits": by_source[source]})
            for source in SOURCES
            if source in by_source
        ],
        grants=[GrantView.model_validate(grant.model_dump(include=set(GrantView.model_fields))) for grant in grants],
        next_expiries=[
            Expiry(expires_at=group[0].expires_at, credits=sum(grant.remaining_credits for grant in group))
            for group in by_expiry.values()
        ],
        spent_today_credits=await credits.spent_today(ctx.session, workspace_id),
        outreach_account_price_cents=OUTREACH_ACCOUNT_CENTS,
        outreach=await _outreach(ctx),
    )


async def _outreach(ctx: Context) -> OutreachCost:
    found = await outreach_plans.outreach_plan_standing(
        ctx.session, ctx.tenant.workspace_id, now=ctx.now, configured=ctx.settings.stripe_api_key is not None
    )
    return OutreachCost(
        accounts=found.accounts,
        account_price_cents=OUTREACH_ACCOUNT_CENTS,
        monthly_cents=outreach_price_cents(found.accounts),
        status=found.paying,
        unpaid_since=found.unpaid_since,
    )


@operation("billing.ledger", scope=Scope.ACCOUNT_READ, effect=Effect.READ, route=CREDITS.get("/billing/ledger"))
async def list_ledger(ctx: Context, ask: PageAsk) -> Listing[LedgerEntryView]:
    """Every movement of credits."""
    paging = ctx.paging(ask)
    found = await credits.page_of_ledger_entries(ctx.session, ctx.tenant.workspace_id, paging.page)
    shown = set(LedgerEntryView.model_fields)
    return paging.listing(found, lambda entry: LedgerEntryView.model_validate(entry.model_dump(include=shown)))


@operation("billing.plans", scope=None, effect=Effect.READ, route=CREDITS.get("/billing/plans"))
async def list_billing_plans(_ctx: Context, _: None) -> Listing[CreditPlan]:
    """The plans and the pack."""
    return Listing(
        data=[
            CreditPlan.model_validate(
                {
                    "id": offer.id,
                    "object": "plan" if offer.monthly else "pack",
                    "name": offer.name,
                    "credits": offer.credits,
                    "price_cents": offer.price_cents,
                    "interval": "month" if offer.monthly else None,
                    "valid_months": offer.valid_months,
                }
            )
            for offer in OFFERS
        ]
    )


# Whether the most that a call can cost fits balance and daily caps (contract, section 5 "Raw layer").


async def check_funds(ctx: Context, most: int) -> PricePreview:
    """The price as a preview shows it. When executed: raises `InsufficientCredits` or `DailyCreditCapReached`."""
    balance = await credits.balance(ctx.session, ctx.tenant.workspace_id)
    caps = await credits.caps(ctx.session, ctx.payer)
    refused = payment_refusal(required=most, balance=balance, caps=caps, now=ctx.now)
    if refused is not None and not ctx.dry_run:
        raise refused
    capped = isinstance(refused, DailyCreditCapReached)
    return PricePreview(
        max_credits=most,
        required_credits=most,
        balance_credits=balance,
        would_fail=WouldFail(code=refused.code) if refused else None,
        next_available_at=credits.caps_reset_at(ctx.now) if capped else None,
    )
