"""An owner's sign-in: the link, and binding what came of it. Callbacks are registered before any link is made."""

import asyncio

import structlog
from sqlalchemy.exc import DBAPIError

from activities.upstream.ports import (
    AccountTrouble,
    NetworkBusy,
    NetworkError,
    NetworkNotConfigured,
    OutcomeUnknown,
    OutreachNetwork,
)
from models.database import Database
from models.rules.outreach.callbacks import callback_token, callback_url
from models.secrets import Vault
from models.stores.outreach import connecting, endpoints
from models.stores.outreach.account_states import Standing
from models.stores.outreach.connecting import LINK_PURPOSE, Failure, LinkAsk, SignedIn

log = structlog.get_logger(__name__)

REGISTERED_SECONDS, UNREGISTERED_SECONDS = 3600, 30
RETURN_PATH = "/outreach/connected"
"""Where the provider sends the owner's browser afterwards (`api.pages.connected`)."""


class SignIn:
    """Links and bindings over one provider. `public_url` is the API's origin."""

    def __init__(self, database: Database, vault: Vault, network: OutreachNetwork, *, public_url: str) -> None:
        self._database = database
        self._vault = vault
        self._network = network
        self._public_url = public_url.rstrip("/")

    async def make_link(self, account_id: str, number: int) -> None:
        """Make the link that is wanted and keep it, or why there is none. A link that got lost is never used."""
        ask = await self._database.run(lambda session: connecting.begin_link(session, self._vault, account_id, number))
        if ask is None:
            return
        kept: bytes | Failure
        try:
            await self.register()
            link = await self._link(ask)
            kept = self._vault.seal(LINK_PURPOSE, link.encode())
        except NetworkNotConfigured:
            kept = Failure.UNAVAILABLE
        except NetworkError as error:
            log.warning("account.no_link", account_id=account_id, code=error.code)
            kept = Failure.BUSY if isinstance(error, NetworkBusy | OutcomeUnknown) else Failure.UPSTREAM
        await self._database.run(lambda session: connecting.keep_link(session, account_id, number, kept))

    async def _link(self, ask: LinkAsk) -> str:
        """A link to sign in again, or to sign in anew where the provider has forgotten the account."""
        back = self._public_url + RETURN_PATH
        try:
            return await self._network.connect_link(
                state=ask.state, redirect_url=back, expires_at=ask.expires_at, account_id=ask.provider_id
            )
        except AccountTrouble:
            if ask.provider_id is None:
                raise
            return await self._network.connect_link(state=ask.state, redirect_url=back, expires_at=ask.expires_at)

    async def register(self) -> None:
        """Make sure that the provider sends its callbacks here; asked of it once a day at most."""
        url = callback_url(self._public_url, callback_token(self._vault))
        async with self._database.reading() as session:
            if await endpoints.is_known(session, url):
                return
        made = await self._network.ensure_callbacks(url)
        if not made.tells_acceptance:
            log.warning("network.acceptances_only_polled")
        await self._database.run(
            lambda session: endpoints.keep(
                session,
                self._vault,
                url=url,
                provider_id=made.id,
                secret=made.secret,
                relations_told=made.tells_acceptance,
            )
        )

    async def stay_registered(self) -> None:
        """Register for as long as this runs: at once, and again when the provider was asked a day ago."""
        while True:
            try:
                await self.register()
                wait = REGISTERED_SECONDS
            except (NetworkError, DBAPIError, OSError) as error:
                log.warning("network.not_registered", error=type(error).__name__)
                wait = UNREGISTERED_SECONDS
            await asyncio.sleep(wait)

    async def bind(self, account_id: str, provider_id: str, state: str, *, told: bool = True) -> None:
        """Bind what an owner signed in with; the provider itself says what that is.

        `told`: see `connecting.bind`. Raises `NetworkError`, also while the provider does not know whose it is yet.
        """
        known = await self._network.account(provider_id)
        if known is None:
            return
        if known.user_id is None:
            raise NetworkBusy("owner_unknown")
        signed_in = SignedIn(
            provider_id=known.id,
            user_id=known.user_id,
            name=known.name,
            profile_url=await self._profile_url(known.id),
            standing=Standing(known.standing.value),
            created_at=known.created_at,
        )
        unused = await self._database.run(
            lambda session: connecting.bind(session, account_id, state, signed_in, told=told)
        )
        if unused is not None:
            await self._network.delete_account(unused)

    async def _profile_url(self, provider_id: str) -> str | None:
        try:
            return (await self._network.person(provider_id, "me")).profile_url
        except NetworkError as error:  # a courtesy: while it is still connecting there may be nothing to read
            log.info("account.owner_not_read", code=error.code)
            return None
