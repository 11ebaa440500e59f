"""Contact details: asked for, and read by the lookup's id."""

from api.operations import funds
from api.operations.kernel import Context, Effect, operation
from api.schemas.contacts import ContactLookupView, FetchContacts
from api.schemas.raw import PricePreview
from models.rules.access import Scope
from models.stores import contacts
from models.stores.contacts import LOOKUPS


@operation("contacts.fetch", scope=Scope.SOURCING_SPEND, effect=Effect.SPEND)
async def fetch_contacts(ctx: Context, ask: FetchContacts) -> ContactLookupView | PricePreview:
    """Look e-mail addresses and telephone numbers up. Each found kind of a person costs once in twelve months."""
    ids, want = tuple(dict.fromkeys(ask.profile_ids)), tuple(dict.fromkeys(ask.want))
    standings = await contacts.look(ctx.session, ctx.tenant, contacts.pairs(ids, want))
    price = await funds.check(ctx, contacts.price(standings))
    if ctx.dry_run:
        return price
    lookup = await contacts.create(
        ctx.session, ctx.tenant, api_key_id=ctx.caller.api_key_id, profile_ids=ids, want=want
    )
    ctx.rung.append(contacts.subject(lookup.id))
    return ContactLookupView.of(lookup, await contacts.shown(ctx.session, ctx.vault, ctx.tenant, lookup))


@operation("contacts.get", scope=Scope.SOURCING_READ, effect=Effect.READ)
async def get_contacts(ctx: Context, lookup_id: str) -> ContactLookupView:
    """A lookup with what it has found; of people suppressed since nothing is shown."""
    lookup = await LOOKUPS.get(ctx.session, ctx.tenant, lookup_id)
    return ContactLookupView.of(lookup, await contacts.shown(ctx.session, ctx.vault, ctx.tenant, lookup))
