"""Refusals in the words of OAuth (RFC 6749, sections 4.1.2.1 and 5.2; RFC 7591; RFC 8707)."""


class Refused(Exception):
    """An OAuth error. `status` is that of JSON answers; on the way back to a client it is a redirect."""

    def __init__(self, code: str, description: str, *, status: int = 400) -> None:
        super().__init__(code)
        self.code = code
        self.description = description
        self.status = status


def invalid_client() -> Refused:
    """The client is not known, or does not prove who it is."""
    return Refused("invalid_client", "The client is unknown, or its secret is wrong.", status=401)


def invalid_grant() -> Refused:
    """One answer for codes and tokens that are unknown, used, expired, or another client's."""
    return Refused("invalid_grant", "This is unknown, was used, has expired, or is another client's.")
