"""Sending the mails that operations queued."""

import structlog
from temporalio import activity

from activities.upstream.guard import FetchedDocument, Guard
from activities.upstream.mail import Mailer, MailRefused
from models.access.rules import signup
from models.access.rules.oauth import MAX_DOCUMENT, ClientMetadata, RefusedClient, read_document
from models.access.store import mails, oauth
from models.base.database import Database
from models.base.secrets import Vault
from models.base.steps import Call, Do, NextStep, Queue, Step

log = structlog.get_logger(__name__)

MAIL_SEND = "mail.send"
CLIENT_READ = "client.read"


class MailSteps:
    """What a mail asks of the database and of the mail server."""

    def __init__(self, database: Database, vault: Vault, mailer: Mailer, *, public_url: str) -> None:
        self._database = database
        self._vault = vault
        self._mailer = mailer
        self._public_url = public_url

    @activity.defn(name="mail.next")
    async def next(self, step: Step) -> NextStep:
        """Say whether the mail is to be sent now, later or no more."""
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

    @activity.defn(name=MAIL_SEND)
    async def send(self, step: Step) -> NextStep:
        """Send the mail once and write the outcome."""
        async with self._database.transaction() as session:
            letter = await mails.mail_content(session, step.id)
        if letter is not None:
            sent = await self._send(letter)
            await self._database.run(lambda session: mails.note_mail_attempt(session, step.id, sent=sent))
        return await self.next(step)

    async def _send(self, letter: mails.MailContent) -> bool:
        write = {mails.VERIFICATION: signup.verification_mail, mails.SIGN_IN: signup.sign_in_mail}[letter.kind]
        mail = write(
            public_url=self._public_url,
            token=self._vault.open(mails.SECRET_PURPOSE, letter.sealed_secret).decode(),
            first_name=letter.first_name,
            workspace_name=letter.workspace_name,
        )
        try:
            await self._mailer.send(letter.email, mail.subject, mail.text, message_id=letter.id)
        except MailRefused as error:
            log.warning("mail.not_sent", mail_id=letter.id, reason=type(error).__name__)
            return False
        return True


# Reading the metadata documents by which OAuth clients describe themselves, at addresses that strangers chose.


HEADERS = {"Accept": "application/json", "User-Agent": "sourcing-and-outreach-oauth/1"}
LIMIT_SECONDS = 15
"""For a read with its two transactions; after that its worker counts as dead and it is read again."""
OK = 200


class ClientSteps:
    """What a client's document asks of the database and of the client. Without a `guard` nothing is read."""

    def __init__(self, database: Database, guard: Guard | None) -> None:
        self._database = database
        self._guard = guard

    @activity.defn(name="client.next")
    async def next(self, step: Step) -> NextStep:
        """Say whether somebody waits for the document."""
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

    @activity.defn(name=CLIENT_READ)
    async def read(self, step: Step) -> NextStep:
        """Read the document once and write what it says."""
        if self._guard is None:
            raise RuntimeError("this worker serves no webhooks queue")
        wanted = await self._database.run(lambda session: oauth.next_document(session, step.id))
        if wanted.url is not None:
            answer = await self._guard.get(wanted.url, HEADERS, most=MAX_DOCUMENT)
            found = _understood(answer, wanted.url)
            await self._database.run(lambda session: oauth.note_document(session, step.id, found))
        return await self.next(step)


def _understood(answer: FetchedDocument, client_id: str) -> ClientMetadata | str:
    """The client, or why its document cannot be taken."""
    if answer.error is not None:
        return f"Its metadata document cannot be read ({answer.error})."
    if answer.status_code != OK:
        return f"Its metadata document is answered with status {answer.status_code}."
    if answer.media_type != "application/json" and not answer.media_type.endswith("+json"):
        return "Its metadata document is not application/json."
    try:
        return read_document(answer.body, client_id=client_id)
    except RefusedClient as error:
        return str(error)
