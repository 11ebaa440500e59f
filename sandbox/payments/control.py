"""The payments side's part of the control API: payments, cards, refunds and pending events."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Query
from pydantic import BaseModel, ConfigDict

from sandbox.payments.billing import Billing
from sandbox.payments.gate import PROVIDER
from sandbox.payments.ledger import Ledger
from sandbox.payments.outbox import Outbox
from sandbox.payments.wire import Object, shown
from sandbox.state import State

KINDS = ("customer", "checkout.session", "payment_intent", "subscription", "invoice", "payment_method")


class Strict(BaseModel):
    """Control input: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Completion(Strict):
    """The outcome of a page. `pending` is a payment method that takes days; `paid` or `declined` settles it."""

    session_id: str
    outcome: Literal["paid", "declined", "expired", "pending"]
    twice: bool = False


class Cards(Strict):
    """The new state of all cards of a customer."""

    customer_id: str
    state: Literal["works", "declines", "gone"]


class Refund(Strict):
    """A charge to refund in full."""

    payment_intent: str


class Repeat(Strict):
    """An event to send again."""

    event_id: str


class Holding(Strict):
    """Whether events are held back; they may be released in reverse order."""

    held: bool
    backwards: bool = False


def payments_control(*, state: State, ledger: Ledger, billing: Billing, outbox: Outbox) -> APIRouter:
    """Return the routes under `/_control/payments`."""
    router = APIRouter(prefix="/_control/payments")

    @router.get("")
    async def show(_: Annotated[Strict, Query()]) -> dict[str, Any]:
        things = {kind: [shown(thing) for thing in ledger.all(kind)] for kind in KINDS}
        return things | {"events": ledger.events(), "calls": _calls(state)}

    @router.delete("")
    async def forget(_: Annotated[Strict, Query()]) -> dict[str, bool]:
        ledger.clear()
        state.database.execute("delete from calls where provider = ?", (PROVIDER,))
        return {"cleared": True}

    @router.post("/complete")
    async def complete(done: Completion) -> dict[str, Any]:
        session = _find(ledger, done.session_id, "checkout.session")
        settles = session["status"] == "complete" and session["payment_status"] == "unpaid"
        if session["status"] != "open" and not (settles and done.outcome in ("paid", "declined")):
            raise HTTPException(409, f"the page is {session['status']}")
        events = billing.complete(session, done.outcome, times=2 if done.twice else 1)
        await outbox.flush()
        return {"session": shown(session), "events": events}

    @router.post("/cards")
    async def set_cards(cards: Cards) -> dict[str, int]:
        changed = billing.set_card(cards.customer_id, cards.state)
        await outbox.flush()
        return {"cards": changed}

    @router.post("/refund")
    async def refund(asked: Refund) -> dict[str, str]:
        event_id = billing.refund(_find(ledger, asked.payment_intent, "payment_intent"))
        await outbox.flush()
        return {"event_id": event_id}

    _add_event_routes(router, ledger, outbox)
    return router


def _add_event_routes(router: APIRouter, ledger: Ledger, outbox: Outbox) -> None:
    @router.post("/events/repeat")
    async def repeat(asked: Repeat) -> dict[str, str]:
        if not ledger.send_again(asked.event_id):
            raise HTTPException(404, "no such event")
        await outbox.flush()
        return {"event_id": asked.event_id}

    @router.post("/events/hold")
    async def hold(asked: Holding) -> dict[str, int]:
        if asked.held:
            ledger.hold()
            return {"released": 0}
        released = ledger.release(backwards=asked.backwards)
        await outbox.flush()
        return {"released": released}


def _find(ledger: Ledger, object_id: str, kind: str) -> Object:
    found = ledger.get(object_id)
    if found is None or found["object"] != kind:
        raise HTTPException(404, f"no such {kind}")
    return found


def _calls(state: State) -> dict[str, int]:
    rows = state.database.execute(
        "select operation, count(*) from calls where provider = ? group by operation", (PROVIDER,)
    )
    return dict(rows.fetchall())
