"""Companies looked up live at the people source, and ids of companies checked."""

from api.billing import credits
from api.kernel.kernel import Awaited, after_call
from api.kernel.operation import Context, Effect, operation
from api.sourcing.companies_schemas import CompaniesFetched, FetchCompanies, FetchedCompany
from api.sourcing.raw import RAW, admit_raw_call
from api.sourcing.raw_schemas import PricePreview
from models.access.rules.keys import Scope
from models.billing.rules import prices
from models.sourcing.engine import calls, fetch
from models.sourcing.rules.raw_calls import CallKind, CompaniesResult


@operation("companies.fetch", scope=Scope.SOURCING_SPEND, effect=Effect.SPEND, route=RAW.post("/companies:fetch"))
async def fetch_companies(
    ctx: Context, ask: FetchCompanies
) -> CompaniesFetched | PricePreview | Awaited[CompaniesFetched]:
    """Up to 25 companies, looked up live by id, domain or name. Preview the price with `?dry_run=true`."""
    asked = ask.asked()
    call_id = None if ctx.dry_run else await calls.find_open_call(ctx.session, ctx.use)
    if call_id is None:
        standings = await fetch.read_company_inputs(ctx.session, asked)
        live = sum(standing.status is None for standing in standings)
        price = await credits.check_funds(ctx, prices.LIVE_COMPANY * live)
        if ctx.dry_run:
            return price
        if live == 0:
            return _fetched(fetch.company_results(standings))
        call_id = await admit_raw_call(ctx, CallKind.COMPANIES, asked)

    async def answer(later: Context) -> CompaniesFetched:
        return _fetched(await calls.collect(later.session, later.vault, call_id, CompaniesResult))

    return after_call(call_id, answer)


def _fetched(result: CompaniesResult) -> CompaniesFetched:
    return CompaniesFetched(
        data=[FetchedCompany.of(row) for row in result.rows],
        charged_credits=sum(row.charged_credits for row in result.rows),
    )
