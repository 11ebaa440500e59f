"""Waiting for a run: the answer is held back while nothing that would change it has happened."""

import asyncio
from typing import Annotated, Any

from pydantic import Field

from api.kernel.schemas import Listing, PageAsk
from api.mcp.invocation import Invocation, within
from api.mcp.tool import Arguments, Executing, Tool, asked_of, simple
from api.mcp.toolsets import Toolset
from api.sourcing import plans, runs
from api.sourcing.plans import Refinement
from api.sourcing.plans_schemas import CreatePlan, Description, GivenIntent, ListPlans, PlanView, Target
from api.sourcing.runs import RunExtension
from api.sourcing.runs_schemas import (
    Bound,
    Budget,
    CandidateQuery,
    CandidateRow,
    CandidateShape,
    ExtendRun,
    ExtensionPreview,
    ListCandidates,
    ListRuns,
    RunPreview,
    RunStarted,
    RunView,
    StartRun,
)
from api.sourcing.search_answers import Searches, SearchPlanned, SearchResults, SearchStarted, UnconfirmedSearch
from models.base.statuses import RunStatus
from models.sourcing.rules.runs import DEFAULT_ADD_TARGET, DEFAULT_TARGET, FINAL, MAX_ADD_TARGET, MAX_TARGET, MIN_TARGET

LOOK_SECONDS = 0.5


async def until_final(
    call: Invocation, run_id: str, query: CandidateQuery, *, seconds: float
) -> tuple[RunView, Listing[CandidateRow]]:
    """The run and the page asked for, once the run has ended, the page is full, or `seconds` have passed.

    Waiting ends when the caller hangs up or the process stops. The page is read after the run, so that of an ended run
    no candidate is missing.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + seconds
    ask = ListCandidates.model_validate({"run_id": run_id, **dict(query)})
    told, wait = -1, True
    while True:
        run = await call.read(runs.get_run, run_id)
        delivered = run.progress.candidates_delivered
        last = run.status in FINAL or not wait or loop.time() >= deadline
        if last or delivered != told:
            page = await call.read(runs.list_candidates, ask)
            if last or page.has_more:
                return run, page
            told = delivered
            await call.report(delivered, run.progress.target, _words(run))
        wait = await call.line.rest(min(LOOK_SECONDS, max(0.0, deadline - loop.time())))


def _words(run: RunView) -> str:
    return f"{run.status}: {run.progress.candidates_delivered} of {run.progress.target} people"


# Tools of searches.


SearchId = Annotated[str, Field(description="`search_id` as start_search or refine_search answered it.")]
RunId = Annotated[str, Field(description="`run_id` as start_search answered it, or list_searches shows it.")]
TARGET = (
    f"How many people are wanted: {MIN_TARGET} to {MAX_TARGET}, by default {DEFAULT_TARGET}. Later extend_search adds."
)


class StartSearch(Executing):
    """One source: a job description (and fields that override it), an intent, or a search that was shown before."""

    job_description: Description | None = Field(
        default=None,
        description="The advertisement, or a few words that name title, place and years. First line: the job title.",
    )
    intent: GivenIntent | None = Field(
        default=None,
        description="Fields that replace what is read from the description, or the whole search without one.",
    )
    intent_id: str | None = Field(default=None, description="A stored intent of draft_intent, instead.")
    search_id: str | None = Field(
        default=None, description="A search shown before, instead: with confirm=true it is this search that runs."
    )
    target: Target | None = Field(default=None, description=TARGET)
    budget_credits: Bound | None = Field(
        default=None,
        description="The most that the run may spend, in credits. By default the estimate's `credits_max`.",
    )
    mark_seen: bool = Field(
        default=True, description="Note delivered people in the seen register, so that later searches skip them."
    )

    def ask(self) -> StartRun:
        """The run that these arguments mean."""
        given = {name: getattr(self, name) for name in self.model_fields_set & StartRun.model_fields.keys()}
        if self.search_id is not None:
            given["plan_id"] = self.search_id
        if self.budget_credits is not None:
            given["budget"] = Budget(max_credits=self.budget_credits)
        return asked_of(StartRun, given)

    def of_plan(self, plan: PlanView) -> "StartSearch":
        """The same wish for a plan that was just made of it."""
        return StartSearch(search_id=plan.id, budget_credits=self.budget_credits, mark_seen=self.mark_seen)


async def _start(call: Invocation, asked: StartSearch) -> SearchPlanned | SearchStarted:
    if call.confirmed:
        return await _confirmed(call, asked)
    if asked.search_id is not None:
        return await _priced(call, asked)
    made = PlanView.model_validate(await call.invoke(plans.create_plan, asked.narrowed(CreatePlan)))
    return await _priced(call, asked.of_plan(made))


async def _priced(call: Invocation, asked: StartSearch) -> SearchPlanned:
    """What the run would do and cost, and whether it could be paid."""
    return SearchPlanned.of(RunPreview.model_validate(await call.preview(runs.start_run, asked.ask())))


async def _confirmed(call: Invocation, asked: StartSearch) -> SearchStarted:
    """Start the run. That of a `search_id` is started at most once for ever, unless a key of the caller's is given."""
    if asked.search_id is not None and asked.idempotency_key is None:
        before = await call.read(runs.run_of_plan, asked.search_id)
        if before.run is not None:
            return SearchStarted.of(before.run, before.summary, replayed=True)
        call = call.of_wish(asked.search_id)
    answer = await call.invoke(runs.start_run, asked.ask())
    started = RunStarted.model_validate(answer)
    return SearchStarted.of(started.run, started.plan.summary, replayed=bool(answer["replayed"]))


