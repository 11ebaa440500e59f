"""Sending mail: the port, and the SMTP adapter behind it."""

import ipaddress
from datetime import UTC, datetime
from email.errors import MessageError
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime
from typing import Protocol
from urllib.parse import unquote, urlsplit

import aiosmtplib

from models.operate import traces

TIMEOUT_SECONDS = 20.0
PORTS = {"smtp": 25, "smtps": 465}


class MailRefused(Exception):
    """The mail server refused the mail or was not reached; the reason names no address and quotes no server."""


class Mailer(Protocol):
    """Sends plain text mail, one recipient at a time."""

    async def send(self, to: str, subject: str, text: str, *, message_id: str) -> None:
        """Send one mail. A repetition with the same `message_id` lets the receiving side drop the second copy.

        Raises:
            MailRefused: the mail may be tried again later.
        """
        ...


class SmtpMailer:
    """Mail over SMTP to `smtp://` or `smtps://[user:password@]host[:port]`, encrypted whenever the server offers it.

    A password is never sent unencrypted, except to this machine itself.
    """

    def __init__(self, url: str, *, sender: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in PORTS or not parts.hostname:
            raise ValueError("the SMTP URL is smtp://host:port or smtps://host:port")
        self._host = parts.hostname
        self._port = parts.port or PORTS[parts.scheme]
        self._tls_from_the_start = parts.scheme == "smtps"
        self._user = unquote(parts.username) if parts.username else None
        self._password = unquote(parts.password) if parts.password else None
        self._sender = Address(addr_spec=sender)

    async def send(self, to: str, subject: str, text: str, *, message_id: str) -> None:
        """Send one mail over its own connection."""
        try:
            with traces.upstream("smtp", "send"):
                async with self._connection() as server:
                    await server.send_message(self._message(to, subject, text, message_id=message_id))
        except aiosmtplib.SMTPResponseException as error:
            raise MailRefused(f"{type(error).__name__} {error.code}") from None
        except (aiosmtplib.SMTPException, OSError, ValueError, IndexError, MessageError) as error:
            # The last three mean an address or subject that no mail can carry; which one depends on Python's version.
            raise MailRefused(type(error).__name__) from None

    def _connection(self) -> aiosmtplib.SMTP:
        must_encrypt = self._password is not None and not _is_this_machine(self._host)
        return aiosmtplib.SMTP(
            hostname=self._host,
            port=self._port,
            username=self._user,
            password=self._password,
            use_tls=self._tls_from_the_start,
            start_tls=False if self._tls_from_the_start else (True if must_encrypt else None),
            timeout=TIMEOUT_SECONDS,
        )

    def _message(self, to: str, subject: str, text: str, *, message_id: str) -> EmailMessage:
        message = EmailMessage()
        message["From"] = self._sender
        message["To"] = Address(addr_spec=to)
        message["Subject"] = subject
        message["Date"] = format_datetime(datetime.now(UTC))
        message["Message-ID"] = f"<{message_id}@{self._sender.domain}>"
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(text)
        return message


def _is_this_machine(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
