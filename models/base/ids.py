"""Ids: a prefix, `_` and 26 characters of lower-case base32, sortable by time (contract, section 1)."""

import re
import secrets
from datetime import datetime

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH = 26
_RANDOM_BITS = 74


def new_id(prefix: str, at: datetime) -> str:
    """A fresh id of that prefix, sorting after every id made at an earlier millisecond.

    The 26 characters are a UUIDv7 in Crockford's base32: 48 bits of milliseconds, version and variant, 74 random bits.
    """
    milliseconds = int(at.timestamp() * 1000)
    noise = secrets.randbits(_RANDOM_BITS)
    value = (milliseconds << 80) | (7 << 76) | ((noise >> 62) << 64) | (0b10 << 62) | (noise & ((1 << 62) - 1))
    return f"{prefix}_{encode(value)}"


def encode(value: int) -> str:
    """128 bits as 26 characters."""
    return "".join(ALPHABET[(value >> (5 * place)) & 31] for place in reversed(range(LENGTH)))


def decode(text: str) -> int:
    """What `encode` was given. Raises `ValueError` for other characters."""
    value = 0
    for character in text:
        value = value << 5 | ALPHABET.index(character)
    return value


def pattern(prefix: str) -> str:
    """A regular expression for ids of that prefix."""
    return rf"^{re.escape(prefix)}_[{ALPHABET}]{{{LENGTH}}}$"
