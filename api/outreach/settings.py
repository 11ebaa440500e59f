"""Outreach settings (specification, "Outreach caps"; contract, section 7)."""

from collections.abc import Sequence

from api.kernel.operation import Context, Effect, operation
from api.outreach.accounts import ACCOUNTS
from api.outreach.settings_schemas import ChangeSettings, SettingsView, changed_caps
from models.access.rules.keys import Scope
from models.base.errors import InvalidRequest
from models.outreach.engine import replan
from models.outreach.rules.caps import hours_problems, workspace_cap_problem
from models.outreach.rules.states import FieldProblem
from models.outreach.store import sequences

HOURS = ("time_zone", "start_hour", "end_hour", "days")


@operation(
    "outreach_settings.get", scope=Scope.OUTREACH_READ, effect=Effect.READ, route=ACCOUNTS.get("/outreach/settings")
)
async def get_settings(ctx: Context, _: None) -> SettingsView:
    """Working hours, and the caps that were lowered for all accounts."""
    return SettingsView.of(await sequences.read_settings(ctx.session, ctx.tenant))


@operation(
    "outreach_settings.change",
    scope=Scope.OUTREACH_WRITE,
    effect=Effect.WRITE,
    route=ACCOUNTS.patch("/outreach/settings"),
)
async def change_settings(ctx: Context, ask: ChangeSettings) -> SettingsView:
    """Change working hours or lower caps. What is planned is planned anew."""
    row = await sequences.lock_settings_row(ctx.session, ctx.tenant)
    now = await ctx.read_clock()
    before = sequences.rules_of(row)
    for name in HOURS:
        if name in ask.model_fields_set:
            if getattr(ask, name) is None:
                raise InvalidRequest(f"{name} cannot be null.", field=name)
            setattr(row, name, getattr(ask, name))
    refuse_problems(
        hours_problems(time_zone=row.time_zone, start_hour=row.start_hour, end_hour=row.end_hour, days=row.days)
    )
    given = ask.given()
    refuse_problems(
        [
            problem
            for cap, value in given.items()
            if value is not None and (problem := workspace_cap_problem(cap, value))
        ]
    )
    row.days = sorted(row.days)
    row.caps = changed_caps(row.caps, given)
    after = sequences.rules_of(row)
    if after != before:
        row.updated_at = now
        await ctx.note("outreach.settings.changed", data={"fields": sorted(ask.model_fields_set)})
        await replan.ask_tenant(ctx.session, ctx.tenant)
    return SettingsView.of(after)


def refuse_problems(problems: Sequence[FieldProblem]) -> None:
    """Refuse what the rules find wrong first. Raises `InvalidRequest`."""
    for problem in problems:
        raise InvalidRequest(f"{problem.field} {problem.message}.", field=problem.field)
