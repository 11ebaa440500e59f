"""What a tenant may note about a person (contract, section 5 "Registers")."""

from enum import StrEnum

MAX_TAGS = 20


class SeenStatus(StrEnum):
    """How far somebody is. Whether they were contacted is a fact apart from it."""

    SEEN = "seen"
    SHORTLISTED = "shortlisted"
    REJECTED = "rejected"
    CONTACTED = "contacted"
    REPLIED = "replied"
    INTERESTED = "interested"
    NOT_INTERESTED = "not_interested"
    HIRED = "hired"
