"""Companies looked up live at the people source, and ids of companies checked."""

from api.operations import funds
from api.operations.kernel import Awaited, Context, Effect, after_call, operation
from api.operations.raw import admit
from api.schemas.companies import CompaniesFetched, FetchCompanies, FetchedCompany
from api.schemas.raw import PricePreview
from models.rules import pricing
from models.rules.access import Scope
from models.rules.company_calls import CompaniesResult
from models.rules.raw_calls import CallKind
from models.stores.upstream_calls import companies, rows


@operation("companies.fetch", scope=Scope.SOURCING_SPEND, effect=Effect.SPEND)
async def fetch_companies(
    ctx: Context, ask: FetchCompanies
) -> CompaniesFetched | PricePreview | Awaited[CompaniesFetched]:
    """Up to 25 companies. Each one found costs; those known already and those that nobody knows are free."""
    asked = ask.asked()
    call_id = None if ctx.dry_run else await rows.attach(ctx.session, ctx.use)
    if call_id is None:
        standings = await companies.look(ctx.session, asked)
        live = sum(standing.status is None for standing in standings)
        price = await funds.check(ctx, pricing.LIVE_COMPANY * live)
        if ctx.dry_run:
            return price
        if live == 0:
            return _fetched(companies.result_of(standings))
        call_id = await admit(ctx, CallKind.COMPANIES, asked)

    async def answer(later: Context) -> CompaniesFetched:
        return _fetched(await rows.collect(later.session, later.vault, call_id, CompaniesResult))

    return after_call(call_id, answer)


def _fetched(result: CompaniesResult) -> CompaniesFetched:
    return CompaniesFetched(
        data=[FetchedCompany.of(row) for row in result.rows],
        charged_credits=sum(row.charged_credits for row in result.rows),
    )
