"""Sending queued mails, and reading the metadata documents of OAuth clients."""

import structlog

from activities.steps import steps
from activities.upstream.guard import FetchedDocument, Guard
from activities.upstream.mail import Mailer, MailRefused
from models.access.rules import signup
from models.access.rules.oauth import MAX_DOCUMENT, ClientMetadata, RefusedClient, read_document
from models.access.rules.signup import MailKind
from models.access.store import mails, oauth
from models.base.database import Database
from models.base.secrets import Vault
from models.base.steps import Call, Do, NextStep, Queue, Step, served_step

WRITE = {MailKind.VERIFICATION: signup.verification_mail, MailKind.SIGN_IN: signup.sign_in_mail}

log = structlog.get_logger(__name__)

MAIL_SEND = "mail.send"
CLIENT_READ = "client.read"


@steps
class MailSteps:
    """The steps of a mail: when it is due, and one attempt to send it."""

    def __init__(self, database: Database, vault: Vault, mailer: Mailer, *, public_url: str) -> None:
        self._database = database
        self._vault = vault
        self._mailer = mailer
        self._public_url = public_url

    @served_step("mail.next")
    async def next(self, step: Step) -> NextStep:
        """Return whether the mail is sent now, later or no more."""
        state = await self._database.run(lambda session: mails.decide_mail(session, step.id))
        if state.over:
            return NextStep(do=Do.DONE)
        if state.due:
            summary = f"attempt {state.attempts + 1}"
            return NextStep(do=Do.ACT, call=Call(step=MAIL_SEND, queue=Queue.MAIL, summary=summary))
        until = state.wake_at or state.now
        return NextStep(
            do=Do.WAIT,
            wait_seconds=(until - state.now).total_seconds(),
            reason=f"attempt {state.attempts + 1} at {until:%d %b %H:%M:%S} UTC",
        )

    @served_step(MAIL_SEND, Queue.MAIL)
    async def send(self, step: Step) -> NextStep:
        """Send the mail once and write the outcome."""
        async with self._database.transaction() as session:
            content = await mails.mail_content(session, step.id)
        if content is not None:
            sent = await self._send(content)
            await self._database.run(lambda session: mails.note_mail_attempt(session, step.id, sent=sent))
        return await self.next(step)

    async def _send(self, content: mails.MailContent) -> bool:
        mail = WRITE[content.kind](
            public_url=self._public_url,
            token=self._vault.open(mails.SECRET_PURPOSE, content.sealed_secret).decode(),
            first_name=content.first_name,
            workspace_name=content.workspace_name,
        )
        try:
            await self._mailer.send(content.email, mail.subject, mail.text, message_id=content.id)
        except MailRefused as error:
            log.warning("mail.not_sent", mail_id=content.id, reason=type(error).__name__)
            return False
        return True


HEADERS = {"Accept": "application/json", "User-Agent": "sourcing-and-outreach-oauth/1"}
LIMIT_SECONDS = 15
"""Limit of a read with its two transactions; after that its worker counts as dead and the document is read again."""
OK = 200


@steps
class ClientSteps:
    """The steps of a client's metadata document, whose address a stranger chose."""

    def __init__(self, database: Database, guard: Guard) -> None:
        self._database = database
        self._guard = guard

    @served_step("client.next")
    async def next(self, step: Step) -> NextStep:
        """Return whether the document is to be read."""
        wanted = await self._database.run(lambda session: oauth.next_document(session, step.id))
        if wanted.url is None:
            return NextStep(do=Do.DONE)
        call = Call(
            step=CLIENT_READ,
            queue=Queue.WEBHOOKS,
            summary="reads the client's description",
            limit_seconds=LIMIT_SECONDS,
            fairness_key=step.id,
        )
        return NextStep(do=Do.ACT, call=call)

    @served_step(CLIENT_READ, Queue.WEBHOOKS)
    async def read(self, step: Step) -> NextStep:
        """Read the document once and write the metadata, or why it was refused."""
        wanted = await self._database.run(lambda session: oauth.next_document(session, step.id))
        if wanted.url is not None:
            answer = await self._guard.get(wanted.url, HEADERS, most=MAX_DOCUMENT)
            found = _understood(answer, wanted.url)
            await self._database.run(lambda session: oauth.note_document(session, step.id, found))
        return await self.next(step)


def _understood(answer: FetchedDocument, client_id: str) -> ClientMetadata | str:
    """Return the client's metadata, or why its document is refused."""
    if answer.error is not None:
        return f"Its metadata document cannot be read ({answer.error})."
    if answer.status_code != OK:
        return f"Its metadata document was answered with status {answer.status_code}."
    if answer.media_type != "application/json" and not answer.media_type.endswith("+json"):
        return "Its metadata document is not application/json."
    try:
        return read_document(answer.body, client_id=client_id)
    except RefusedClient as error:
        return str(error)
