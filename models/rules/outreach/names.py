"""First names: what to call somebody in a message, out of what they wrote (contract, section 7)."""


def greeting_name(first_name: str | None, full_name: str | None) -> str | None:
    """The name for `{{first_name}}`; null when it is unknown or nothing but a letter."""
    raise NotImplementedError
