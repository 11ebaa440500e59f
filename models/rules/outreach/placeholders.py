"""Placeholders: what may stand between double braces in a note or message (specification, "Sequence")."""

import re
from collections.abc import Mapping
from enum import StrEnum

_BRACES = re.compile(r"\{\{((?:(?!\{\{|\}\}).)*+)\}\}", re.DOTALL)  # never over another pair: linear in the text
_LOOSE = re.compile(r"\{\{|\}\}")


class Placeholder(StrEnum):
    """What a text is filled in with; blanks inside the braces do not matter, letter case does."""

    FIRST_NAME = "first_name"
    COMPANY = "company"
    PRIVACY_NOTICE = "privacy_notice"


def placeholders_of(text: str) -> frozenset[Placeholder]:
    """The known placeholders a text has."""
    return frozenset(Placeholder(name) for name in map(str.strip, _BRACES.findall(text)) if name in set(Placeholder))


def unknown_placeholders(text: str) -> list[str]:
    """What stands in double braces and means nothing, in order: `{{name}}`, and braces without their partner."""
    unknown = [f"{{{{{name}}}}}" for name in _BRACES.findall(text) if name.strip() not in set(Placeholder)]
    return unknown + _LOOSE.findall(_BRACES.sub("", text))


def fill(text: str, values: Mapping[Placeholder, str]) -> str:
    """The text with its placeholders replaced by their values, which are not looked into again.

    Raises:
        ValueError: an unknown placeholder, which saving refuses.
        KeyError: a placeholder without a value.
    """
    return _BRACES.sub(lambda found: values[Placeholder(found[1].strip())], text)
