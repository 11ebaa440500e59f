"""Lives of deliveries, payments, callbacks, auto-refills, outreach plans, OAuth clients, mails and recurring duties."""

from temporalio.client import WorkflowExecutionStatus

from activities import access, operate
from models.base.steps import NextStep, Queue
from models.billing.engine import outreach_plans
from models.billing.engine import payments as engine_payments
from models.events.rules import deliveries as rules_deliveries
from tests.workflows.scenario import Scenario, Turn
from tests.workflows.scenarios.builders import SOON, act, asleep, call, done, nap, wait
from tests.workflows.scenarios.every_kind import MANY

ATTEMPT, HOOKS, PAY = rules_deliveries.DELIVERY_ATTEMPT, Queue.WEBHOOKS, Queue.PAYMENTS
RETRIES = 5


def _retry(number: int, seconds: float = SOON) -> NextStep:
    after = call(ATTEMPT, HOOKS, number=number, summary=f"retry {number - 1} of {RETRIES}", fairness_key="whe_1")
    return wait(f"retry {number - 1} of {RETRIES} at 28 Nov 10:00:00 UTC", seconds, after=after)


def _delivery(name: str, *turns: Turn, fairness_key: str | None = "whe_1") -> Scenario:
    return Scenario("delivery", name, turns, fairness_key=fairness_key)


def deliveries() -> list[Scenario]:
    """Return an event on its way to an endpoint."""
    first = act(ATTEMPT, HOOKS, summary="first attempt", fairness_key="whe_1")
    retries = [Turn(ATTEMPT, _retry(number)) for number in range(2, RETRIES + 2)]
    by_hand = Turn(ATTEMPT, _retry(2, seconds=30.0), woken_after=True)
    return [
        _delivery("delivered-at-once", Turn(ATTEMPT, done("delivered"))),
        _delivery("asked-first", Turn("delivery.next", first), Turn(ATTEMPT, done("delivered")), fairness_key=None),
        _delivery("retried", Turn(ATTEMPT, _retry(2)), Turn(ATTEMPT, done("delivered"))),
        _delivery("given-up", *retries, Turn(ATTEMPT, done("failed"))),
        _delivery("retried-by-hand", by_hand, Turn(ATTEMPT, done("delivered"))),
        _delivery("endpoint-deleted", Turn(ATTEMPT, _retry(2)), Turn(ATTEMPT, done("dropped"))),
        _delivery(
            "waits-for-its-turn",
            asleep(ATTEMPT, "when earlier attempts have ended", seconds=None),
            Turn("delivery.next", first),
            Turn(ATTEMPT, done("delivered")),
        ),
        _delivery(
            "attempt-fails",
            Turn(ATTEMPT, fails=True, wakes=1),
            Turn("delivery.next", first),
            Turn(ATTEMPT, done("delivered")),
        ),
    ]


def payments() -> list[Scenario]:
    """Return payments, callbacks of the provider, and auto-refills."""
    ask, made, plans = "payment.next", engine_payments.PAYMENT_CALL, engine_payments.PAYMENT_END_PLANS
    asks = act(made, PAY, summary="asks the payment provider", fairness_key="ws_1")
    looks = act(made, PAY, number=2, summary="looks up what became of it")
    ends = act(plans, PAY, number=3, summary="ends earlier plans")
    open_ = "waits for somebody to pay"
    refill = "refill.next"
    return [
        Scenario("payment", "paid", (Turn(ask, asks), asleep(made, open_), Turn(ask, done("paid")))),
        Scenario(
            "payment",
            "plan-changed",
            (Turn(ask, asks), asleep(made, open_), Turn(ask, ends), Turn(plans, done("paid"))),
        ),
        Scenario(
            "payment", "abandoned", (Turn(ask, asks), nap(made, open_), Turn(ask, looks), Turn(made, done("expired")))
        ),
        Scenario(
            "payment",
            "provider-fails",
            (Turn(ask, asks), nap(made, "asks again"), Turn(ask, asks), Turn(made, done("failed"))),
        ),
        Scenario("callback", "worked-in", (Turn("callback.next", done("")),)),
        Scenario(
            "refill",
            "buys-and-waits",
            (
                asleep(refill, "the balance is high enough", seconds=None),
                nap(refill, "waits for the purchase"),
                asleep(refill, "the balance is high enough"),
                Turn(refill, done("")),
            ),
        ),
    ]


