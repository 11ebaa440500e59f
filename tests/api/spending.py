"""An operation that spends, for tests: it writes one lead for each execution, so that executions can be counted.

`note` says what it does before it answers: `fail`, `poor`, `deadlock` (once), `wait` (until `release`), `linger`.
"""

import asyncio
import secrets
from dataclasses import dataclass, field

from fastapi import FastAPI
from sqlalchemy import text

from api.kernel.operation import Context, Effect, Noun, operation
from api.kernel.routing import OperationRoute
from api.kernel.schemas import Answer, Ask
from models.access.rules.keys import Scope
from models.base.errors import InsufficientCredits


class Spend(Ask):
    note: str = ""
    amount: int = 1


class Spent(Answer):
    id: str
    amount: int


@dataclass
class Stage:
    """State that the tests and the handler share."""

    entered: asyncio.Event = field(default_factory=asyncio.Event)
    release: asyncio.Event = field(default_factory=asyncio.Event)
    attempts: int = 0


stage = Stage()

DEADLOCK = "do $$ begin raise exception 'invented' using errcode = '40P01'; end $$"


@operation("tests.spend", scope=Scope.SOURCING_SPEND, effect=Effect.SPEND)
async def spend(ctx: Context, ask: Spend) -> Spent:
    stage.attempts += 1
    lead = f"lead_{secrets.token_hex(8)}"
    await ctx.session.execute(
        text("insert into leads (workspace_id, profile_id, created_at) values (:workspace, :lead, :now)"),
        {"workspace": ctx.tenant.workspace_id, "lead": lead, "now": ctx.now},
    )
    match ask.note:
        case "fail":
            raise RuntimeError("a defect")
        case "poor":
            raise InsufficientCredits(required_credits=3, balance_credits=1)
        case "deadlock" if stage.attempts == 1:
            await ctx.session.execute(text(DEADLOCK))
        case "wait":
            stage.entered.set()
            await stage.release.wait()
        case "linger":
            await asyncio.sleep(0.2)
    return Spent(id=lead, amount=ask.amount)


route = OperationRoute(spend, Noun("Tests", "").post("/tests/spend", status=202, location="/tests/{answer.id}"))


def add_to(app: FastAPI) -> None:
    """Serve the route."""
    app.router.routes.append(route)
    app.state.paths.learn(app.router.routes)


def reset() -> None:
    """Forget the state of earlier tests."""
    stage.entered.clear()
    stage.release.clear()
    stage.attempts = 0
