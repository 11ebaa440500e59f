"""The hosted page: the purchase, a button that pays and one that is declined."""

from html import escape
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from sandbox.payments.billing import Billing
from sandbox.payments.ledger import Ledger
from sandbox.payments.outbox import Outbox
from sandbox.payments.wire import Object

_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Pay</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head><body><main>
<h1>{product}</h1><p>{amount:.2f} {currency}{interval}</p>{note}{form}
<p><a href="{cancel}">Back without paying</a></p></main></body></html>"""
_FORM = """<form method="post"><button name="outcome" value="paid">Pay</button>
<button name="outcome" value="declined">Pay with a card that is declined</button></form>"""


class Pages:
    """Serves `/pay/{id}`."""

    def __init__(self, ledger: Ledger, billing: Billing, outbox: Outbox) -> None:
        self._ledger = ledger
        self._billing = billing
        self._outbox = outbox

    async def show(self, request: Request) -> Response:
        """Return the page."""
        session = self._session(request)
        return HTMLResponse("no such page", 404) if session is None else _page(session)

    async def act(self, request: Request) -> Response:
        """Execute a button."""
        session = self._session(request)
        if session is None:
            return HTMLResponse("no such page", 404)
        outcome = parse_qs((await request.body()).decode()).get("outcome", [""])[0]
        if outcome not in ("paid", "declined") or session["status"] != "open":
            return _page(session, note="This page is no longer open." if session["status"] != "open" else "")
        self._billing.complete(session, outcome)
        await self._outbox.flush()
        if outcome == "declined":
            return _page(session, note="Your card was declined. Try another one.")
        return RedirectResponse(session["success_url"].replace("{CHECKOUT_SESSION_ID}", session["id"]), 303)

    def _session(self, request: Request) -> Object | None:
        found = self._ledger.get(request.path_params["id"])
        return found if found is not None and found["object"] == "checkout.session" else None


def _page(session: Object, *, note: str = "") -> Response:
    return HTMLResponse(
        _PAGE.format(
            product=escape(session["_product"]),
            amount=session["amount_total"] / 100,
            currency=escape(session["currency"].upper()),
            interval=" a month" if session["mode"] == "subscription" else "",
            note=f"<p>{escape(note)}</p>" if note else "",
            form=_FORM if session["status"] == "open" else "",
            cancel=escape(session["cancel_url"] or "#", quote=True),
        )
    )
