"""Suppressions: people who are never fetched, charged or contacted (contract, section 5 "Registers")."""

from dataclasses import dataclass

from api.kernel.operation import Context, Effect, Noun, OtherAnswer, operation
from api.kernel.schemas import Answer, Listing, PageAsk
from api.people.named_people import find_person, in_body
from api.people.schemas import ErasureView, NamePerson, NewSuppression, RequestErasure, SuppressionView
from models.access.rules.keys import Scope
from models.base.errors import InvalidRequest
from models.people.rules.registers import SuppressionReason
from models.people.store import opt_outs, people, suppressions
from models.people.tables import Erasure, Suppression

REGISTERS = Noun("Registers", "Who was seen, who must not be contacted, and who was erased.")


@operation("suppressions.list", scope=Scope.SOURCING_READ, effect=Effect.READ, route=REGISTERS.get("/suppressions"))
async def list_suppressions(ctx: Context, ask: PageAsk) -> Listing[SuppressionView]:
    """Suppressions made here, newest first; at the account those of its customers too."""
    paging = ctx.paging(ask)
    return paging.listing(await suppressions.page_of_suppressions(ctx.session, ctx.tenant, paging.page), _shown)


@operation(
    "suppressions.create",
    scope=Scope.SOURCING_WRITE,
    effect=Effect.WRITE,
    route=REGISTERS.post(
        "/suppressions",
        status=201,
        other=OtherAnswer(
            200,
            SuppressionView,
            "It was there already.",
            applies=lambda answer: not isinstance(answer, NewSuppression),
        ),
    ),
)
async def create_suppression(ctx: Context, ask: NamePerson) -> SuppressionView:
    """Suppress a person by `profile_id` or `profile_url`: from now on never fetched, charged, shown or contacted."""
    profile_id = await find_person(ctx, in_body(ask))
    row, is_new = await suppressions.suppress(ctx.session, ctx.tenant, profile_id, reason=SuppressionReason.MANUAL)
    return NewSuppression.model_validate(_shown(row).model_dump()) if is_new else _shown(row)


@operation(
    "suppressions.delete",
    scope=Scope.SOURCING_WRITE,
    effect=Effect.WRITE,
    route=REGISTERS.delete("/suppressions/{suppression_id:id}"),
)
async def delete_suppression(ctx: Context, suppression_id: str) -> None:
    """Lift a suppression whose reason is `manual`; what a person asked for stays (`conflict`)."""
    await suppressions.lift_suppression(ctx.session, ctx.tenant, suppression_id)


def _shown(row: Suppression) -> SuppressionView:
    return SuppressionView.model_validate(row.model_dump(include=set(SuppressionView.model_fields)))


# A person's own opt-out, for the whole installation (contract, section 5 "Registers").


@dataclass(frozen=True, slots=True)
class OptOut:
    """What a person asks for on their own page."""

    token: str
    erase: bool


class OptedOut(Answer):
    """Done; nothing about the person is told."""


@operation("opt_outs.create", scope=None, effect=Effect.WRITE)
async def opt_out(ctx: Context, ask: OptOut) -> OptedOut:
    """Suppress the person of the token in every workspace, and erase them if they ask."""
    await opt_outs.opt_out_person(ctx.session, ctx.vault, ask.token, erase=ask.erase)
    return OptedOut()


# Erasures that an account asks for (contract, sections 3 and 5).


WAYS = ("profile_id", "profile_url", "email")


@operation(
    "erasures.create",
    scope=Scope.ACCOUNT_WRITE,
    effect=Effect.WRITE,
    route=REGISTERS.post("/erasures", status=202, location="/erasures/{answer.id}"),
)
async def create_erasure(ctx: Context, ask: RequestErasure) -> ErasureView:
    """Erase a person, by one of `profile_id`, `profile_url` and `email`, from the account with all its customers.

    Profile, contacts, messages, list and seen entries and candidates go; keyed hashes stay, by which the person is
    refused when met again.
    """
    profile_id = await _find(ctx, ask)
    made = await suppressions.erase_person(ctx.session, ctx.tenant.workspace_id, profile_id)
    await ctx.note("erasure.created", subject_id=made.id)
    return _erasure_view(made)


@operation(
    "erasures.get", scope=Scope.ACCOUNT_READ, effect=Effect.READ, route=REGISTERS.get("/erasures/{erasure_id:id}")
)
async def get_erasure(ctx: Context, erasure_id: str) -> ErasureView:
    """One erasure."""
    return _erasure_view(await suppressions.load_erasure(ctx.session, ctx.tenant.workspace_id, erasure_id))


async def _find(ctx: Context, ask: RequestErasure) -> str:
    given = [way for way in WAYS if getattr(ask, way) is not None]
    if len(given) != 1:
        field = given[-1] if given else WAYS[0]
        raise InvalidRequest("Give a profile_id, a profile_url or an email.", field=field)
    if ask.email is not None:
        return await people.person_by_email(ctx.session, ctx.vault, ask.email)
    return await find_person(ctx, in_body(ask))


def _erasure_view(row: Erasure) -> ErasureView:
    return ErasureView.model_validate(row.model_dump(include=set(ErasureView.model_fields)))
