"""The texts of the mails that the service sends."""

from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True, slots=True)
class MailText:
    """A plain-text mail without its addresses."""

    subject: str
    text: str


def verification(*, public_url: str, token: str, first_name: str | None, workspace_name: str) -> MailText:
    """The confirmation of an address. `token` is in the link; opening the link confirms nothing by itself."""
    greeting = f"Hello {first_name}," if first_name else "Hello,"
    link = f"{public_url.rstrip('/')}/verify?{urlencode({'token': token})}"
    return MailText(
        subject="Confirm your e-mail address",
        text=(
            f"{greeting}\n\n"
            f'somebody signed up for the workspace "{workspace_name}" with this address. If it was you, open\n\n'
            f"{link}\n\n"
            "and press the button. The link works for 48 hours and once; your free credits are added with it.\n\n"
            "If it was not you, do nothing: without the confirmation the address is released again.\n"
        ),
    )


def sign_in(*, public_url: str, token: str, first_name: str | None, workspace_name: str) -> MailText:
    """The link by which somebody signs in. What the application calls itself is left out: anybody may claim a name."""
    greeting = f"Hello {first_name}," if first_name else "Hello,"
    link = f"{public_url.rstrip('/')}/authorize/link?{urlencode({'token': token})}"
    return MailText(
        subject="Your link to sign in",
        text=(
            f"{greeting}\n\n"
            f'an application asks to be connected to the workspace "{workspace_name}". To see what it asks, open\n\n'
            f"{link}\n\n"
            "in the browser in which you began. The link works for 15 minutes and once, and nothing is connected before"
            " you allow it there.\n\n"
            "If it was not you, do nothing, and give the link to nobody.\n"
        ),
    )