def plans() -> list[Scenario]:
    """Return what a workspace is charged for its outreach accounts."""
    kind, ask, made = "outreach_plan", "outreach_plan.next", outreach_plans.OUTREACH_PLAN_CALL
    changes = act(made, PAY, summary="changes how many accounts are charged", fairness_key="ws_1")
    again = act(made, PAY, number=2, summary="changes how many accounts are charged", fairness_key="ws_1")
    looks = act(made, PAY, number=3, summary="reads what is charged", fairness_key="ws_1")
    look, method = "waits for the next look, or for another try", "there is no payment method"
    return [
        Scenario(
            kind,
            "charged-until-the-last-account-leaves",
            (Turn(ask, changes), asleep(made, look), Turn(ask, again), Turn(made, done(""))),
        ),
        Scenario(
            kind,
            "looks-every-day",
            (Turn(ask, changes), nap(made, look), Turn(ask, looks), asleep(made, look), Turn(ask, done(""))),
        ),
        Scenario(
            kind, "waits-for-a-card", (asleep(ask, method, seconds=None), Turn(ask, changes), Turn(made, done("")))
        ),
        Scenario(kind, "declined", (Turn(ask, changes), nap(made, look), Turn(ask, again), Turn(made, done("")))),
    ]


def clients() -> list[Scenario]:
    """Return the metadata document of an OAuth client, read during a sign-in."""
    ask, read = "client.next", access.CLIENT_READ
    reads = act(read, HOOKS, summary="reads the client's description", fairness_key="client_1")
    return [
        Scenario("client", "read", (Turn(ask, reads), Turn(read, done("")))),
        Scenario("client", "wanted-while-read", (Turn(ask, reads), Turn(read, reads, wakes=1), Turn(read, done("")))),
    ]


def duties() -> list[Scenario]:
    """Return mails, recurring duties, and a life so long that it continues as new."""
    duty, does, reads = "housekeeping.next", operate.HOUSEKEEPING_DO, operate.HOUSEKEEPING_READ_OPT_OUTS
    send = act(access.MAIL_SEND, Queue.MAIL, summary="attempt 1")
    due = "expiry is due 29 Nov 00:05 UTC"
    naps = [nap(duty, due) for _ in range(MANY)]
    return [
        Scenario("mail", "sent", (Turn("mail.next", send), Turn(access.MAIL_SEND, done("sent")))),
        Scenario(
            "mail",
            "sent-later",
            (
                Turn("mail.next", send),
                nap(access.MAIL_SEND, "attempt 2 at 09:00"),
                Turn("mail.next", send),
                Turn(access.MAIL_SEND, done("sent")),
            ),
        ),
        Scenario(
            "housekeeping",
            "does-its-duty",
            (nap(duty, due), Turn(duty, act(does)), nap(does, due), Turn(duty, done(""))),
        ),
        Scenario(
            "housekeeping",
            "reads-opt-outs",
            (Turn(duty, act(reads, Queue.UPSTREAM)), nap(reads, due), Turn(duty, done(""))),
        ),
        Scenario(
            "housekeeping",
            "goes-on-as-new",
            (*naps, Turn(duty, done(""))),
            ends=WorkflowExecutionStatus.CONTINUED_AS_NEW,
        ),
    ]


def scenarios() -> list[Scenario]:
    """Return all of them."""
    return [*deliveries(), *payments(), *plans(), *clients(), *duties()]
