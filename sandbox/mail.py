"""Receives mail over SMTP and stores it for the control API."""

import asyncio
import json
import re
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from html.parser import HTMLParser
from typing import Any

from aiosmtpd.smtp import SMTP, Envelope, Session

from sandbox.clock import Clock, rfc3339
from sandbox.state import State

_LINK = re.compile(r"https?://[^\s<>\"']+")
_MOST_BYTES = 10_000_000
_READY = "250 OK"


class _Anchors(HTMLParser):
    """Collects the targets of links."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.targets.extend(value for name, value in attrs if name == "href" and value)


def _part(message: EmailMessage, kind: str) -> str:
    part = message.get_body(preferencelist=(kind,))
    return "" if part is None else str(part.get_content())


def links_of(text: str, html: str) -> list[str]:
    """Return every web address of a mail once, those in the text first."""
    anchors = _Anchors()
    anchors.feed(html)
    found = [link.rstrip(".,;:!?)]") for link in _LINK.findall(text)]
    return list(dict.fromkeys([*found, *(target for target in anchors.targets if _LINK.match(target))]))


@dataclass(frozen=True, slots=True)
class MailBox:
    """All mails received, oldest first."""

    state: State
    clock: Clock

    def keep(self, envelope: Envelope) -> None:
        """Read and store one mail."""
        content = envelope.content or b""
        raw = content if isinstance(content, bytes) else content.encode()
        message = message_from_bytes(raw, policy=policy.default)
        text, html = _part(message, "plain"), _part(message, "html")
        body = {
            "at": rfc3339(self.clock.now()),
            "from": envelope.mail_from,
            "to": list(envelope.rcpt_tos),
            "subject": str(message.get("subject", "")),
            "text": text,
            "html": html or None,
            "links": links_of(text, html),
            "headers": {name.lower(): str(value) for name, value in message.items()},
        }
        self.state.database.execute("insert into mails (body) values (?)", (json.dumps(body),))

    def all(self, *, recipient: str | None = None) -> list[dict[str, Any]]:
        """Return all mails, or those of one recipient."""
        rows = self.state.database.execute("select id, body from mails order by id").fetchall()
        mails = [{"id": number} | json.loads(body) for number, body in rows]
        return [mail for mail in mails if recipient is None or recipient in mail["to"]]

    def clear(self) -> int:
        """Delete all mails and return their number."""
        return self.state.database.execute("delete from mails").rowcount


class _Reception:
    """The SMTP server's handler for each mail."""

    def __init__(self, box: MailBox) -> None:
        self._box = box

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802 - aiosmtpd looks for this name
        self._box.keep(envelope)
        return _READY


async def receive_mail(box: MailBox, *, host: str, port: int) -> asyncio.Server:
    """Listen for mail in the running event loop; the caller closes the server."""
    reception = _Reception(box)

    def protocol() -> SMTP:
        return SMTP(
            reception,
            hostname="sandbox.example",
            ident="sandbox",
            data_size_limit=_MOST_BYTES,
            enable_SMTPUTF8=True,
        )

    return await asyncio.get_running_loop().create_server(protocol, host=host, port=port)