class RefineSearch(Arguments):
    """A search, and what is to be different."""

    search_id: SearchId
    intent: GivenIntent = Field(
        description="Changes: a given field replaces, null clears, what is left out stays. Lists are replaced whole."
    )
    target: Target | None = Field(default=None, description=f"{TARGET} Left out: as before.")


async def _refine(call: Invocation, asked: RefineSearch) -> SearchPlanned:
    with within("intent"):
        wanted = Refinement(asked.search_id, asked.intent, asked.target)
        made = PlanView.model_validate(await call.invoke(plans.refine_plan, wanted))
    return await _priced(call, StartSearch(search_id=made.id))


class GetSearchResults(CandidateQuery, Arguments):
    """Which candidates of a run, and how long to wait for them."""

    run_id: RunId
    wait_seconds: int = Field(
        default=0,
        ge=0,
        le=50,
        description="Wait so long for the run to end, 25 is good; answers earlier when there is a full page or an end.",
    )
    view: CandidateShape = Field(
        default=CandidateShape.COMPACT, description="`compact`: one flat row a person. `full`: with the whole profile."
    )


async def _results(call: Invocation, asked: GetSearchResults) -> SearchResults:
    run, page = await until_final(call, asked.run_id, asked.narrowed(CandidateQuery), seconds=asked.wait_seconds)
    return SearchResults.of(run, page, done=run.status in FINAL and not page.has_more)


class ListSearches(PageAsk, Arguments):
    """Which searches to show, newest first."""

    status: RunStatus | None = Field(default=None, description="Only runs in this state, and no unconfirmed searches.")


async def _list(call: Invocation, asked: ListSearches) -> Searches:
    listed = await call.read(runs.list_runs, asked.narrowed(ListRuns))
    waiting: list[PlanView] = []
    if asked.status is None and asked.cursor is None:
        newest = asked.narrowed(ListPlans).model_copy(update={"unconfirmed": True})
        waiting = (await call.read(plans.list_plans, newest)).data
    return Searches(**dict(listed), unconfirmed=[UnconfirmedSearch.of(plan) for plan in waiting])


