"""The steps of an outreach account: sign-in links, callbacks, looks, polls, and its deletion."""

import asyncio
from datetime import timedelta

import structlog
from sqlalchemy.exc import DBAPIError

from activities.outreach.channel import ListeningChannel
from activities.steps import steps
from activities.upstream.ports.network import OutreachNetwork
from activities.upstream.ports.network_errors import (
    AccountTrouble,
    LimitReached,
    NetworkBusy,
    NetworkError,
    NetworkNotConfigured,
    OutcomeUnknown,
    Trouble,
)
from models.base.database import Database
from models.base.secrets import Vault
from models.base.steps import NextStep, Queue, Step, served_step
from models.outreach.engine import account_steps
from models.outreach.engine import connect as engine_connect
from models.outreach.engine.account_states import AccountStanding
from models.outreach.engine.connect import LINK_PURPOSE, ConnectFailure, LinkAsk, SignedIn
from models.outreach.rules.callbacks import (
    Callback,
    CallbackKind,
    InvalidCallback,
    callback_token,
    callback_url,
    read_callback,
)
from models.outreach.store import accounts
from models.outreach.store.accounts import OpenedCallback

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
        ask = await self._database.run(
            lambda session: engine_connect.begin_link(session, self._vault, account_id, number)
        )
        if ask is None:
            return
        kept: bytes | ConnectFailure
        try:
            await self.register()
            link = await self._link(ask)
            kept = self._vault.seal(LINK_PURPOSE, link.encode())
        except NetworkNotConfigured:
            kept = ConnectFailure.UNAVAILABLE
        except NetworkError as error:
            log.warning("account.no_link", account_id=account_id, code=error.code)
            kept = ConnectFailure.BUSY if isinstance(error, NetworkBusy | OutcomeUnknown) else ConnectFailure.UPSTREAM
        await self._database.run(lambda session: engine_connect.keep_link(session, account_id, number, kept))

    async def _link(self, ask: LinkAsk) -> str:
        """A link to sign in again, or to sign in as a new account where the provider has forgotten it."""
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
            if await accounts.is_registered(session, url):
                return
        made = await self._network.ensure_callbacks(url)
        if not made.tells_acceptance:
            log.warning("network.acceptances_only_polled")
        await self._database.run(
            lambda session: accounts.keep_endpoint(
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

    async def bind(self, account_id: str, provider_id: str, state: str, *, confirmed: bool = True) -> None:
        """Bind what an owner signed in with; the provider itself says what that is.

        `confirmed`: see `models.outreach.engine.connect.bind`. Raises `NetworkError`, also while the provider
        does not know yet whose it is.
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
            standing=AccountStanding(known.standing.value),
            created_at=known.created_at,
        )
        unused = await self._database.run(
            lambda session: engine_connect.bind(session, account_id, state, signed_in, confirmed=confirmed)
        )
        if unused is not None:
            await self._network.delete_account(unused)

    async def _profile_url(self, provider_id: str) -> str | None:
        try:
            return (await self._network.person(provider_id, "me")).profile_url
        except NetworkError as error:  # a courtesy: while it is still connecting there may be nothing to read
            log.info("account.owner_not_read", code=error.code)
            return None


OUTAGE = timedelta(minutes=1)
"""A callback whose network cannot be asked is looked at again after this."""
OVERLAP = timedelta(minutes=10)
"""A poll reads again what the poll before it may just have missed."""
STANDING_OF = {
    Trouble.DISCONNECTED: AccountStanding.DISCONNECTED,
    Trouble.RESTRICTED: AccountStanding.RESTRICTED,
    Trouble.INTERRUPTED: AccountStanding.INTERRUPTED,
    Trouble.NOT_READY: AccountStanding.CONNECTING,
}


@steps
class AccountSteps:
    """What an account asks of the database and of the provider."""

    def __init__(
        self,
        database: Database,
        vault: Vault,
        network: OutreachNetwork,
        inbox: ListeningChannel,
        *,
        public_url: str,
        chats_every: timedelta = account_steps.CHATS_EVERY,
    ) -> None:
        self._database = database
        self._vault = vault
        self._network = network
        self._public_url = public_url
        self._inbox = inbox
        self._chats_every = chats_every

    @served_step("account.next")
    async def next(self, step: Step) -> NextStep:
        """Say what is due now: a step, waiting, or nothing more."""
        decision = await self._database.run(lambda session: account_steps.decide_account(session, step.id))
        return decision.next_step

    @served_step(account_steps.ACCOUNT_CONNECT, Queue.NETWORK)
    async def connect(self, step: Step) -> NextStep:
        """Make the link by which the owner signs in."""
        await self._sign_in().make_link(step.id, step.number)
        return await self.next(step)

    @served_step(account_steps.ACCOUNT_PROCESS, Queue.NETWORK)
    async def process(self, step: Step) -> NextStep:
        """Work through the oldest callback that is due."""
        opened = await self._database.run(lambda session: accounts.begin_callback(session, self._vault, step.id))
        if opened is not None:
            await self._process(step, opened)
        return await self.next(step)

    async def _process(self, step: Step, opened: OpenedCallback) -> None:
        try:
            callback = read_callback(opened.raw)
            await self._act_on(step, callback)
        except AccountTrouble as error:
            await self._put_off(opened, OUTAGE)
            await self._noted(step, error)
        except (NetworkBusy, NetworkNotConfigured, LimitReached) as error:
            log.info("callback.put_off", account_id=step.id, code=error.code)
            await self._put_off(opened, OUTAGE)
        except InvalidCallback:
            await self._database.run(lambda session: accounts.finish_callback(session, opened.id))
        except Exception as error:
            if await self._database.run(lambda session: accounts.fail_callback(session, opened.id)):
                log.error(  # noqa: TRY400 - a trace can hold personal data
                    "callback.given_up", account_id=step.id, callback_id=opened.id, error=type(error).__name__
                )
                return
            if not isinstance(error, NetworkError):
                raise
        else:
            await self._database.run(lambda session: accounts.finish_callback(session, opened.id))

    async def _put_off(self, opened: OpenedCallback, after: timedelta) -> None:
        await self._database.run(lambda session: accounts.put_off_callback(session, opened.id, after=after))

    async def _act_on(self, step: Step, callback: Callback) -> None:
        """Do what a callback hints at."""
        match callback.kind:
            case CallbackKind.CONNECTED if callback.state is not None and callback.account_id is not None:
                await self._sign_in().bind(step.id, callback.account_id, callback.state)
            case CallbackKind.RETURNED:
                if callback.state is not None and callback.account_id is not None:
                    await self._sign_in().bind(step.id, callback.account_id, callback.state, confirmed=False)
            case CallbackKind.CONNECTED | CallbackKind.STANDING | CallbackKind.REMOVED:
                await self._look(step)
            case CallbackKind.MESSAGE | CallbackKind.RELATION:
                provider_id = await self._provider_id(step)
                if provider_id is not None and provider_id == callback.account_id:
                    await self._inbox.arrived(step.id, provider_id, callback)
            case CallbackKind.OTHER:
                log.info("callback.ignored", account_id=step.id)

    @served_step(account_steps.ACCOUNT_LOOK, Queue.NETWORK)
    async def look(self, step: Step) -> NextStep:
        """Ask the provider how the account stands."""
        try:
            await self._look(step)
        except NetworkError as error:
            log.info("account.not_looked", account_id=step.id, code=error.code)
            await self._database.run(lambda session: account_steps.not_looked(session, step.id, step.number))
        return await self.next(step)

    async def _look(self, step: Step) -> bool:
        """Ask how the account stands, and take it over; whether it works."""
        provider_id = await self._provider_id(step)
        if provider_id is None:
            return False
        known = await self._network.account(provider_id)
        standing = None if known is None else AccountStanding(known.standing.value)
        if standing in (AccountStanding.SUSPENDED, AccountStanding.UNKNOWN):
            log.error("account.needs_operator", account_id=step.id, standing=standing)
        await self._database.run(lambda session: account_steps.looked(session, step.id, provider_id, standing))
        return standing is AccountStanding.READY

    async def _noted(self, step: Step, error: AccountTrouble) -> None:
        provider_id = await self._provider_id(step)
        standing = STANDING_OF[error.trouble]
        if provider_id is not None:
            await self._database.run(lambda session: account_steps.looked(session, step.id, provider_id, standing))

    @served_step(account_steps.ACCOUNT_READ_CHATS, Queue.NETWORK)
    async def read_chats(self, step: Step) -> NextStep:
        """Find what no callback announced: how the account stands, and messages."""
        read = None
        try:
            ask = await self._database.run(lambda session: account_steps.chats_to_read(session, step.id, step.number))
            if ask is not None and await self._look(step):
                since = None if ask.read_until is None else ask.read_until - OVERLAP
                await self._inbox.read_chats(step.id, ask.provider_id, since)
                read = ask
        except AccountTrouble as error:
            await self._noted(step, error)
        except NetworkError as error:
            log.info("account.chats_not_read", account_id=step.id, code=error.code)
        await self._database.run(
            lambda session: account_steps.polled_chats(session, step.id, read=read, every=self._chats_every)
        )
        return await self.next(step)

    @served_step(account_steps.ACCOUNT_READ_INVITES, Queue.NETWORK)
    async def read_invites(self, step: Step) -> NextStep:
        """Find invites that were answered without a callback."""
        provider_id = await self._provider_id(step)
        try:
            if provider_id is not None:
                await self._inbox.read_invites(step.id, provider_id)
        except AccountTrouble as error:
            await self._noted(step, error)
        except NetworkError as error:
            log.info("account.invites_not_read", account_id=step.id, code=error.code)
        await self._database.run(lambda session: account_steps.polled_invites(session, step.id))
        return await self.next(step)

    @served_step(account_steps.ACCOUNT_DELETE, Queue.NETWORK)
    async def delete(self, step: Step) -> NextStep:
        """Disconnect a removed account at the provider."""
        provider_id = await self._provider_id(step)
        done = True
        try:
            if provider_id is not None:
                await self._network.delete_account(provider_id)
        except NetworkError as error:
            log.warning("account.not_deleted", account_id=step.id, code=error.code)
            done = False
        await self._database.run(lambda session: account_steps.deleted(session, step.id, step.number, done=done))
        return await self.next(step)

    async def _provider_id(self, step: Step) -> str | None:
        return await self._database.run(lambda session: account_steps.provider_id(session, step.id, step.number))

    def _sign_in(self) -> SignIn:
        return SignIn(self._database, self._vault, self._network, public_url=self._public_url)
