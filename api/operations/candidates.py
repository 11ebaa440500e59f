"""Candidates: what a run has delivered, in delivery order."""

from api.operations.kernel import Context, Effect, operation
from api.schemas.candidates import VIEWS, CandidateRow, FullCandidate, ListCandidates
from api.schemas.lists import Listing
from models.rules.access import Scope
from models.stores import candidates, runs


@operation("candidates.list", scope=Scope.SOURCING_READ, effect=Effect.READ)
async def list_candidates(ctx: Context, ask: ListCandidates) -> Listing[FullCandidate | CandidateRow]:
    """A page of a run's candidates; people suppressed since are left out."""
    await runs.get(ctx.session, ctx.tenant, ask.run_id)
    paging = ctx.paging(ask, within=ask.run_id)
    found = await candidates.listed(ctx.session, ctx.tenant, ask.run_id, ask.filters(), paging.page)
    return paging.listing(found, VIEWS[ask.view])
