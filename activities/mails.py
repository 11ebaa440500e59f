"""Sending the mails that operations queued."""

import structlog
from temporalio import activity

from activities.upstream.mail import Mailer, MailRefused
from models.database import Database
from models.rules import mails as texts
from models.secrets import Vault
from models.stores import mails
from workflows import names
from workflows.contracts import Call, Do, NextStep, Queue, Step

log = structlog.get_logger(__name__)


class MailSteps:
    """What a mail asks of the database and of the mail server."""

    def __init__(self, database: Database, vault: Vault, mailer: Mailer, *, public_url: str) -> None:
        self._database = database
        self._vault = vault
        self._mailer = mailer
        self._public_url = public_url

    @activity.defn(name=names.MAIL_NEXT)
    async def next(self, step: Step) -> NextStep:
        """Say whether the mail is to be sent now, later or no more."""
        state = await self._database.run(lambda session: mails.next_attempt(session, step.id))
        if state.over:
            return NextStep(do=Do.DONE)
        if state.due:
            summary = f"attempt {state.attempts + 1}"
            return NextStep(do=Do.ACT, call=Call(step=names.MAIL_SEND, queue=Queue.MAIL, summary=summary))
        until = state.wake_at or state.now
        return NextStep(
            do=Do.WAIT,
            wait_seconds=(until - state.now).total_seconds(),
            reason=f"attempt {state.attempts + 1} at {until:%d %b %H:%M:%S} UTC",
        )

    @activity.defn(name=names.MAIL_SEND)
    async def send(self, step: Step) -> NextStep:
        """Send the mail once and write the outcome."""
        async with self._database.transaction() as session:
            letter = await mails.letter(session, step.id)
        if letter is not None:
            sent = await self._send(letter)
            await self._database.run(lambda session: mails.note_attempt(session, step.id, sent=sent))
        return await self.next(step)

    async def _send(self, letter: mails.Letter) -> bool:
        write = {mails.VERIFICATION: texts.verification, mails.SIGN_IN: texts.sign_in}[letter.kind]
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
