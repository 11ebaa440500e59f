"""The pages on which a person signs in: the address, the mailed link, and the decision. They work without scripts."""

from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.access import sign_in
from api.access.oauth import OAuthRefused
from api.access.oauth_schemas import Authorization, Consent, Decide, Decided, Mailed, MailLink, OpenLink
from api.kernel.schemas import Email
from api.oauth import asking, browser
from api.oauth.documents import AUTHORIZE
from api.oauth.forms import Fields, Handler, form, run
from api.pages.render import page
from models.access.rules.oauth import MEANING, host_of
from models.base.errors import InvalidRequest, InvalidVerificationLink, ServiceError

EMAIL: TypeAdapter[str] = TypeAdapter(Email)
MAX_TOKEN = 200
BAD_REQUEST = 400
NOT_CONNECTED = "The application was not connected"


def _shown(handler: Handler) -> Handler:
    """Wrap a page so that it refuses with a page."""

    async def answered(request: Request) -> Response:
        try:
            return await handler(request)
        except OAuthRefused as error:
            return page("notice.html", status=BAD_REQUEST, heading=NOT_CONNECTED, message=error.description)
        except ServiceError as error:
            return page("notice.html", status=error.status, heading=NOT_CONNECTED, message=error.message)

    return answered


async def begin(request: Request) -> Response:
    """Show the form to which a client sends the browser; it asks for the address to mail the link to."""
    given = Fields(request.query_params.multi_items())
    client, redirect_uri = await asking.client_of(request, given)
    try:
        authorization = asking.read_authorization(request, given, client, redirect_uri)
    except OAuthRefused as error:
        told = {"error": error.code, "error_description": error.description, "state": _state(given)}
        return asking.sent_back(request, redirect_uri, told)
    known = browser.fresh(request)
    answer = _address_form(request, known, authorization)
    return browser.remember(request, answer, known)


def _state(given: Fields) -> str | None:
    """Return the request's state; null if it has none or an invalid one."""
    try:
        return asking.state_of(given)
    except OAuthRefused:
        return None


def _address_form(
    request: Request, known: str, authorization: Authorization, *, problem: str | None = None
) -> Response:
    return page(
        "oauth_sign_in.html",
        status=200 if problem is None else BAD_REQUEST,
        request=browser.packed(request, authorization),
        csrf=browser.csrf(request, known),
        client_name=authorization.client_name,
        redirect_host=host_of(authorization.redirect_uri),
        problem=problem,
    )


async def mail(request: Request) -> Response:
    """Mail the link. The answer is the same for every address."""
    known, given = browser.need(request), await form(request)
    browser.check_csrf(request, known, given)
    authorization = browser.unpacked(request, given)
    try:
        email = EMAIL.validate_python(given.get("email") or "")
    except ValidationError:
        return _address_form(request, known, authorization, problem="This is not an e-mail address.")
    await run(request, sign_in.mail_link, MailLink(authorization=authorization, email=email, browser=known), Mailed)
    return page("oauth_mailed.html", email=email)


async def show_decision(request: Request) -> Response:
    """Show the decision that the mailed link opens, in the browser that started. Opening does not use up the link."""
    token = _token(request.query_params.get("token"))
    known = browser.need(request)
    return await _consent_form(request, known, token)


async def _consent_form(request: Request, known: str, token: str, *, problem: str | None = None) -> Response:
    asked = await run(request, sign_in.open_link, OpenLink(token=token, browser=known), Consent)
    return page(
        "oauth_consent.html",
        status=200 if problem is None else BAD_REQUEST,
        leads_away=True,
        asked=asked,
        scopes=[(scope.value, MEANING[scope]) for scope in asked.scopes],
        token=token,
        csrf=browser.csrf(request, known),
        problem=problem,
    )


async def decide(request: Request) -> Response:
    """Handle the buttons: send the browser back to the client with a code or a refusal."""
    known, given = browser.need(request), await form(request)
    browser.check_csrf(request, known, given)
    token = _token(given.get("token"))
    allowed = given.get("decision") == "allow"
    ask = Decide(
        token=token,
        browser=known,
        workspace_id=given.get("workspace_id"),
        scopes=given.all("scope") if allowed else None,
    )
    try:
        decided = await run(request, sign_in.decide_sign_in, ask, Decided)
    except InvalidRequest as error:
        return await _consent_form(request, known, token, problem=error.message)
    told = {"code": decided.code, "state": decided.state}
    if decided.code is None:
        told |= {"error": "access_denied", "error_description": "The person denied access."}
    return asking.sent_back(request, decided.redirect_uri, told, status=asking.SEE_OTHER)


def _token(given: str | None) -> str:
    if given is None or not 0 < len(given) <= MAX_TOKEN:
        raise InvalidVerificationLink("This link is incomplete. Open it as it was mailed.")
    return given


ROUTES = [
    Route(AUTHORIZE, _shown(begin), methods=["GET"]),
    Route(f"{AUTHORIZE}/mail", _shown(mail), methods=["POST"]),
    Route(f"{AUTHORIZE}/link", _shown(show_decision), methods=["GET"]),
    Route(f"{AUTHORIZE}/decision", _shown(decide), methods=["POST"]),
]