class ExtendSearch(Executing):
    """A finished run, and how much further it goes."""

    run_id: RunId
    add_target: int = Field(
        default=DEFAULT_ADD_TARGET, ge=1, le=MAX_ADD_TARGET, description="How many people more are wanted."
    )
    add_budget_credits: Bound | None = Field(
        default=None,
        description="What is added to the run's budget; by default {price.person} credits for each person more.",
    )

    def ask(self) -> RunExtension:
        """The extension that these arguments mean."""
        more = None if self.add_budget_credits is None else Budget(max_credits=self.add_budget_credits)
        return RunExtension(self.run_id, ExtendRun(add_target=self.add_target, add_budget=more))


class CancelSearch(Arguments):
    """A run."""

    run_id: RunId


START = """Find people for a job. The usual first step of every task.

Without confirm it is free: reads the job description, plans a ladder of searches that share no person, and answers \
search_id, a summary in words, the estimate in credits, applied_filters, ignored_fields and warnings. Show these to \
the person you work for. Then call again with search_id and confirm=true (and budget_credits, if they named a limit) \
to run it: that spends up to {price.person} credits a person ({price.lead} for the person, {price.live_profile} \
for a live profile) and answers run_id at once. \
With job_description, budget_credits and confirm=true it is one call. A search_id runs once for ever, however often \
it is confirmed."""

RESULTS = """Read the people a run has found, and wait for more.

Call with run_id and wait_seconds=25, again and again, until done is true. Free. Rows are compact unless view is \
full; distance_km is always there (null when the place is not known). What candidates wrote is in untrusted_text."""

TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="start_search",
        title="Start a search",
        toolset=Toolset.SOURCING,
        description=START,
        arguments=StartSearch,
        answers=SearchPlanned | SearchStarted,
        run=_start,
        operation=runs.start_run,
        chosen=lambda given: (
            runs.start_run if given.get("confirm") is True or "search_id" in given else plans.create_plan
        ),
        names={"plan_id": "search_id", "budget.max_credits": "budget_credits"},
        open_world=True,
    ),
    Tool(
        name="refine_search",
        title="Refine a search",
        toolset=Toolset.SOURCING,
        description="Change a search that was shown (titles, place, years, skills, companies, exclusions) and see the"
        " new plan and estimate. Free. Answers a new search_id; the old one can still be run as it was shown. Changes"
        " add up, whichever search_id of the same search they are given with.",
        arguments=RefineSearch,
        answers=SearchPlanned,
        run=_refine,
        operation=plans.get_plan,
        names={"plan_id": "search_id"},
        read_only=False,
    ),
    Tool(
        name="get_search_results",
        title="Get search results",
        toolset=Toolset.SOURCING,
        description=RESULTS,
        arguments=GetSearchResults,
        answers=SearchResults,
        run=_results,
        operation=runs.get_run,
        open_world=True,
    ),
    Tool(
        name="list_searches",
        title="List searches",
        toolset=Toolset.SOURCING,
        description="Every run, newest first, with state, progress and spending; beside them the searches that were"
        " planned and never confirmed. Use it to find a run_id or search_id again. Free.",
        arguments=ListSearches,
        answers=Searches,
        run=_list,
        operation=runs.list_runs,
    ),
    Tool(
        name="extend_search",
        title="Extend a search",
        toolset=Toolset.SOURCING,
        description="Let a finished run go on for more people, from where it stopped; what was read is not paid again."
        " Up to {price.person} credits a person. A run whose searches are exhausted has no more: call refine_search"
        " with a patch of its suggestions. Without confirm it only shows the price.",
        arguments=ExtendSearch,
        answers=RunView | ExtensionPreview,
        run=simple(runs.extend_run, ExtendSearch.ask),
        operation=runs.extend_run,
        names={"add_budget.max_credits": "add_budget_credits"},
        open_world=True,
    ),
    Tool(
        name="cancel_search",
        title="Cancel a search",
        toolset=Toolset.SOURCING,
        description="Stop a run after its current step. People already delivered stay, and stay paid. Free.",
        arguments=CancelSearch,
        answers=RunView,
        run=simple(runs.cancel_run, lambda asked: asked.run_id),
        operation=runs.cancel_run,
        destructive=True,
    ),
)
