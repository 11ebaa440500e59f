"""Outreach settings (specification, "Outreach caps"; contract, section 7)."""

from collections.abc import Sequence

from api.operations.kernel import Context, Effect, operation
from api.schemas.outreach.settings import ChangeSettings, SettingsView, changed
from models.errors import InvalidRequest
from models.rules.access import Scope
from models.rules.outreach.caps import workspace_cap_problem
from models.rules.outreach.hours import hours_problems
from models.rules.outreach.problems import Problem
from models.stores.outreach import replanning, settings

HOURS = ("time_zone", "start_hour", "end_hour", "days")


@operation("outreach_settings.get", scope=Scope.OUTREACH_READ, effect=Effect.READ)
async def get_settings(ctx: Context, _: None) -> SettingsView:
    """The settings of the workspace, or of the customer."""
    return SettingsView.of(await settings.of(ctx.session, ctx.tenant))


@operation("outreach_settings.change", scope=Scope.OUTREACH_WRITE, effect=Effect.WRITE)
async def change_settings(ctx: Context, ask: ChangeSettings) -> SettingsView:
    """Change the fields given, and plan anew what is planned."""
    row = await settings.row_locked(ctx.session, ctx.tenant)
    now = await ctx.read_clock()
    before = settings.rules_of(row)
    for name in HOURS:
        if name in ask.model_fields_set:
            if getattr(ask, name) is None:
                raise InvalidRequest(f"{name} cannot be null.", field=name)
            setattr(row, name, getattr(ask, name))
    refuse(hours_problems(time_zone=row.time_zone, start_hour=row.start_hour, end_hour=row.end_hour, days=row.days))
    given = ask.given()
    refuse(
        [
            problem
            for cap, value in given.items()
            if value is not None and (problem := workspace_cap_problem(cap, value))
        ]
    )
    row.days = sorted(row.days)
    row.caps = changed(row.caps, given)
    after = settings.rules_of(row)
    if after != before:
        row.updated_at = now
        await ctx.note("outreach.settings.changed", data={"fields": sorted(ask.model_fields_set)})
        await replanning.ask_tenant(ctx.session, ctx.tenant)
    return SettingsView.of(after)


def refuse(problems: Sequence[Problem]) -> None:
    """Refuse what the rules find wrong first. Raises `InvalidRequest`."""
    for problem in problems:
        raise InvalidRequest(f"{problem.field} {problem.message}.", field=problem.field)
