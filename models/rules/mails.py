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
