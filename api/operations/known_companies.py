"""Company ids that callers give: of shipped companies, checked with the body, or of companies looked up live."""

from collections.abc import Mapping, Sequence

from api.operations.kernel import Context
from api.schemas.intents import UNKNOWN_COMPANY
from models.errors import InvalidRequest
from models.rules.companies import Company
from models.rules.intents import Intent
from models.stores import companies


async def company_of(ctx: Context, company_id: str, *, field: str) -> Company:
    """The company of an id. Raises `InvalidRequest` for one that nobody has."""
    try:
        return ctx.reference.shipped.companies.get(company_id)
    except KeyError:
        pass
    known = (await companies.by_ids(ctx.session, [company_id])).get(company_id)
    if known is None:
        raise InvalidRequest(f"This {UNKNOWN_COMPANY}.", field=field)
    return Company(known.id, known.details.name, known.details.country_code, known.details.domain)


async def check_companies(ctx: Context, given: Mapping[str, Sequence[str]]) -> None:
    """Raise `InvalidRequest` for an id that nobody has; `given` are ids by the field they stand in."""
    shipped = ctx.reference.shipped.companies
    places = {
        f"{field}.{place}": one
        for field, ids in given.items()
        for place, one in enumerate(ids)
        if not shipped.knows(one)
    }
    known = await companies.by_ids(ctx.session, set(places.values())) if places else {}
    unknown = next((place for place, one in places.items() if one not in known), None)
    if unknown is not None:
        raise InvalidRequest(f"This {UNKNOWN_COMPANY}.", field=unknown)


async def check_intent(ctx: Context, intent: Intent) -> None:
    """The same for the companies of an intent."""
    blocks = {"must": intent.must, "nice": intent.nice, "exclude": intent.exclude}
    await check_companies(ctx, {f"{name}.company_ids": block.company_ids for name, block in blocks.items()})
