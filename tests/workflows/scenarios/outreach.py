"""Lives of enrollments, actions and outreach accounts."""

from models.base.steps import NextStep, Queue
from models.outreach.engine import account_steps, plan
from tests.workflows.scenario import Scenario, Turn
from tests.workflows.scenarios.builders import act, asleep, done, nap

NET = Queue.NETWORK
NEXT, SEND, READ = "enrollment.next", plan.OUTREACH_SEND, plan.OUTREACH_RECONCILE
HOURS = "working hours begin 30 Nov 08:12:41 UTC"
ACCEPTED = "waits for acceptance until 19 Dec"
REPLY = "waits until 3 Dec for the next step"


def _send(number: int = 1, what: str = "sends the invite") -> NextStep:
    return act(SEND, NET, number=number, summary=what, limit_seconds=90.0, fairness_key="acc_1", details=what)


def _read(number: int = 1) -> NextStep:
    return act(READ, NET, number=number, summary="reads back whether it was sent", limit_seconds=60.0)


def _life(name: str, *turns: Turn) -> Scenario:
    return Scenario("enrollment", name, turns)


def enrollments() -> list[Scenario]:
    """Return a person in a sequence, from enrolling to every kind of end."""
    invited = (nap(NEXT, HOURS), Turn(NEXT, _send()), asleep(SEND, ACCEPTED))
    withdraws = _send(2, "withdraws the invite")
    return [
        _life(
            "accepted-and-answered",
            *(*invited, nap(NEXT, "the message is due 1 Dec 10:03:00 UTC"), Turn(NEXT, _send(2, "sends message 1"))),
            *(asleep(SEND, REPLY), Turn(NEXT, done())),
        ),
        _life(
            "accepted-and-through",
            *invited,
            Turn(NEXT, _send(2, "sends message 1")),
            nap(SEND, REPLY),
            Turn(NEXT, done()),
        ),
        _life("acceptance-times-out", Turn(NEXT, _send()), nap(SEND, ACCEPTED), Turn(NEXT, done())),
        _life("invite-withdrawn", Turn(NEXT, _send()), nap(SEND, ACCEPTED), Turn(NEXT, withdraws), Turn(SEND, done())),
        _life("stopped-while-waiting", *invited, Turn(NEXT, done("stopped"))),
        _life(
            "stopped-while-sending",
            Turn(NEXT, _send()),
            Turn(SEND, done("stopped"), wakes=1),
            Turn(NEXT, done("stopped")),
        ),
        _life(
            "paused-and-resumed",
            asleep(NEXT, HOURS),
            asleep(NEXT, "is paused", seconds=None),
            *invited,
            Turn(NEXT, done()),
        ),
        _life("approved", asleep(NEXT, "waits for approval", seconds=None), Turn(NEXT, _send()), Turn(SEND, done())),
        _life("rejected", asleep(NEXT, "waits for approval", seconds=None), Turn(NEXT, done("failed"))),
        _life("sequence-changed", *invited, asleep(NEXT, "the second step is due 9 Dec"), Turn(NEXT, done())),
        _life(
            "unknown-outcome-settled",
            *(Turn(NEXT, _send()), nap(SEND, "reads back in a minute"), Turn(NEXT, _read())),
            *(nap(READ, "reads back again in 15 minutes"), Turn(NEXT, _read(2))),
            *(asleep(READ, "a person has to settle what became of it", seconds=None), Turn(NEXT, done("failed"))),
        ),
        _life("cap-reached", nap(NEXT, "the cap of the day is reached"), Turn(NEXT, _send()), Turn(SEND, done())),
        _life(
            "account-busy",
            Turn(NEXT, _send()),
            nap(SEND, "the account is busy"),
            Turn(NEXT, _send()),
            Turn(SEND, done()),
        ),
        _life(
            "account-paused",
            asleep(NEXT, "the account is paused", seconds=None),
            Turn(NEXT, _send()),
            Turn(SEND, done()),
        ),
        _life(
            "network-fails",
            Turn(NEXT, _send()),
            Turn(SEND, fails=True, wakes=1),
            Turn(NEXT, _read()),
            Turn(READ, done()),
        ),
    ]


def actions() -> list[Scenario]:
    """Return direct sends."""
    ask = "action.next"
    return [
        Scenario("action", "sent", (nap(ask, HOURS), Turn(ask, _send()), Turn(SEND, done()))),
        Scenario(
            "action", "read-back", (Turn(ask, _send()), nap(SEND, "reads back"), Turn(ask, _read()), Turn(READ, done()))
        ),
        Scenario("action", "cancelled", (asleep(ask, HOURS), Turn(ask, done()))),
        Scenario(
            "action",
            "approved",
            (asleep(ask, "waits for approval", seconds=None), Turn(ask, _send()), Turn(SEND, done())),
        ),
    ]


def accounts() -> list[Scenario]:
    """Return an account from connecting to its removal."""
    ask = "account.next"
    again = "looks again at 28 Nov 10:00:00 UTC"
    works = (
        *(account_steps.ACCOUNT_CONNECT, account_steps.ACCOUNT_PROCESS, account_steps.ACCOUNT_LOOK),
        *(account_steps.ACCOUNT_READ_CHATS, account_steps.ACCOUNT_READ_INVITES),
    )
    turns: list[Turn] = []
    for number, step in enumerate(works, 1):
        turns += [Turn(ask, act(step, NET, number=number, fairness_key="acc_1")), nap(step, again)]
    deletes = act(account_steps.ACCOUNT_DELETE, NET, number=9)
    return [
        Scenario(
            "account",
            "connected-polled-removed",
            (*turns, Turn(ask, deletes), Turn(account_steps.ACCOUNT_DELETE, done())),
        ),
        Scenario(
            "account",
            "callback-rings",
            (
                asleep(ask, again),
                Turn(ask, act(account_steps.ACCOUNT_PROCESS, NET)),
                Turn(account_steps.ACCOUNT_PROCESS, done()),
            ),
        ),
    ]


def scenarios() -> list[Scenario]:
    """Return all of them."""
    return [*enrollments(), *actions(), *accounts()]
