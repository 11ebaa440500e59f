"""Mail by SMTP against a real server on loopback: taken, refused or out of reach, and never telling whom."""

import asyncio
from collections.abc import AsyncIterator
from email import message_from_bytes, policy
from email.message import EmailMessage

import pytest
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

from activities.upstream.mail import MailRefused, SmtpMailer

SENDER = "no-reply@service.example"
TO = "jo.voorbeeld@customer.example"


class Postbox:
    """Keeps received mails; refuses recipients that do not exist."""

    def __init__(self) -> None:
        self.received: list[EmailMessage] = []
        self.users: list[str] = []

    async def handle_RCPT(  # noqa: N802 - the name that aiosmtpd calls
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        del server, session, options
        if address.startswith("nobody"):
            return f"550 5.1.1 {address} is unknown here"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 - as above
        del server, session
        assert isinstance(envelope.content, bytes)
        message = message_from_bytes(envelope.content, policy=policy.default)
        self.received.append(message)
        return "250 OK"

    def login(self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: object) -> AuthResult:
        del server, session, envelope, mechanism
        assert isinstance(data, LoginPassword)
        self.users.append(data.login.decode())
        return AuthResult(success=data.password == b"p@ss/word", handled=False)


@pytest.fixture
def postbox() -> Postbox:
    return Postbox()


@pytest.fixture
async def server(postbox: Postbox) -> AsyncIterator[str]:
    loop = asyncio.get_running_loop()

    def session() -> SMTP:
        return SMTP(postbox, hostname="mail.example", authenticator=postbox.login, auth_require_tls=False, loop=loop)

    serving = await loop.create_server(session, "127.0.0.1", 0)
    host, port = serving.sockets[0].getsockname()
    yield f"{host}:{port}"
    serving.close()
    await serving.wait_closed()


async def test_a_mail_arrives_as_written(server: str, postbox: Postbox) -> None:
    await SmtpMailer(f"smtp://{server}", sender=SENDER).send(
        TO, "Bestätigen Sie", "Grüße,\nhttps://service.example/verify?token=abc\n", message_id="mail_1"
    )
    (message,) = postbox.received
    assert (message["From"], message["To"], message["Subject"]) == (SENDER, TO, "Bestätigen Sie")
    assert message["Message-ID"] == "<mail_1@service.example>"
    assert message["Date"]
    assert message.get_content().replace("\r\n", "\n") == "Grüße,\nhttps://service.example/verify?token=abc\n"


async def test_a_password_is_taken_from_the_url(server: str, postbox: Postbox) -> None:
    await SmtpMailer(f"smtp://us%40er:p%40ss%2Fword@{server}", sender=SENDER).send(TO, "s", "t", message_id="m")
    assert postbox.users == ["us@er"]
    with pytest.raises(MailRefused, match="SMTPAuthenticationError 535"):
        await SmtpMailer(f"smtp://us%40er:wrong@{server}", sender=SENDER).send(TO, "s", "t", message_id="m")


@pytest.mark.parametrize(
    ("to", "subject"),
    [
        ("nobody@customer.example", "s"),
        (f"{TO}, other@customer.example", "s"),
        (f"{TO}\r\nBcc: other@customer.example", "s"),
        ("jo.voorbeeld", "s"),
        ("", "s"),
        (TO, "s\r\nBcc: other@customer.example"),
    ],
)
async def test_undeliverable_mail_is_refused_without_naming_a_person(
    to: str, subject: str, server: str, postbox: Postbox
) -> None:
    with pytest.raises(MailRefused) as refused:
        await SmtpMailer(f"smtp://{server}", sender=SENDER).send(to, subject, "text", message_id="m")
    assert postbox.received == []
    assert refused.value.__cause__ is None
    assert "example" not in str(refused.value)


async def test_a_server_out_of_reach_is_a_refusal(unused_tcp_port: int) -> None:
    with pytest.raises(MailRefused):
        await SmtpMailer(f"smtp://127.0.0.1:{unused_tcp_port}", sender=SENDER).send(TO, "s", "t", message_id="m")


async def test_a_password_is_not_sent_in_the_clear(
    server: str, postbox: Postbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.upstream.mail._is_this_machine", lambda _: False)
    with pytest.raises(MailRefused):
        await SmtpMailer(f"smtp://user:p%40ss%2Fword@{server}", sender=SENDER).send(TO, "s", "t", message_id="m")
    assert postbox.users == []


@pytest.mark.parametrize("url", ["http://mail.example", "mail.example:25", "smtp://", ""])
def test_a_url_that_is_none_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="smtp://"):
        SmtpMailer(url, sender=SENDER)
