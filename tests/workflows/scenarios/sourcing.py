"""Lives of runs, fetch jobs, contact lookups and synchronous calls."""

from typing import Any

from temporalio.client import WorkflowExecutionStatus

from models.base.steps import NextStep, Queue
from models.sourcing.engine import contacts, decide
from models.sourcing.engine import jobs as engine_jobs
from tests.workflows.scenario import Scenario, Turn
from tests.workflows.scenarios.builders import act, asleep, call, done, nap, wait
from workflows import upstream_calls

UP = Queue.UPSTREAM
NEXT, PAGE, AHEAD, FETCH = "run.next", decide.RUN_READ_PAGE, decide.RUN_READ_AHEAD, decide.RUN_FETCH_PROFILES
LIMITS: dict[str, Any] = {"limit_seconds": 70.0, "heartbeat_seconds": 9.0, "priority": 3}


def _page(number: int = 1, **more: Any) -> NextStep:
    return act(PAGE, UP, number=number, summary="reads page 1 of tier 1 of 3", status="searching", **LIMITS | more)


def _chunk(number: int = 2, **more: Any) -> NextStep:
    return act(FETCH, UP, number=number, summary="fetches 50 profiles", status="delivering", **LIMITS | more)


def _run(name: str, *turns: Turn, before: tuple[Turn, ...] = ()) -> Scenario:
    return Scenario("run", name, turns, before=before)


FINISHED = (Turn(NEXT, _page()), Turn(PAGE, _chunk()), Turn(FETCH, done()))
BUSY = "data source busy until 28 Nov 09:30:00 UTC"


def runs() -> list[Scenario]:
    """Return a run from its start to every kind of end."""
    ahead = call(AHEAD, UP, number=3, summary="reads the next page", **LIMITS)
    return [
        _run("finishes", *FINISHED),
        _run(
            "sixty-people",
            *(Turn(NEXT, _page()), Turn(PAGE, _chunk(ahead=ahead)), Turn(FETCH, wait("")), Turn(AHEAD)),
            *(Turn(NEXT, _chunk(4)), Turn(FETCH, done())),
        ),
        _run("reads-ahead", Turn(NEXT, _chunk(ahead=ahead)), Turn(FETCH, wait("")), Turn(AHEAD), Turn(NEXT, done())),
        _run(
            "reading-ahead-fails",
            *(Turn(NEXT, _chunk(ahead=ahead)), Turn(FETCH, wait("")), Turn(AHEAD, fails=True), Turn(NEXT, done())),
        ),
        _run(
            "cancelled-while-reading",
            Turn(NEXT, _page()),
            Turn(PAGE, done("aborted"), wakes=1),
            Turn(NEXT, done("aborted")),
        ),
        _run("extended-after-its-end", *FINISHED, before=FINISHED),
        _run("out-of-credits", Turn(NEXT, _page()), Turn(PAGE, _chunk()), Turn(FETCH, done("failed"))),
        _run(
            "source-busy",
            *(Turn(NEXT, _page()), nap(PAGE, BUSY, status="waiting_for_quota"), Turn(NEXT, _page(2))),
            *(Turn(PAGE, _chunk(3)), Turn(FETCH, done())),
        ),
        _run("source-fails-for-good", Turn(NEXT, _page()), nap(PAGE, BUSY), Turn(NEXT, done("failed"))),
        _run(
            "waits-in-the-queue",
            Turn(NEXT, _page(queued=decide.RUN_QUEUED, queued_after=0.2)),
            Turn(decide.RUN_QUEUED, wait("waits for its turn at the data source", status="waiting_for_quota")),
            Turn(PAGE, done("completed_no_audience"), works_seconds=0.8),
        ),
        _run(
            "does-not-wait-in-the-queue",
            *(Turn(NEXT, _page(queued=decide.RUN_QUEUED)), Turn(PAGE, done("completed_no_audience"))),
        ),
        _run(
            "worker-lost-while-fetching",
            Turn(NEXT, _chunk()),
            Turn(FETCH, fails=True, wakes=1),
            Turn(NEXT, _chunk()),
            Turn(FETCH, done()),
        ),
    ]


def jobs() -> list[Scenario]:
    """Return fetch jobs and contact lookups, which wait for a busy source."""
    lives = []
    for kind, work in (("job", engine_jobs.JOB_FETCH), ("contacts", contacts.CONTACTS_FIND)):
        ask, due = f"{kind}.next", act(work, UP, summary="asks for 50 people", **LIMITS)
        lives += [
            Scenario(kind, "finishes", (Turn(ask, due), Turn(work, due), Turn(work, done()))),
            Scenario(kind, "source-busy", (Turn(ask, due), nap(work, BUSY), Turn(ask, due), Turn(work, done()))),
            Scenario(kind, "fails", (Turn(ask, due), nap(work, BUSY), Turn(ask, done("failed")))),
        ]
    return lives


def calls() -> list[Scenario]:
    """Return a synchronous call as a workflow of one activity."""
    made = upstream_calls.UPSTREAM_CALL
    return [
        Scenario("call", "answered", (Turn(made),)),
        Scenario("call", "fails", (Turn(made, fails=True),)),
        Scenario(
            "call",
            "cancelled-by-an-operator",
            (Turn(made, cancels=True, works_seconds=0.5),),
            ends=WorkflowExecutionStatus.CANCELED,
        ),
    ]


def scenarios() -> list[Scenario]:
    """Return all of them."""
    return [*runs(), *jobs(), *calls(), Scenario("run", "sleeps-through-a-page", (asleep(NEXT, BUSY), *FINISHED))]
