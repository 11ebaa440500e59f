"""Prices, caps and limits in texts for callers: placeholders such as `{price.lead}` become the current figures."""

import re
from collections.abc import Mapping

from models.billing.rules import prices
from models.events.rules.deliveries import ENDPOINTS
from models.outreach.rules.actions import MAX_NOTE, ActionType
from models.outreach.rules.caps import CAPS, GAP_SECONDS, GAP_SPREAD_SECONDS, WARMUP_DAYS, WARMUP_FLOOR
from models.outreach.rules.sequences import MAX_STEPS
from models.outreach.rules.slots import FIRST_TOUCH_HORIZON
from models.sourcing.rules.ground import DEFAULT_RADIUS_KM
from models.sourcing.rules.runs import DEFAULT_TARGET, MAX_TARGET, MIN_TARGET

PLACEHOLDER = re.compile(r"{([a-z]+\.[a-z_]+)}")


def _euros(cents: int) -> str:
    euros, rest = divmod(cents, 100)
    return f"{euros}.{rest:02} {prices.CURRENCY}" if rest else f"{euros} {prices.CURRENCY}"


FACTS: Mapping[str, str] = {
    "price.lead": f"{prices.LEAD}",
    "price.live_profile": f"{prices.LIVE_PROFILE}",
    "price.live_company": f"{prices.LIVE_COMPANY}",
    "price.contact": f"{prices.CONTACT}",
    "price.person": f"{prices.MOST_PER_PERSON}",
    "price.usual_run": f"{prices.MOST_PER_PERSON * DEFAULT_TARGET}",
    "price.account": _euros(prices.OUTREACH_ACCOUNT_CENTS),
    "pack.credits": f"{prices.PACK.credits:,}",
    "pack.price": _euros(prices.PACK.price_cents),
    "target.least": f"{MIN_TARGET}",
    "target.usual": f"{DEFAULT_TARGET}",
    "target.most": f"{MAX_TARGET}",
    "radius.usual": f"{DEFAULT_RADIUS_KM}",
    "action.types": f"{', '.join(list(ActionType)[:-1])} or {list(ActionType)[-1]}",
    "sequence.steps": f"{MAX_STEPS}",
    "sequence.note": f"{MAX_NOTE}",
    "outreach.horizon": f"{FIRST_TOUCH_HORIZON.days}",
    "outreach.gap_shortest": f"{GAP_SECONDS}",
    "outreach.gap_longest": f"{GAP_SECONDS + GAP_SPREAD_SECONDS}",
    "warmup.days": f"{WARMUP_DAYS}",
    "warmup.floor": f"{int(WARMUP_FLOOR * 100)} %",
    "webhooks.most": f"{ENDPOINTS}",
} | {f"cap.{cap.value}": f"{rule.default}" for cap, rule in CAPS.items()}
"""Figures as text, by name."""


def filled(text: str) -> str:
    """Return the text with every placeholder replaced by its figure. Raises `KeyError` for an unknown name."""
    return PLACEHOLDER.sub(lambda found: FACTS[found[1]], text)
