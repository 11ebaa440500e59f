"""Company names as one says them in a message: without the legal form (contract, section 7)."""


def spoken_company(name: str | None) -> str | None:
    """The name for `{{company}}`; null when it is unknown. Only for the text: nothing is stored so."""
    raise NotImplementedError
