"""Contact details: which kinds there are, what becomes of each asked for, and how long they are free to read again."""

from datetime import timedelta
from enum import StrEnum

KEPT = timedelta(days=365)
"""A repeat within so long is free (contract, section 5 "Raw layer")."""


class ContactKind(StrEnum):
    """What can be asked for."""

    EMAIL = "email"
    PHONE = "phone"


class ContactStatus(StrEnum):
    """What became of one person and kind. Only `found` costs."""

    FOUND = "found"
    NOT_FOUND = "not_found"
    SUPPRESSED = "suppressed"
    ERROR = "error"
